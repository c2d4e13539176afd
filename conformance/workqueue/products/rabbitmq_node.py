"""RabbitMQ as products: a node of its own on loopback, with classic queues and with quorum queues."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from scatterproof.conformance.adapters.needs import Needs
from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.serving import LOOPBACK, Served, free_ports
from scatterproof.conformance.supervisor import Limits
from scatterproof.conformance.workqueue.products.history import vocabulary
from scatterproof.conformance.workqueue.products.rabbitmq import Driver
from scatterproof.conformance.workqueue.products.rabbitmq_steps import Move, Shape, Step, Steps, drawn
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.trace import Trace

# Debian's program on PATH runs only as root, and changes the user.
PLACE = Path("/usr/lib/rabbitmq/bin")
STOP_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueType:
    """A type of queue.

    name, text: as of a product.
    arguments: of its queues; seeds take them in turn.
    limits: more arguments, of queues with a dead-letter exchange; seeds take them in turn.
    quiet: runs of these shapes avoid the reported mistakes; seeds take them in turn.
    """

    name: str
    text: str
    arguments: tuple[Mapping[str, Any], ...]
    limits: tuple[Mapping[str, Any], ...]
    quiet: tuple[Shape, ...]

    def steps(self, seed: int, quiet: bool) -> Steps:
        return drawn(seed, self.quiet[seed % len(self.quiet)] if quiet else Shape())


CLASSIC = QueueType(
    name="rabbitmq-classic",
    text="classic queues of RabbitMQ, by pika",
    arguments=({}, {"x-queue-version": 2}, {"x-queue-mode": "lazy"}),
    limits=({},),
    # When the active consumer is cancelled, the next one is sent nothing.
    quiet=(Shape(finishes=False),),
)
QUORUM = QueueType(
    name="rabbitmq-quorum",
    text="quorum queues of RabbitMQ with a delivery limit, by pika",
    arguments=({"x-queue-type": "quorum", "x-delivery-limit": 1000},),
    limits=(
        {"x-delivery-limit": 1},
        {"x-delivery-limit": 2, "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish"},
    ),
    # When the active consumer goes, the next one is sent a later message first; and a message that is given back does
    # not return to its place.
    quiet=(Shape(leaves=False, any_order=False),),
)
TYPES = (CLASSIC, QUORUM)


SERVER = Needs(debian=("rabbitmq-server",))
NEEDS = SERVER + Needs(pypi=("pika",))


def why_not() -> str | None:
    lacking = ["rabbitmq-server"] if lacks_server() else []
    lacking += [] if importlib.util.find_spec("pika") else ["pika"]
    return NEEDS.why_not(lacking)


def _program(name: str) -> str | None:
    return str(PLACE / name) if (PLACE / name).is_file() else shutil.which(name)


def lacks_server() -> bool:
    return _program("rabbitmq-server") is None


def version() -> str:
    done = subprocess.run([_program("rabbitmqctl") or "", "version"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def command(port: int, folder: Path, plugins: str = "", settings: str = "") -> list[str]:
    """The command that starts a node with its own files in this folder, and AMQP at this port."""
    between_nodes, names = free_ports(2)
    (folder / "plugins").write_text(f"[{plugins}].\n")
    (folder / "rabbitmq.conf").write_text(f"heartbeat = 0\n{settings}")
    given = {
        "HOME": folder,
        "RABBITMQ_NODENAME": f"scatterproof-{port}@localhost",
        "RABBITMQ_MNESIA_BASE": folder / "mnesia",
        "RABBITMQ_LOG_BASE": folder / "log",
        "RABBITMQ_CONF_ENV_FILE": folder / "no-such-file",
        "RABBITMQ_CONFIG_FILE": folder / "rabbitmq.conf",
        "RABBITMQ_ENABLED_PLUGINS_FILE": folder / "plugins",
        "RABBITMQ_NODE_IP_ADDRESS": LOOPBACK,
        "RABBITMQ_NODE_PORT": port,
        "RABBITMQ_DIST_PORT": between_nodes,
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        "ERL_EPMD_ADDRESS": LOOPBACK,
        "ERL_EPMD_PORT": names,
    }
    return ["env", *(f"{name}={value}" for name, value in given.items()), _program("rabbitmq-server") or ""]


def mqtt_command(port: int, folder: Path) -> list[str]:
    """As `command`, with MQTT at this port."""
    (amqp,) = free_ports(1)
    return command(amqp, folder, "rabbitmq_mqtt", f"mqtt.listeners.tcp.1 = {LOOPBACK}:{port}\n")


class RabbitNode:
    """A node in no cluster, with its own folder, that listens on loopback only. Raises CannotRun without RabbitMQ."""

    def __init__(self, folder: Path) -> None:
        reason = why_not()
        if reason is not None:
            raise CannotRun(reason)
        # The folder is emptied: an earlier run may have left files.
        self._folder = folder.resolve() / "node"
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        self.iut = f"RabbitMQ {version()}"
        self._pika = importlib.import_module("pika")
        self.persistent = self._pika.BasicProperties(delivery_mode=2)
        self.refusals: tuple[type[Exception], ...] = (self._pika.exceptions.NackError,)
        self.losses: tuple[type[Exception], ...] = (self._pika.exceptions.AMQPError,)
        (port,) = free_ports(1)
        self._served = Served("rabbitmq", command(port, self._folder), port, self._folder, Limits(stop_s=STOP_S))

    def connect(self) -> Any:
        return self._pika.BlockingConnection(self._pika.ConnectionParameters(LOOPBACK, self._served.port))

    def restart(self, kill: bool = False) -> None:
        self._served.restart(kill)

    def play(self, of: QueueType, name: str, steps: Steps, seed: int = 0) -> Trace:
        """Carry the steps out at a queue of this name."""
        driver = Driver(self, name, of.arguments[seed % len(of.arguments)], of.limits[seed % len(of.limits)])
        for step in steps:
            driver.make(step)
        driver.end()
        return driver.history.trace(seed, self.iut, one_consumer=int(driver.single), most_tries=driver.most_tries)

    def end(self) -> None:
        self._served.end()


def product(of: QueueType) -> Product:
    @contextmanager
    def serve(folder: Path) -> Iterator[Play]:
        node = RabbitNode(folder)
        try:
            yield partial(node.play, of)
        finally:
            node.end()

    profile = Path(__file__).with_name(f"{of.name}.toml")
    return Product(
        name=of.name,
        text=of.text,
        profile=profile,
        why_not=why_not,
        needs=NEEDS,
        serve=serve,
        steps=of.steps,
        errors=("pika.exceptions.AMQPError",),
        vocabulary=vocabulary(Move, Step),
    )


PRODUCTS = tuple(map(product, TYPES))
