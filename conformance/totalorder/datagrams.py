"""Captured datagrams of total order as columns of trace rows, by spec/totalorder/wire.toml. It is the judge's own
reading of the format: it shares nothing with any implementation's."""

from __future__ import annotations

from collections.abc import Mapping

from scatterproof.conformance.totalorder.recording import INCARNATION, RESENT
from scatterproof.conformance.wire import Layout, wire_of
from scatterproof.spec.totalorder.messages import PacketKind
from scatterproof.spec.trace import ABSENT, digest_of

_WIRE = wire_of("totalorder")
_WIDE = [field["name"] for field in _WIRE["field"] if field["bytes"] == 8]
_HEADER = Layout(_WIRE["field"])
_KINDS: Mapping[str, int] = _WIRE["kinds"]
_BITS = {name: 1 << bit for name, bit in _WIRE["flags"].items()}
_KNOWN_BITS = sum(_BITS.values())
_MOST: int = _WIRE["max_payload_bytes"]
_PROXIED = (PacketKind.HANDED, PacketKind.RETURNED)

# The format does not say from which node a datagram comes; its addresses do.
TELLS_ENDS = False


def packets(datagram: bytes) -> list[dict[str, int]] | str:
    """The columns of each packet in the datagram, with `link_seq` as the sender of the link counts; or the first
    reason, by its name in wire.toml, why the datagram is invalid."""
    if len(datagram) < _HEADER.size:
        return "too_short"
    field = _HEADER.read(datagram)
    payload = datagram[_HEADER.size :]
    reason = _flaw(field, payload)
    if reason is not None:
        return reason
    kind, flags = field["kind"], field["flags"]
    beacon = kind == PacketKind.BEACON
    contents = ABSENT
    if kind == PacketKind.DATA:
        contents = digest_of(payload)
    elif kind == PacketKind.ADJUSTED:
        contents = int.from_bytes(payload, "big")
    return [
        {
            "link_seq": field["link_seq"],
            "sender": field["sender"],
            "receiver": ABSENT if beacon else field["receiver"],
            "number": ABSENT if beacon else field["number"],
            "digest": contents,
            "flags": field["incarnation"] * INCARNATION + (RESENT if flags & _BITS["resent"] else 0),
            "packet": kind,
            "timestamp": ABSENT if beacon or kind == PacketKind.ACK else field["timestamp"],
            "barrier": field["barrier"] if flags & _BITS["barrier"] else ABSENT,
            "ack_barrier": field["ack_barrier"] if flags & _BITS["ack_barrier"] else ABSENT,
            "loss_record": field["loss_record"],
            "greatest": field["greatest"],
        }
    ]


def _flaw(field: Mapping[str, int], payload: bytes) -> str | None:
    """The first flaw, in the order of wire.toml's [malformed]; None for a sound packet."""
    length, flags = field["payload_length"], field["flags"]
    if field["version"] != _WIRE["version"]:
        return "wrong_version"
    if field["kind"] not in _KINDS.values():
        return "unknown_kind"
    if flags & ~_KNOWN_BITS:
        return "unknown_flag"
    if length > _MOST:
        return "payload_too_long"
    if length != len(payload):
        return "truncated_payload" if length > len(payload) else "trailing_bytes"
    if any(field[name] >> 63 for name in _WIDE):
        return "value_out_of_range"
    for name in ("barrier", "ack_barrier"):
        if field[name] and not flags & _BITS[name]:
            return f"{name}_without_flag"
    if bool(field["loss_record"]) != bool(flags & _BITS["loss"]):
        return "loss_without_flag" if field["loss_record"] else "flag_without_loss"
    return _flaw_of_kind(field, payload)


def _flaw_of_kind(field: Mapping[str, int], payload: bytes) -> str | None:
    kind, flags = field["kind"], field["flags"]
    with_barrier = flags & (_BITS["barrier"] | _BITS["ack_barrier"])
    if flags & _BITS["resent"] and kind != PacketKind.DATA:
        return "resent_without_data"
    match kind:
        case PacketKind.DATA:
            return (
                "data_without_number"
                if not field["number"]
                else "data_without_timestamp"
                if not field["timestamp"]
                else None
            )
        case PacketKind.BEACON:
            if payload:
                return "beacon_with_payload"
            if field["receiver"] or field["number"] or field["timestamp"]:
                return "beacon_with_message_field"
            return None if with_barrier else "beacon_without_barrier"
    if with_barrier:
        return "control_with_barrier"
    if field["timestamp"] and kind in (PacketKind.ACK, *_PROXIED):
        return "control_with_timestamp"
    if kind in _PROXIED:
        # Only a beacon is looked into: other packets could nest without end.
        a_beacon = len(payload) == _HEADER.size and payload[1] == PacketKind.BEACON
        return None if a_beacon and not isinstance(packets(payload), str) else "proxied_without_beacon"
    if kind == PacketKind.ADJUSTED:
        return None if len(payload) == 8 and not payload[0] >> 7 else "adjusted_without_duration"
    return "control_with_payload" if payload else None
