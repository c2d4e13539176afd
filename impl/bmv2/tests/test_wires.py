"""Which frames a veth carries."""

from __future__ import annotations

import pytest

from scatterproof.impl.bmv2.wires import MOST_BYTES, refusal

PLAIN = bytes(12) + b"\x08\x00"
TAGGED = bytes(12) + b"\x81\x00"


@pytest.mark.parametrize("data", [PLAIN, PLAIN.ljust(MOST_BYTES, b"x"), TAGGED + bytes(6)])
def test_these_are_carried(data: bytes) -> None:
    assert refusal(data) is None


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no frame below 14 bytes, and this one has 0"),
        (PLAIN[:13], "no frame below 14 bytes, and this one has 13"),
        (PLAIN.ljust(MOST_BYTES + 1, b"x"), "no frame above 9514 bytes, and this one has 9515"),
        (TAGGED + bytes(5), "no tagged frame below 20 bytes, and this one has 19"),
        (bytes(12) + b"\x88\xa8", "no tagged frame below 20 bytes, and this one has 14"),
    ],
)
def test_these_are_not(data: bytes, said: str) -> None:
    assert said in (refusal(data) or "")
