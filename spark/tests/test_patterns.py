"""Other people's expressions over other people's lines: found as Python finds them, in time that the lines bound."""

from __future__ import annotations

import re
from random import Random

import pytest

from scatterproof.spark.patterns import pattern

PATTERNS = (
    r"^(?P<time_ns>[\d.]+) got (?P<number>\d+) from (?P<sender>\w+)(?: (?P<payload>.*))?$",
    r"(?P<number>\d+)",
    r"got",
    r"(?P<payload>x*)$",
)


def lines(count: int) -> list[bytes]:
    draw = Random(3)
    words = [b"12", b"got", b"from", b"h1", b" ", b"\xc3\xa9", b"\xff", b"x", b"1.5 got 7 from h2", b""]
    return [b" ".join(draw.choices(words, k=draw.randint(0, 9))) for _ in range(count)]


@pytest.mark.parametrize("text", PATTERNS)
def test_what_is_found_is_what_python_finds(text: str) -> None:
    some = lines(2000)
    for line, groups in zip(some, pattern(text).search(some), strict=True):
        found = re.search(text, line.decode("utf-8", "surrogateescape"))
        expected = found and {name: value or "" for name, value in found.groupdict().items()}
        assert groups == expected, line


@pytest.mark.parametrize(
    "text", [r"^(?P<payload>(?:a+)+)$", r"^(?P<payload>(?:a|aa)+)$", r"(?:(?:a*)*)*b", r"(?P<payload>(?:.*a){20})b"]
)
def test_nested_repetition_costs_no_more_than_the_text(text: str) -> None:
    """Python would try as many ways as there are to part the letters, which is two to the power of their number."""
    line = b"a" * 100_000 + b"!"
    assert pattern(text).search([line, b"aaa"])[0] is None


@pytest.mark.parametrize("text", ["(", "a(?=b)", "(a|b)", "(?P<x>a)(?P=x)", "(?P<x>a)(?P<x>b)", "a{5000}"])
def test_what_is_no_pattern_is_said(text: str) -> None:
    with pytest.raises(ValueError, match=r"missing|invalid|unnamed|same name"):
        pattern(text)
