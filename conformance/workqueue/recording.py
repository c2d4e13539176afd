"""Rows of the queue: what clients call, what comes back, and the packets in between."""

from __future__ import annotations

from collections.abc import Mapping

from scatterproof.spec.core import Outcome, Parameter, Return
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import ABSENT, Row, digest_of, schema
from scatterproof.spec.workqueue.messages import COLUMNS, GIVEN, LEASED, CallName, Handed, Packet

NAMES = schema("workqueue")
_NOTHING = (ABSENT,) * len(COLUMNS)
_NAMED = ("group", "message", "token")


def _columns(values: Mapping[str, Parameter]) -> Row:
    """The protocol's columns; ABSENT for a value that is missing, or is a word."""
    found = (values.get(name, ABSENT) for name in COLUMNS)
    return tuple(value if isinstance(value, int) else ABSENT for value in found)


class Recorder:
    """Columns from `sender` on: sender, receiver, number, digest, flags, call, operation, outcome, packet, COLUMNS."""

    def called(self, node: NodeId, operation: int, call: Call) -> Row:
        body = digest_of(call.payload) if call.call in (CallName.SEND_MESSAGE, CallName.PUT_MESSAGE) else ABSENT
        # GIVEN and LEASED hold the defaults; a group, message or token is named only where it is not the one in hand.
        given = GIVEN.get(call.call) or LEASED.get(call.call, {})
        told = {**given, **{name: value for name, value in call.arguments.items() if name in given or name in _NAMED}}
        head = (ABSENT, ABSENT, ABSENT, body, ABSENT, NAMES.calls[call.call], operation, ABSENT, ABSENT)
        return (*head, *_columns(told))

    def returned(self, node: NodeId, call: Call, returned: Return) -> Row:
        read = call.call == CallName.READ_MESSAGE and returned.outcome is Outcome.OK and returned.results.get("message")
        body = digest_of(returned.payload) if read else ABSENT
        code, outcome = NAMES.calls[call.call], int(returned.outcome)
        message = (returned.results.get(name, ABSENT) for name in ("sender", "number"))
        sender, number = (one if isinstance(one, int) else ABSENT for one in message)
        head = (sender, ABSENT, number, body, ABSENT, code, returned.operation, outcome, ABSENT)
        return (*head, *_columns(returned.results))

    def packet(self, packet: Packet) -> Row:
        kind = NAMES.packets["answer" if packet.outcome else "request"]
        body = digest_of(packet.payload) if packet.payload else ABSENT
        # A node may send an unknown call or outcome: its row leaves that out.
        call = NAMES.calls.get(packet.call, ABSENT)
        outcome = packet.outcome if packet.outcome in NAMES.outcomes.values() else ABSENT
        head = (packet.client, ABSENT, ABSENT, body, ABSENT, call, packet.operation, outcome, kind)
        return (*head, *(getattr(packet, name) for name in COLUMNS))

    def delivery(self, node: NodeId, handed: Handed) -> Row:
        entry = {"message": handed.entry} if handed.entry > 1 else {}
        told = _columns({"group": handed.group, "receipt": handed.receipt, **entry})
        return (handed.sender, ABSENT, handed.number, digest_of(handed.payload), *[ABSENT] * 5, *told)

    def ended(self, flags: int) -> Row:
        return (*[ABSENT] * 4, flags, *[ABSENT] * 4, *_NOTHING)

    def carries_message(self, packet: Packet) -> bool:
        return True
