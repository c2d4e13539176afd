"""The codec, held to the layout and to the golden vectors of the specification."""

from __future__ import annotations

import tomllib
from pathlib import Path
from struct import Struct
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scatterproof.spec.broadcast
from scatterproof.impl.broadcast import codec, sockets
from scatterproof.impl.broadcast.codec import Malformed, decode, decode_all, encode, encode_all, flaw, size
from scatterproof.impl.broadcast.settings import MAX_CLOCK, MAX_PAYLOAD_BYTES, MAX_RUN
from scatterproof.impl.broadcast.tests.nodes import ACK, DATA
from scatterproof.spec.broadcast.messages import Packet, PacketKind

_FOLDER = Path(str(scatterproof.spec.broadcast.__file__)).parent
WIRE = tomllib.loads((_FOLDER / "wire.toml").read_text())
VECTORS = tomllib.loads((_FOLDER / "wire_vectors.toml").read_text())
LETTERS = {1: "B", 2: "H", 4: "I"}

processes = st.integers(0, (1 << 16) - 1)
numbers = st.integers(1, (1 << 32) - 4096)
data_packets = st.builds(
    Packet,
    kind=st.just(DATA),
    source=st.just(3),
    receiver=st.just(4),
    creator=processes,
    first=numbers,
    count=st.just(1),
    pseq=numbers,
    resent=st.booleans(),
    payload=st.binary(max_size=40),
    clock=st.lists(st.integers(0, (1 << 32) - 1), max_size=5).map(tuple),
)
runs = st.builds(
    Packet,
    kind=st.just(DATA),
    source=st.just(3),
    receiver=st.just(4),
    creator=processes,
    first=numbers,
    count=st.integers(1, 4096),
    pseq=numbers,
    resent=st.booleans(),
)
acks = st.builds(
    Packet,
    kind=st.just(ACK),
    source=st.just(3),
    receiver=st.just(4),
    creator=st.just(3),
    first=st.integers(0, (1 << 32) - 1),
    count=st.integers(1, 4096),
    pseq=numbers,
)
packets = data_packets | runs | acks


def bytes_of(text: str) -> bytes:
    """Hex digits; BYTExN stands for N bytes alike."""
    whole = b""
    for field in text.split():
        digits, _, times = field.partition("x")
        whole += bytes.fromhex(digits) * int(times or 1)
    return whole


def vectors(table: str) -> list[Any]:
    return [pytest.param(vector, id=f"{vector.get('reason', '')} {vector['name']}") for vector in VECTORS[table]]


def packets_of(vector: dict[str, Any], datagram: bytes) -> list[Packet]:
    found: list[Packet] = []
    for fields in vector["packets"]:
        text = {"payload": fields.get("payload", "").encode(), "clock": tuple(fields.get("clock", ()))}
        found.append(Packet(**fields | text))
    return found


def signed(checked: bytes) -> bytes:
    """A datagram of these bytes, with the checksum that they need."""
    return b"SPBC" + crc32(checked).to_bytes(4) + checked


@pytest.mark.parametrize(
    ("table", "struct", "length"),
    [("field", codec.HEADER, "header_bytes"), ("packet_field", codec.PACKET, "packet_bytes")],
)
def test_headers_have_the_fields_of_the_layout_at_their_places(table: str, struct: Struct, length: str) -> None:
    offset = 0
    for field in WIRE[table]:
        assert field["offset"] == offset
        offset += field["bytes"]
    letters = "".join("4s" if field["name"] == "magic" else LETTERS[field["bytes"]] for field in WIRE[table])

    assert offset == WIRE[length] == struct.size
    assert struct.format == "!" + letters


def test_the_codec_knows_the_numbers_of_the_layout() -> None:
    assert WIRE["version"] == codec.VERSION
    assert WIRE["magic"].encode() == codec.MAGIC
    assert WIRE["checked_from"] == codec.CHECKED_FROM
    assert WIRE["datagram_bytes"] == sockets.DATAGRAM_BYTES
    assert WIRE["max_payload_bytes"] == MAX_PAYLOAD_BYTES
    assert WIRE["max_clock_entries"] == MAX_CLOCK
    assert WIRE["max_run"] == MAX_RUN
    assert {kind.name.lower(): int(kind) for kind in PacketKind} == WIRE["kinds"]
    assert {name: 1 << bit for name, bit in WIRE["flags"].items()} == {"resent": codec.RESENT_FLAG}


def test_the_reasons_are_those_of_the_layout_in_their_order() -> None:
    assert [str(reason) for reason in Malformed] == list(WIRE["malformed"])


def test_every_reason_has_a_golden_vector() -> None:
    several = {"several_packets"}  # of decode alone, below
    assert {vector["reason"] for vector in VECTORS["malformed"]} | several == set(WIRE["malformed"])


@pytest.mark.parametrize("vector", vectors("valid"))
def test_a_golden_datagram_and_its_packets_are_one(vector: dict[str, Any]) -> None:
    datagram = bytes_of(vector["hex"])
    expected = packets_of(vector, datagram)

    assert decode_all(datagram) == expected
    assert encode_all(expected) == datagram
    assert len(datagram) == codec.HEADER.size + sum(map(size, expected))


@pytest.mark.parametrize("vector", vectors("malformed"))
def test_a_malformed_golden_datagram_is_refused_for_its_reason(vector: dict[str, Any]) -> None:
    assert decode_all(bytes_of(vector["hex"])) is Malformed(vector["reason"])


@given(st.lists(packets, min_size=1, max_size=20))
def test_packets_come_back_from_their_datagram(several: list[Packet]) -> None:
    assert decode_all(encode_all(several)) == several


@given(packets)
def test_a_packet_alone_comes_back(packet: Packet) -> None:
    assert flaw(packet) is None
    assert decode(encode(packet)) == packet


def test_two_packets_are_not_one() -> None:
    packet = Packet(DATA, 0, 1, 0, 1, 1, 1)

    assert decode(encode_all([packet, packet])) is Malformed.SEVERAL_PACKETS


@settings(max_examples=500)
@given(st.lists(packets, min_size=1, max_size=4), st.data())
def test_a_damaged_datagram_is_no_datagram(several: list[Packet], choices: st.DataObject) -> None:
    datagram = encode_all(several)
    damaged = bytearray(datagram)
    for _ in range(choices.draw(st.integers(1, 3))):
        damaged[choices.draw(st.integers(0, len(damaged) - 1))] = choices.draw(st.integers(0, 255))
    cut = bytes(damaged[: choices.draw(st.integers(0, len(damaged)))])

    assert cut == datagram or isinstance(decode_all(cut), Malformed)


@settings(max_examples=1000)
@given(st.lists(packets, min_size=1, max_size=4), st.data())
def test_what_passes_the_checksum_never_raises_and_is_written_as_it_came(
    several: list[Packet], choices: st.DataObject
) -> None:
    checked = bytearray(encode_all(several)[codec.CHECKED_FROM :])
    for _ in range(choices.draw(st.integers(1, 3))):
        checked[choices.draw(st.integers(0, len(checked) - 1))] = choices.draw(st.integers(0, 255))
    datagram = signed(bytes(checked[: choices.draw(st.integers(0, len(checked)))]))
    found = decode_all(datagram)

    assert isinstance(found, Malformed) or encode_all(found) == datagram


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"kind": 3}, Malformed.UNKNOWN_KIND),
        ({"source": -1}, Malformed.NUMBER_OUT_OF_RANGE),
        ({"receiver": 1 << 16}, Malformed.NUMBER_OUT_OF_RANGE),
        ({"creator": 1 << 16}, Malformed.NUMBER_OUT_OF_RANGE),
        ({"receiver": 0}, Malformed.TO_ITSELF),
        ({"first": 0}, Malformed.NUMBER_OUT_OF_RANGE),
        ({"first": 1 << 32}, Malformed.NUMBER_OUT_OF_RANGE),
        ({"count": -1}, Malformed.NUMBER_OUT_OF_RANGE),
        ({"pseq": 0}, Malformed.NUMBER_OUT_OF_RANGE),
        ({"clock": (1, 1 << 32)}, Malformed.NUMBER_OUT_OF_RANGE),
        ({"clock": (0,) * 1025}, Malformed.CLOCK_TOO_LONG),
        ({"payload": bytes(60_001)}, Malformed.PAYLOAD_TOO_LONG),
        ({"count": 2, "payload": b"x"}, Malformed.RUN_WITH_PAYLOAD),
        ({"kind": ACK, "payload": b"x"}, Malformed.ACK_WITH_CONTENTS),
    ],
)
def test_a_packet_that_no_datagram_can_mean_is_not_encoded(fields: dict[str, Any], reason: Malformed) -> None:
    plain: dict[str, Any] = {"kind": DATA, "source": 0, "receiver": 1, "creator": 0, "first": 1, "count": 1, "pseq": 1}
    packet = Packet(**plain | fields)

    assert flaw(packet) is reason
    with pytest.raises(ValueError, match=str(reason)):
        encode(packet)


def test_the_longest_packet_fits_into_a_datagram_of_udp() -> None:
    packet = Packet(DATA, 0, 1, 0, 1, 1, 1, False, bytes(MAX_PAYLOAD_BYTES), (1,) * MAX_CLOCK)

    assert len(encode(packet)) <= 65_507
    assert decode(encode(packet)) == packet
