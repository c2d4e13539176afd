"""Captured datagrams of the broadcast stack as columns of trace rows, by spec/broadcast/wire.toml. It is the judge's
own reading of the format: it shares nothing with any implementation's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from struct import unpack_from
from zlib import crc32

from scatterproof.conformance.broadcast.recording import RESENT
from scatterproof.conformance.wire import Layout, wire_of
from scatterproof.spec.broadcast.messages import PacketKind
from scatterproof.spec.trace import ABSENT, digest_of

_WIRE = wire_of("broadcast")
_HEADER, _PACKET = Layout(_WIRE["field"]), Layout(_WIRE["packet_field"])
_MAGIC = int.from_bytes(_WIRE["magic"].encode(), "big")
_CHECKED_FROM: int = _WIRE["checked_from"]
_ENTRY: int = _WIRE["clock_entry_bytes"]
_RESENT = 1 << _WIRE["flags"]["resent"]
_MOST = (1 << 32) - 1

# Each datagram says from which process to which it goes: `source` and `target` beside the columns.
TELLS_ENDS = True


def packets(datagram: bytes) -> list[dict[str, int]] | str:
    """The columns of each packet in the datagram, in their order; or the first reason, by its name in wire.toml, why
    the datagram is invalid."""
    if len(datagram) < _HEADER.size:
        return "too_short"
    header = _HEADER.read(datagram)
    reason = _flaw_of_header(header, datagram)
    if reason is not None:
        return reason
    found: list[dict[str, int]] = []
    at = _HEADER.size
    for _ in range(header["packets"]):
        if at + _PACKET.size > len(datagram):
            return "truncated_packet"
        field = _PACKET.read(datagram, at)
        clock_at = at + _PACKET.size
        payload_at = clock_at + _ENTRY * field["clock_entries"]
        at = payload_at + field["payload_length"]
        if at > len(datagram):
            return "truncated_packet"
        reason = _flaw_of_packet(header, field)
        if reason is not None:
            return reason
        clock = unpack_from(f"!{field['clock_entries']}I", datagram, clock_at)
        found.append(_columns(header, field, clock, datagram[payload_at:at]))
    return found if at == len(datagram) else "trailing_bytes"


def _columns(
    header: Mapping[str, int], field: Mapping[str, int], clock: Sequence[int], payload: bytes
) -> dict[str, int]:
    data = field["kind"] == PacketKind.DATA
    return {
        "source": header["source"],
        "target": header["receiver"],
        "sender": field["creator"],
        "receiver": header["receiver"],
        "number": field["first"],
        "digest": digest_of(payload) if data else ABSENT,
        "flags": RESENT if field["flags"] & _RESENT else 0,
        "packet": field["kind"],
        "pseq": field["pseq"],
        "count": field["count"],
        "clock_sum": sum(clock) if clock else ABSENT,
        "clock_weighted": sum(at * entry for at, entry in enumerate(clock, 1)) if clock else ABSENT,
    }


def _flaw_of_header(header: Mapping[str, int], datagram: bytes) -> str | None:
    if header["magic"] != _MAGIC:
        return "wrong_magic"
    if header["checksum"] != crc32(datagram[_CHECKED_FROM:]):
        return "wrong_checksum"
    if header["version"] != _WIRE["version"]:
        return "wrong_version"
    if header["reserved"]:
        return "reserved_not_zero"
    if header["source"] == header["receiver"]:
        return "to_itself"
    return None if header["packets"] else "no_packet"


def _flaw_of_packet(header: Mapping[str, int], field: Mapping[str, int]) -> str | None:
    """The first flaw, in the order of wire.toml's [malformed]; None for a sound packet."""
    kind, first, pseq, count = (field[name] for name in ("kind", "first", "pseq", "count"))
    if kind not in _WIRE["kinds"].values():
        return "unknown_kind"
    if field["flags"] & ~_RESENT:
        return "unknown_flag"
    data = kind == PacketKind.DATA
    last = first + count - 1 if data else pseq + count - 1
    if not pseq or not count or (data and not first) or last > _MOST:
        return "number_out_of_range"
    if not data:
        if field["payload_length"] or field["clock_entries"] or field["flags"]:
            return "ack_with_contents"
        return None if field["creator"] == header["source"] else "foreign_ack"
    if count > _WIRE["max_run"]:
        return "run_too_long"
    if count > 1 and field["payload_length"]:
        return "run_with_payload"
    if field["payload_length"] > _WIRE["max_payload_bytes"]:
        return "payload_too_long"
    return "clock_too_long" if field["clock_entries"] > _WIRE["max_clock_entries"] else None
