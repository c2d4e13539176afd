"""`scatterproof appliance`: a publish/subscribe appliance, from the command line."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from scatterproof.app import command_group
from scatterproof.commands.pubsub import provisioning
from scatterproof.commands.pubsub.appliance_options import (
    AllPaths,
    Conflate,
    Entitlements,
    HighMark,
    ImageFile,
    KeepAlive,
    ListenNeighbours,
    LowMark,
    Management,
    MaxPayload,
    Neighbours,
    OneIn,
    RingSlots,
    Room,
    Standby,
    Statistics,
    StoreFile,
    Trust,
    Urgent,
)
from scatterproof.console import err, out, print_json, print_table
from scatterproof.impl.pubsub.channels.queue import Marks
from scatterproof.impl.pubsub.running.provisioning import Managed
from scatterproof.impl.pubsub.running.server import Address, Server, Settings
from scatterproof.impl.pubsub.running.store import Store, StoreTaken
from scatterproof.impl.pubsub.running.table import Treatment
from scatterproof.impl.pubsub.translation.names import NATIVE
from scatterproof.impl.pubsub.translation.nats_codec import MAX_PAYLOAD
from scatterproof.options import Json
from scatterproof.spec.errors import BadInput

app = command_group(
    "Run a publish/subscribe appliance: clients of MQTT 3.1.1 and of NATS connect to it, and get each other's"
    " messages, also by way of other appliances."
    "\n\nAlone, with both protocols, and what durable sessions wait for in a file:"
    "\n\n    scatterproof appliance run --listen-mqtt 127.0.0.1:1883 --listen-nats 127.0.0.1:4222 --store a.sqlite"
    "\n\nTwo of them, joined:"
    "\n\n    scatterproof appliance run --id a --listen-mqtt 127.0.0.1:1883 --listen-neighbours 127.0.0.1:7001"
    "\n\n    scatterproof appliance run --id b --listen-nats 127.0.0.1:4222 --neighbour 127.0.0.1:7001"
    "\n\nA pair: a second one that takes over when the first is gone, on the same file; neighbours name both:"
    "\n\n    scatterproof appliance run --id a --listen-mqtt 127.0.0.1:1884 --store a.sqlite --standby"
    "\n\nA topic sensors/7/heat of MQTT is sensors.7.heat in NATS.",
)
_LOOK_AGAIN_S = 0.1
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
MARKS = Marks()


def _address(text: str | None, option: str) -> Address | None:
    if text is None:
        return None
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdigit() or int(port) > 65_535:
        raise BadInput(f"{option} {text}: give an address and a port, such as 127.0.0.1:1883; port 0 is any free one")
    return host.strip("[]"), int(port)


def _managed(
    management: list[str], trust: Path | None, image: Path | None, entitlements: Path | None
) -> Managed | None:
    if not management and trust is image is None:
        return None
    if not management or trust is None:
        raise BadInput("give --management, and with --trust the key that its node signs with: FILE.pub of `key FILE`")
    if entitlements is not None:
        raise BadInput("entitlements come from --management or from a file with --entitlements, not from both")
    return Managed(tuple(one for each in management for one in _addresses(each, "--management")), trust, image)


app.command()(provisioning.key)


@app.command()
def provision(
    listen: Annotated[str, typer.Option(help="Address and port for appliances.")],
    key: Annotated[Path, typer.Option(help="File of the key that signs, as `key` makes it.")],
    configuration: Annotated[Path, typer.Option(help="TOML file of who may do what, with an id.")],
    image: Annotated[Path | None, typer.Option(help="File that appliances with --image are given.")] = None,
) -> None:
    """Run a management node: give appliances their configuration, and an image, each signed.

    An appliance says what it has; what has the same id is not transferred. At SIGHUP the files are read again, and what
    has another id then goes to all that are connected. Give each configuration an id of its own.

    Exit codes: 0 it was stopped; 2 wrong usage; 3 the port is taken.
    """
    (address,) = _addresses(listen.replace(",", " "), "--listen")
    provisioning.provision(address, key, configuration, image, _say)


def _addresses(text: str, option: str) -> tuple[Address, ...]:
    return tuple(one for each in text.split(",") if (one := _address(each, option)) is not None)


@app.command()
def run(
    name: Annotated[
        str, typer.Option("--id", help="Name of this appliance; each in a network has another.")
    ] = socket.gethostname(),
    listen_mqtt: Annotated[str | None, typer.Option(help="Address and port for clients of MQTT 3.1.1.")] = None,
    listen_nats: Annotated[str | None, typer.Option(help="Address and port for clients of NATS.")] = None,
    listen_neighbours: ListenNeighbours = None,
    neighbour: Neighbours = None,
    all_paths: AllPaths = False,
    keep_alive: KeepAlive = 10.0,
    store: StoreFile = None,
    standby: Standby = False,
    entitlements: Entitlements = None,
    management: Management = None,
    trust: Trust = None,
    image: ImageFile = None,
    max_payload: MaxPayload = MAX_PAYLOAD,
    room: Room = MARKS.room,
    high_mark: HighMark = MARKS.high,
    low_mark: LowMark = MARKS.low,
    one_in: OneIn = MARKS.one_in,
    ring: RingSlots = MARKS.slots,
    conflate: Conflate = None,
    urgent: Urgent = None,
    statistics: Statistics = 0.0,
) -> None:
    """Run one appliance until Ctrl-C or SIGTERM.

    Clients: MQTT 3.1.1 with levels 0 to 2, wills, retained messages, durable sessions, and shared subscriptions as
    $share/GROUP/FILTER; NATS without headers, with queue groups. With --store, what was acknowledged to an MQTT client
    survives kill -9 and, as it is synced, a power failure: subscriptions of durable sessions, what waits in them,
    retained messages, and what is on its way to neighbours.

    Appliances are joined as a tree: one end of each link names the other with --neighbour, which is dialled until
    it is there. A link that would close a ring is refused, and both say so, unless all of them have --all-paths.

    Who does not take what is sent, beyond --room, is slow: best effort waits, and is thinned out or conflated from
    --high-mark until below --low-mark. It is counted, and said at the end, or with --statistics on the way.

    Names of users are taken as given: listen on loopback. With --store the last known --entitlements hold.

    Exit codes: 0 it was stopped; 2 wrong usage; 3 a port is taken, or the store cannot be used.
    """
    settings = Settings(
        name=name,
        mqtt=_address(listen_mqtt, "--listen-mqtt"),
        nats=_address(listen_nats, "--listen-nats"),
        native=_address(listen_neighbours, "--listen-neighbours"),
        neighbours=tuple(_addresses(each, "--neighbour") for each in neighbour or ()),
        store=store,
        configuration=entitlements,
        managed=_managed(management or [], trust, image, entitlements),
        max_payload=max_payload,
        marks=Marks(high=high_mark, low=low_mark, one_in=one_in, slots=ring, room=room),
        statistics_s=statistics,
        all_paths=all_paths,
        keep_alive_s=keep_alive,
        treatment=Treatment(urgent=tuple(urgent or ()), conflated=tuple(conflate or ())),
    )
    _run(settings, standby=standby)


def _run(settings: Settings, *, standby: bool) -> None:
    if not _NAME.fullmatch(settings.name):
        raise BadInput(f"--id {settings.name!r}: give up to 64 letters, digits, dots, dashes or underscores")
    marks = settings.marks
    for option, seconds in (("--statistics", settings.statistics_s), ("--keep-alive", settings.keep_alive_s)):
        if not 0 <= seconds < 1e9:
            raise BadInput(f"{option} {seconds}: give seconds, or 0 for never")
    if not 0 < marks.low < marks.high <= marks.slots or min(marks.one_in, marks.room, settings.max_payload) < 1:
        raise BadInput(
            "give --low-mark of 1 or more, below --high-mark, which is at most --ring; and --one-in, --room and"
            " --max-payload of 1 or more"
        )
    for filter_ in (*settings.treatment.urgent, *settings.treatment.conflated):
        NATIVE.filter(filter_)
    if settings.mqtt is settings.nats is settings.native is None and not settings.neighbours:
        raise BadInput("nobody could reach it; give --listen-mqtt, --listen-nats, --listen-neighbours or --neighbour")
    if standby and settings.store is None:
        raise BadInput("--standby waits for the store of the other one of the pair; give both the same --store")
    server = _taken_over(settings) if standby else Server(settings, _say)

    def ready() -> None:
        for what, (host, port) in server.listening.items():
            _say(f"listens for {what} at {host}:{port}")
        _say("ready")

    asyncio.run(server.run(ready))
    told = ", ".join(f"{what} {count}" for what, count in sorted(server.core.counts.items()))
    _say(f"ended: {told or 'no message came'}")


def _taken_over(settings: Settings) -> Server:
    """The server, once the first of the pair has let go of the store, or was killed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    _say("stands by")
    while True:
        try:
            server = Server(settings, _say)
        except StoreTaken:
            time.sleep(_LOOK_AGAIN_S)
        else:
            _say("takes over")
            return server


def _say(text: str) -> None:
    err.print(text, markup=False, highlight=False, soft_wrap=True)


@app.command()
def inspect(
    store: Annotated[Path, typer.Argument(help="File of the cache engine; no appliance may be running on it.")],
    as_json: Json = False,
) -> None:
    """Show what a store has: durable sessions, what waits in them, retained messages, and neighbours.

    Exit codes: 0 shown; 2 it is no store; 3 an appliance has it open.
    """
    if not store.is_file():
        raise BadInput(f"{store}: there is no such file; `appliance run --store` makes it")
    opened = Store(store)
    try:
        kept = opened.load()
    finally:
        opened.close()
    sessions = [
        {"session": name, "filters": sorted(filter_ for filter_, *_ in one.subscribed), "waiting": len(one.waiting)}
        for name, one in sorted(kept.sessions.items())
    ]
    links = [
        {"neighbour": name, "wants": len(one.wants), "waiting": len(one.unheard)}
        for name, one in sorted(kept.links.items())
    ]
    retained = sorted(message.topic for message in kept.retained if message.payload)
    if as_json:
        print_json({"sessions": sessions, "neighbours": links, "retained": retained, "messages": len(kept.messages)})
        return
    rows = [(str(each["session"]), ", ".join(map(str, each["filters"])), str(each["waiting"])) for each in sessions]  # type: ignore[call-overload]
    print_table("Durable sessions", ("client", "filters, native", "messages that wait"), rows)
    if links:
        print_table(
            "Neighbours",
            ("neighbour", "filters it wants", "messages that wait"),
            [tuple(each.values()) for each in links],
        )
    out.print(f"{len(retained)} retained messages, {len(kept.messages)} stored", highlight=False)
