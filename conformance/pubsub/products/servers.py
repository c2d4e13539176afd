"""The brokers of MQTT that are judged: a record each, of how it is started on loopback, and what is drawn for it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.pubsub.brokers import known
from scatterproof.conformance.pubsub.products.drawing import CLIENTS, Shape, drawn, words
from scatterproof.conformance.pubsub.products.driving import Steps, play
from scatterproof.conformance.pubsub.products.mqtt import MqttPort
from scatterproof.conformance.serving import LOOPBACK, Served, free_ports
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.schedule import Call
from scatterproof.spec.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A broker of MQTT.

    name, text, why_not: as of a product.
    command: what starts it at a port of loopback, with a folder of its own.
    version: of what is installed.
    shape, quiet: what is drawn; and what keeps clear of the mistakes that its report has, and breaks nothing.
    protocol: 4 for MQTT 3.1.1, 5 for MQTT 5.
    login: the user and password of its clients.
    """

    name: str
    text: str
    why_not: Callable[[], str | None]
    command: known.Command
    version: Callable[[], str]
    shape: Shape
    quiet: Shape
    protocol: int = 4
    login: tuple[str, str] | None = None

    @contextmanager
    def serve(self, folder: Path) -> Iterator[Play]:
        reason = self.why_not()
        if reason is not None:
            raise CannotRun(reason)
        folder.mkdir(parents=True, exist_ok=True)
        (port,) = free_ports(1)
        iut = f"{self.name} {self.version()}"
        served = Served(self.name, self.command(port, folder.resolve()), port, folder)
        try:
            yield partial(self._play, served, iut)
        finally:
            served.end()

    def _play(self, served: Served, iut: str, name: str, steps: Steps, seed: int) -> Trace:
        make = partial(
            MqttPort, port=served.port, name=name, version=self.protocol, login=self.login, restart=served.restart
        )
        return play(make, words(name), CLIENTS, steps, seed, iut)

    def steps(self, seed: int, quiet: bool) -> list[Call | object]:
        return [*drawn(seed, self.quiet if quiet else self.shape)]

    def product(self) -> Product:
        return Product(
            name=self.name,
            text=self.text,
            profile=Path(__file__).with_name(f"{self.name}.toml"),
            why_not=self.why_not,
            serve=self.serve,
            steps=self.steps,
        )


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
    shape=Shape(),
    quiet=Shape(),
)
SERVERS = (MOSQUITTO,)
PRODUCTS = tuple(server.product() for server in SERVERS)
