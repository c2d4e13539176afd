"""The codec, held to the layout and to the golden vectors of the specification."""

from __future__ import annotations

import tomllib
from pathlib import Path
from struct import Struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scatterproof.spec.totalorder
from scatterproof.impl.totalorder import codec
from scatterproof.impl.totalorder.codec import Malformed, decode, encode, flaw
from scatterproof.impl.totalorder.limits import DURATION_BYTES, MAX_PAYLOAD_BYTES
from scatterproof.spec.totalorder.messages import NO_BARRIER, Packet, PacketKind

_FOLDER = Path(str(scatterproof.spec.totalorder.__file__)).parent
WIRE = tomllib.loads((_FOLDER / "wire.toml").read_text())
VECTORS = tomllib.loads((_FOLDER / "wire_vectors.toml").read_text())
LETTERS = {1: "B", 2: "H", 4: "I", 8: "Q"}
DATA, BEACON = int(PacketKind.DATA), int(PacketKind.BEACON)
EVERY_KIND = {int(kind) for kind in PacketKind}

nodes = st.integers(0, (1 << 32) - 1)
values = st.integers(0, (1 << 63) - 1)
positive = st.integers(1, (1 << 63) - 1)
barriers = st.integers(NO_BARRIER, (1 << 63) - 1)
none, absent = st.just(0), st.just(NO_BARRIER)
incarnations = st.integers(0, (1 << 16) - 1)


def carried(
    kind: PacketKind,
    *,
    barrier: st.SearchStrategy[int] = absent,
    ack_barrier: st.SearchStrategy[int] = absent,
    **fields: st.SearchStrategy[Any],
) -> st.SearchStrategy[Packet]:
    """Packets of a kind, with all that any packet may carry; fields left out are 0, empty or absent."""
    return st.builds(
        Packet,
        kind=st.just(int(kind)),
        sender=nodes,
        receiver=fields.get("receiver", nodes),
        number=fields.get("number", values),
        link_seq=values,
        timestamp=fields.get("timestamp", values),
        barrier=barrier,
        payload=fields.get("payload", st.just(b"")),
        ack_barrier=ack_barrier,
        loss_record=none | values,
        greatest=values,
        resent=fields.get("resent", st.just(False)),
        incarnation=incarnations,
    )


data_messages = carried(
    PacketKind.DATA,
    number=positive,
    timestamp=positive,
    barrier=barriers,
    ack_barrier=barriers,
    payload=st.binary(),
    resent=st.booleans(),
)
beacon_fields = {"receiver": none, "number": none, "timestamp": none}
beacons = carried(PacketKind.BEACON, barrier=values, ack_barrier=barriers, **beacon_fields) | carried(
    PacketKind.BEACON, ack_barrier=values, **beacon_fields
)
durations = values.map(lambda value: value.to_bytes(DURATION_BYTES))
proxied: dict[str, st.SearchStrategy[Any]] = {"timestamp": none, "payload": beacons.map(encode)}
controls = (
    carried(PacketKind.ACK, timestamp=none)
    | carried(PacketKind.ADJUST)
    | carried(PacketKind.ADJUSTED, payload=durations)
    | carried(PacketKind.NOTICE)
    | carried(PacketKind.HANDED, **proxied)
    | carried(PacketKind.RETURNED, **proxied)
)
packets = data_messages | beacons | controls


def vectors(table: str) -> list[Any]:
    return [pytest.param(vector, id=vector["name"]) for vector in VECTORS[table]]


def test_the_header_has_the_fields_of_the_layout_at_their_places() -> None:
    offset = 0
    for field in WIRE["field"]:
        assert field["offset"] == offset
        assert offset % field["bytes"] == 0
        offset += field["bytes"]
    letters = "".join(LETTERS[field["bytes"]] for field in WIRE["field"])

    assert offset == WIRE["header_bytes"]
    assert WIRE["byte_order"] == "network"
    assert Struct("!" + letters).format == codec.HEADER.format


def test_the_codec_knows_the_versions_kinds_flags_and_limits_of_the_layout() -> None:
    assert WIRE["version"] == codec.VERSION
    assert {kind.name.lower(): int(kind) for kind in PacketKind} == WIRE["kinds"]
    assert {name: 1 << bit for name, bit in WIRE["flags"].items()} == {
        "barrier": codec.BARRIER_FLAG,
        "ack_barrier": codec.ACK_BARRIER_FLAG,
        "loss": codec.LOSS_FLAG,
        "resent": codec.RESENT_FLAG,
    }
    assert MAX_PAYLOAD_BYTES == WIRE["max_payload_bytes"] == 65_535 - 20 - 8 - WIRE["header_bytes"]


def test_the_reasons_are_those_of_the_layout_in_their_order() -> None:
    assert [str(reason) for reason in Malformed] == list(WIRE["malformed"])


def test_every_reason_has_a_golden_vector() -> None:
    assert {vector["reason"] for vector in VECTORS["malformed"]} == set(WIRE["malformed"])


def test_every_kind_and_every_flag_has_a_golden_vector() -> None:
    packets = [decode(bytes.fromhex(vector["hex"])) for vector in VECTORS["valid"]]
    flags = [int.from_bytes(bytes.fromhex(vector["hex"])[2:4]) for vector in VECTORS["valid"]]

    assert {packet.kind for packet in packets if isinstance(packet, Packet)} == EVERY_KIND
    assert {bit for bit in WIRE["flags"].values() for seen in flags if seen >> bit & 1} == set(WIRE["flags"].values())


@pytest.mark.parametrize("vector", vectors("valid"))
def test_a_golden_datagram_and_its_packet_are_one(vector: dict[str, Any]) -> None:
    datagram = bytes.fromhex(vector["hex"])
    packet = Packet(**vector["fields"] | {"payload": vector["fields"]["payload"].encode()})

    assert decode(datagram) == packet
    assert encode(packet) == datagram


@pytest.mark.parametrize("vector", vectors("malformed"))
def test_a_malformed_golden_datagram_is_refused_for_its_reason(vector: dict[str, Any]) -> None:
    assert decode(bytes.fromhex(vector["hex"])) is Malformed(vector["reason"])


@given(packets)
def test_a_packet_comes_back_from_its_datagram(packet: Packet) -> None:
    assert decode(encode(packet)) == packet


@settings(max_examples=1000)
@given(packets, st.data())
def test_a_damaged_datagram_never_raises_and_a_packet_in_it_is_written_as_it_came(
    packet: Packet, choices: st.DataObject
) -> None:
    damaged = bytearray(encode(packet))
    for _ in range(choices.draw(st.integers(1, 3))):
        damaged[choices.draw(st.integers(0, len(damaged) - 1))] = choices.draw(st.integers(0, 255))
    datagram = bytes(damaged[: choices.draw(st.integers(0, len(damaged)))])
    found = decode(datagram)

    assert isinstance(found, Malformed) or encode(found) == datagram


@settings(max_examples=2000)
@given(st.binary(max_size=80))
def test_random_bytes_never_raise(datagram: bytes) -> None:
    found = decode(datagram)
    assert isinstance(found, Malformed) or encode(found) == datagram


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"kind": 9}, Malformed.UNKNOWN_KIND),
        ({"payload": bytes(MAX_PAYLOAD_BYTES + 1)}, Malformed.PAYLOAD_TOO_LONG),
        ({"sender": -1}, Malformed.VALUE_OUT_OF_RANGE),
        ({"receiver": 1 << 32}, Malformed.VALUE_OUT_OF_RANGE),
        ({"number": -1}, Malformed.VALUE_OUT_OF_RANGE),
        ({"link_seq": 1 << 63}, Malformed.VALUE_OUT_OF_RANGE),
        ({"barrier": -2}, Malformed.VALUE_OUT_OF_RANGE),
        ({"ack_barrier": -2}, Malformed.VALUE_OUT_OF_RANGE),
        ({"loss_record": -1}, Malformed.VALUE_OUT_OF_RANGE),
        ({"greatest": 1 << 63}, Malformed.VALUE_OUT_OF_RANGE),
        ({"incarnation": 1 << 16}, Malformed.VALUE_OUT_OF_RANGE),
        ({"number": 0}, Malformed.DATA_WITHOUT_NUMBER),
        ({"timestamp": 0}, Malformed.DATA_WITHOUT_TIMESTAMP),
        ({"kind": BEACON, "resent": True}, Malformed.RESENT_WITHOUT_DATA),
    ],
)
def test_a_packet_that_no_datagram_can_mean_is_not_encoded(fields: dict[str, Any], reason: Malformed) -> None:
    plain: dict[str, Any] = {
        "kind": DATA,
        "sender": 1,
        "receiver": 2,
        "number": 3,
        "link_seq": 4,
        "timestamp": 5,
        "barrier": 5,
        "payload": b"",
    }
    packet = Packet(**plain | fields)

    assert flaw(packet) is reason
    with pytest.raises(ValueError, match=str(reason)):
        encode(packet)


def test_the_longest_payload_passes() -> None:
    packet = Packet(DATA, 1, 2, 3, 4, 5, 5, bytes(MAX_PAYLOAD_BYTES))
    assert decode(encode(packet)) == packet


def test_a_packet_wrapped_nine_hundred_times_is_refused_and_never_raises() -> None:
    datagram = encode(Packet(BEACON, 1, 0, 0, 0, 0, 1, b""))
    for _ in range(900):
        head = codec.HEADER.pack(codec.VERSION, PacketKind.HANDED, 0, 6, 1, len(datagram), 0, 1, 0, 0, 0, 0, 0, 0)
        datagram = head + datagram
    assert decode(datagram) is Malformed.PROXIED_WITHOUT_BEACON
