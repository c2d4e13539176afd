"""The judge's own reading of each protocol's wire format, held to the golden vectors and to the implementation's."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scatterproof import spec
from scatterproof.conformance.protocol import load
from scatterproof.spec.trace import ABSENT, schema

PROTOCOLS = ("totalorder", "broadcast")
VECTORS: dict[str, Any] = {
    protocol: tomllib.loads((Path(str(spec.__file__)).parent / protocol / "wire_vectors.toml").read_text())
    for protocol in PROTOCOLS
}


def bytes_of(text: str) -> bytes:
    """Hex digits; BYTExN stands for N bytes alike."""
    parts = (field.partition("x") for field in text.split())
    return b"".join(bytes.fromhex(digits) * int(times or 1) for digits, _, times in parts)


def read(protocol: str, datagram: bytes) -> list[dict[str, int]] | str:
    found: list[dict[str, int]] | str = importlib.import_module(
        f"scatterproof.conformance.{protocol}.datagrams"
    ).packets(datagram)
    return found


def read_by_implementation(protocol: str, datagram: bytes) -> list[Any] | str:
    """Its packets, or why there are none."""
    codec = importlib.import_module(f"scatterproof.impl.{protocol}.codec")
    found = getattr(codec, "decode_all", codec.decode)(datagram)
    if isinstance(found, codec.Malformed):
        return str(found)
    return found if isinstance(found, list) else [found]


def vectors(table: str) -> list[Any]:
    return [
        pytest.param(protocol, vector, id=f"{protocol} {vector.get('reason', '')} {vector['name']}")
        for protocol in PROTOCOLS
        for vector in VECTORS[protocol][table]
        # Of how many packets there may be in a datagram the format says nothing where many may be.
        if vector.get("reason") != "several_packets"
    ]


@pytest.mark.parametrize(("protocol", "vector"), vectors("malformed"))
def test_a_malformed_golden_datagram_is_refused_for_its_reason(protocol: str, vector: dict[str, Any]) -> None:
    assert read(protocol, bytes_of(vector["hex"])) == vector["reason"]


@pytest.mark.parametrize(("protocol", "vector"), vectors("valid"))
def test_a_golden_datagram_gives_the_rows_that_the_recorder_writes(protocol: str, vector: dict[str, Any]) -> None:
    datagram = bytes_of(vector["hex"])
    packets = read_by_implementation(protocol, datagram)
    found = read(protocol, datagram)
    assert not isinstance(found, str)
    assert [columns_of(protocol, one) for one in found] == [load(protocol).recorder().packet(one) for one in packets]


def columns_of(protocol: str, found: dict[str, int]) -> tuple[int, ...]:
    names = schema(protocol).columns
    return tuple(found.get(name, ABSENT) for name in names[names.index("sender") :])


@given(data=st.data())
def test_damaged_datagrams_are_read_as_the_implementation_reads_them(data: st.DataObject) -> None:
    protocol = data.draw(st.sampled_from(PROTOCOLS))
    vector = data.draw(st.sampled_from(VECTORS[protocol]["valid"] + VECTORS[protocol]["malformed"]))
    datagram = bytearray(bytes_of(vector["hex"]))
    for at in data.draw(st.lists(st.integers(0, max(0, min(len(datagram), 90) - 1)), max_size=3)):
        datagram[at : at + 1] = data.draw(st.binary(max_size=2))
    if protocol == "broadcast" and data.draw(st.booleans()):
        checksum = importlib.import_module("zlib").crc32(bytes(datagram[8:]))
        datagram[4:8] = checksum.to_bytes(4, "big")
    theirs, ours = (reader(protocol, bytes(datagram)) for reader in (read_by_implementation, read))
    if isinstance(ours, str) or isinstance(theirs, str):
        assert ours == theirs
    else:
        assert len(ours) == len(theirs)
