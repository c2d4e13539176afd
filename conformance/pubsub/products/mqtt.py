"""A port to a broker of MQTT 3.1.1 or 5, through paho: clients in one thread, which read only when asked to."""

from __future__ import annotations

import importlib
import select
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scatterproof.conformance.pubsub.products.driving import Deliver
from scatterproof.conformance.pubsub.products.ports import ANSWER_S, Client, ClientsPort, Restart
from scatterproof.conformance.serving import LOOPBACK
from scatterproof.spec.core import Outcome
from scatterproof.spec.topology import NodeId

MQTT_5 = 5
_FOR_EVER = 0xFFFFFFFF  # the expiry interval of a session of MQTT 5 that never expires


@dataclass(slots=True)
class _One(Client):
    """A client.

    paho: paho's client; it outlives a connection while the session lasts.
    lasts: whether its session outlives the connection.
    connected, refused: how its last connect ended.
    answered: by packet identifier, whether the answer was a refusal.
    shared: by filter, the text that was subscribed to.
    unacknowledged: of each message, packet identifier and level.
    """

    paho: Any = None
    lasts: bool = False
    connected: bool = False
    refused: bool = False
    answered: dict[int, bool] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)


class MqttPort(ClientsPort[_One]):
    """A port to MQTT. port: of the broker; of several, one a client. version: 4 for MQTT 3.1.1, or MQTT_5. login: user
    and password, None for anonymous clients."""

    def __init__(
        self,
        deliver: Deliver,
        port: int | Sequence[int],
        name: str,
        *,
        version: int = 4,
        login: tuple[str, str] | None = None,
        restart: Restart | None = None,
    ) -> None:
        super().__init__(deliver, name, _One, restart)
        self._mqtt = importlib.import_module("paho.mqtt.client")
        self._properties = importlib.import_module("paho.mqtt.properties")
        self._port, self._version, self._login = port, version, login

    # ---------------------------------------------------------------- connections

    def connect(self, node: NodeId, lasts: bool) -> Outcome:
        one = self._one(node)
        if one.connected:
            self.drop(node)
        if one.paho is None or not lasts or not one.lasts:
            one.paho, one.unacknowledged = self._fresh(node, one, lasts), []
        one.lasts, one.refused, one.stalled, one.answered = lasts, False, False, {}
        # Over a reconnection only the packet identifiers of messages at level 2 stay valid.
        one.unacknowledged = [(mid, level) for mid, level in one.unacknowledged if level == 2]
        port = self._port if isinstance(self._port, int) else self._port[node - 1]
        more = self._session(lasts) if self._version == MQTT_5 else {}
        try:
            one.paho.connect(LOOPBACK, port, keepalive=600, **more)
        except OSError:
            return Outcome.UNKNOWN
        if not self._wait(lambda: one.connected or one.refused or one.paho.socket() is None):
            return Outcome.UNKNOWN
        return Outcome.OK if one.connected else Outcome.REFUSED if one.refused else Outcome.UNKNOWN

    def _session(self, lasts: bool) -> dict[str, Any]:
        given = self._properties.Properties(importlib.import_module("paho.mqtt.packettypes").PacketTypes.CONNECT)
        given.SessionExpiryInterval = _FOR_EVER if lasts else 0
        return {"clean_start": not lasts, "properties": given}

    def _fresh(self, node: NodeId, one: _One, lasts: bool) -> Any:
        kept = {} if self._version == MQTT_5 else {"clean_session": not lasts}
        paho = self._mqtt.Client(
            self._mqtt.CallbackAPIVersion.VERSION2,
            client_id=f"{self._name}-{node}",
            protocol=self._version,
            manual_ack=True,
            **kept,
        )
        if self._login is not None:
            paho.username_pw_set(*self._login)

        def connected(_client: Any, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:
            one.connected, one.refused = not reason.is_failure, reason.is_failure

        def gone(*_: Any) -> None:
            one.connected = False

        def got(_client: Any, _data: Any, message: Any) -> None:
            if message.qos > 0:
                one.unacknowledged.append((message.mid, message.qos))
            # An empty payload deletes a retained message: the run does not count it as a message.
            if message.payload:
                self._take(node, message.topic, message.payload, message.qos, message.dup, message.retain)

        def answered(_client: Any, _data: Any, mid: int, reasons: Any, _properties: Any) -> None:
            listed = reasons if isinstance(reasons, list) else [reasons]
            one.answered[mid] = any(reason.is_failure for reason in listed)

        def opened(_client: Any, _data: Any, sock: Any) -> None:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        paho.on_socket_open = opened
        paho.on_connect, paho.on_disconnect, paho.on_message = connected, gone, got
        paho.on_subscribe = paho.on_unsubscribe = paho.on_publish = answered
        return paho

    def disconnect(self, node: NodeId) -> Outcome:
        one = self._ones[node]
        one.paho.disconnect()
        one.connected = False
        return Outcome.OK

    def drop(self, node: NodeId) -> None:
        one = self._ones[node]
        sock = one.paho.socket()
        if sock is not None:
            sock.close()
            one.paho.loop_read()
        one.connected = False

    def is_connected(self, node: NodeId) -> bool:
        return self._ones[node].connected

    def end(self) -> None:
        """End the sessions that last, so that the broker keeps nothing of the run."""
        for node, one in self._ones.items():
            if one.connected:
                one.paho.disconnect()
            if one.lasts:
                self.connect(node, lasts=False)
                self.disconnect(node)

    # ---------------------------------------------------------------- calls

    def publish(self, node: NodeId, topic: str, body: bytes, level: int, retain: bool, expiry_s: int) -> Outcome:
        one, more = self._ones[node], {}
        if expiry_s:
            types = importlib.import_module("paho.mqtt.packettypes").PacketTypes
            more["properties"] = self._properties.Properties(types.PUBLISH)
            more["properties"].MessageExpiryInterval = expiry_s
        told = one.paho.publish(topic, body, level, retain, **more)
        return self._answer(one, told.mid)

    def subscribe(self, node: NodeId, filter_: str, level: int, group: int) -> Outcome:
        one = self._ones[node]
        one.shared[filter_] = f"$share/g{group}/{filter_}" if group else filter_
        _, mid = one.paho.subscribe(one.shared[filter_], level)
        return self._answer(one, mid)

    def unsubscribe(self, node: NodeId, filter_: str) -> Outcome:
        one = self._ones[node]
        _, mid = one.paho.unsubscribe(one.shared.get(filter_, filter_))
        return self._answer(one, mid)

    def acknowledge(self, node: NodeId) -> Outcome:
        """The acknowledgements have surely arrived once a packet sent behind them is answered: an unsubscribe from a
        filter to which nobody subscribed."""
        one = self._ones[node]
        for mid, level in one.unacknowledged:
            one.paho.ack(mid, level)
        one.unacknowledged.clear()
        _, mid = one.paho.unsubscribe(f"{self._name}/no-such-filter")
        outcome = self._answer(one, mid)
        return Outcome.UNKNOWN if outcome is Outcome.UNKNOWN else Outcome.OK

    def _answer(self, one: _One, mid: int | None) -> Outcome:
        if mid is None or not self._wait(lambda: mid in one.answered or not one.connected) or mid not in one.answered:
            return Outcome.UNKNOWN
        return Outcome.REFUSED if one.answered.pop(mid) else Outcome.OK

    # ---------------------------------------------------------------- reading

    def _wait(self, is_over: Callable[[], bool]) -> bool:
        until = time.monotonic() + ANSWER_S
        while not is_over():
            if time.monotonic() > until:
                return False
            self._read(0.05)
        return True

    def _read(self, most_s: float) -> None:
        sockets: Mapping[Any, _One] = {
            sock: one
            for one in self._ones.values()
            if one.paho is not None and not one.stalled and (sock := one.paho.socket()) is not None
        }
        writing = [sock for sock, one in sockets.items() if one.paho.want_write()]
        readable, writable, _ = select.select(list(sockets), writing, [], most_s)
        for sock in writable:
            sockets[sock].paho.loop_write()
        for sock in readable:
            sockets[sock].paho.loop_read()
