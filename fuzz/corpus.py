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
        groups = range(len(load(protocol).groups))
        in_turn = [_of_group(protocol, seed_number, number, CHUNK // len(groups)) for number in groups]
        return chain.from_iterable(zip(*in_turn, strict=True))
    return _of_group(protocol, seed_number, group, CHUNK)


def _of_group(protocol: str, seed_number: int, group: int, size: int) -> Iterator[Schedule]:
    for chunk in count():
        yield from _chunk(protocol, group, seed_number * 1_000_003 + chunk, size)


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
