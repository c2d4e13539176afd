"""Rows of publish and subscribe: clients' calls, their returns, deliveries, and packets."""

from __future__ import annotations

from scatterproof.spec.core import Parameter, Return
from scatterproof.spec.pubsub.messages import GIVEN, CallName, Delivery, Packet, PacketName
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import ABSENT, Row, digest_of, schema

NAMES = schema("pubsub")
_USUAL: dict[str, Parameter] = {
    **dict.fromkeys(("topic", "filter"), 1),
    **dict.fromkeys(("level", "session", "retain", "group", "expiry_ns"), 0),
}
_CARRYING = (PacketName.MESSAGE,)
_MORE = (ABSENT,) * 4


class Recorder:
    """Makes rows from column `sender` on: sender, receiver, number, digest, flags, call, operation, outcome, packet,
    topic, filter, level, again, serial, session, retain, group, expiry_ns."""

    def called(self, node: NodeId, operation: int, call: Call) -> Row:
        body = digest_of(call.payload) if call.call == CallName.PUBLISH else ABSENT
        given = {name: call.arguments.get(name, _USUAL[name]) for name in GIVEN[call.call]}
        topic, filter_, level, *more = (
            value if isinstance(value := given.get(name, ABSENT), int) else ABSENT for name in _USUAL
        )
        head = (ABSENT, ABSENT, ABSENT, body, ABSENT, NAMES.calls[call.call], operation, ABSENT, ABSENT)
        return (*head, topic, filter_, level, ABSENT, ABSENT, *more)

    def returned(self, node: NodeId, call: Call, returned: Return) -> Row:
        code, outcome = NAMES.calls[call.call], int(returned.outcome)
        return (*[ABSENT] * 5, code, returned.operation, outcome, *[ABSENT] * 6, *_MORE)

    def packet(self, packet: Packet) -> Row:
        # A node may send an unknown kind, call or outcome: it is ABSENT in the row.
        kind, call = NAMES.packets.get(packet.kind, ABSENT), NAMES.calls.get(packet.call, ABSENT)
        of_call = packet.kind in (PacketName.REQUEST, PacketName.ANSWER)
        number, operation = (ABSENT, packet.number) if of_call else (packet.number, ABSENT)
        outcome = packet.outcome if packet.outcome in NAMES.outcomes.values() else ABSENT
        carries = packet.kind in _CARRYING or (packet.kind == PacketName.REQUEST and packet.call == CallName.PUBLISH)
        body = digest_of(packet.payload) if carries else ABSENT
        head = (packet.sender, ABSENT, number, body, ABSENT, call, operation, outcome, kind)
        again = int(packet.again) if packet.kind in _CARRYING else ABSENT
        return (*head, packet.topic, packet.filter, packet.level, again, packet.serial, *_MORE)

    def delivery(self, node: NodeId, got: Delivery) -> Row:
        head = (got.sender, ABSENT, got.number, digest_of(got.payload), *[ABSENT] * 5)
        more = (got.topic, ABSENT, got.level, int(got.again), ABSENT)
        return (*head, *more, ABSENT, int(got.retain), ABSENT, ABSENT)

    def ended(self, flags: int) -> Row:
        return (*[ABSENT] * 4, flags, *[ABSENT] * 9, *_MORE)

    def carries_message(self, packet: Packet) -> bool:
        return True
