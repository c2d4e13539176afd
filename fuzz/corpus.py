"""Schedules out of Hypothesis by number: schedule k of seed s is always the same one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings

from fuzz.protocol import load
from spec.schedule import Schedule

# Few enough that the first failure is soon found, many enough that Hypothesis's own start costs little.
CHUNK = 200
_EVERY_CHECK = tuple(HealthCheck)


def drawn_schedules(protocol: str, seed_number: int, group: int | None = None) -> Iterator[Schedule]:
    """Schedules of `protocol` without end, of one group of its rules or of all in turn, drawn in chunks; the first of
    each chunk is a simplest one."""
    if group is None:
        return chain.from_iterable(drawn_chunk(protocol, seed_number, chunk) for chunk in count())
    chunks = (_chunk(protocol, group, _seed_of(seed_number, chunk), CHUNK) for chunk in count())
    return chain.from_iterable(chunks)


def drawn_chunk(protocol: str, seed_number: int, chunk: int) -> list[Schedule]:
    """As many of these schedules, of all groups in turn, as `chunk_size` says: those of one chunk, by itself."""
    groups = range(len(load(protocol).groups))
    each = CHUNK // len(groups)
    in_turn = [_chunk(protocol, group, _seed_of(seed_number, chunk), each) for group in groups]
    return list(chain.from_iterable(zip(*in_turn, strict=True)))


def chunk_size(protocol: str) -> int:
    groups = len(load(protocol).groups)
    return CHUNK // groups * groups


def _seed_of(seed_number: int, chunk: int) -> int:
    return seed_number * 1_000_003 + chunk


def _chunk(protocol: str, group: int, number: int, size: int) -> list[Schedule]:
    drawn: list[Schedule] = []

    @seed(number)
    @settings(
        max_examples=size,
        database=None,
        deadline=None,
        derandomize=False,
        phases=(Phase.generate,),
        suppress_health_check=_EVERY_CHECK,
        verbosity=Verbosity.quiet,
    )
    @given(load(protocol).schedules(group))
    def draw(schedule: Schedule) -> None:
        drawn.append(schedule)

    draw()
    return drawn
