"""Schedules drawn by Hypothesis, by number: schedule k of seed s is always the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import TypeAlias

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings

from scatterproof.fuzz.protocol import load
from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import Schedule

# Few enough that the first failure is soon found, many enough that Hypothesis's own start costs little.
CHUNK = 200
PROBES = 60  # schedules of a group that are looked at; the group suits if one of them does
_EVERY_CHECK = tuple(HealthCheck)
# Further apart than chunks, and than seeds, are counted.
_NEXT_SEED, _NEXT_DRAW = 1_000_003, 1 << 80
# Why an implementation cannot be asked to take part in a run of the schedule, or None.
WhyNot: TypeAlias = Callable[[Schedule], str | None]


@dataclass(frozen=True, slots=True)
class Suited:
    """The schedules of a protocol that an implementation can take: those of `groups` for which `why_not` returns
    None."""

    groups: tuple[int, ...]
    why_not: WhyNot


def suited(protocol: str, why_not: WhyNot) -> Suited:
    """The groups with a schedule that suits. Raises BadInput, with the most common reason, when there is none."""
    reasons: Counter[str] = Counter()
    groups: list[int] = []
    for group in range(len(load(protocol).groups)):
        said = [why_not(schedule) for schedule in _chunk(protocol, group, 0, PROBES)]
        reasons.update(reason for reason in said if reason is not None)
        if None in said:
            groups.append(group)
    if not groups:
        ((reason, count),) = reasons.most_common(1)
        raise BadInput(
            f"no schedule that is drawn for {protocol} suits this implementation; of {reasons.total()} tried, {count}"
            f" do not because {reason}"
        )
    return Suited(tuple(groups), why_not)


def drawn_schedules(
    protocol: str, seed_number: int, group: int | None = None, suits: Suited | None = None
) -> Iterator[Schedule]:
    """Schedules of `protocol` without end, of one group of its rules or of all in turn, drawn in chunks; the first of
    each chunk is a simplest one. suits: these alone, when `group` is None."""
    if group is None:
        return chain.from_iterable(drawn_chunk(protocol, seed_number, chunk, suits) for chunk in count())
    chunks = (_chunk(protocol, group, _seed_of(seed_number, chunk), CHUNK) for chunk in count())
    return chain.from_iterable(chunks)


def drawn_chunk(protocol: str, seed_number: int, chunk: int, suits: Suited | None = None) -> list[Schedule]:
    """The `chunk_size` schedules of one chunk, of all groups in turn."""
    groups = _groups(protocol, suits)
    each = CHUNK // len(groups)
    in_turn = [_suited_chunk(protocol, group, _seed_of(seed_number, chunk), each, suits) for group in groups]
    return list(chain.from_iterable(zip(*in_turn, strict=True)))


def chunk_size(protocol: str, suits: Suited | None = None) -> int:
    groups = len(_groups(protocol, suits))
    return CHUNK // groups * groups


def _groups(protocol: str, suits: Suited | None) -> Sequence[int]:
    return range(len(load(protocol).groups)) if suits is None else suits.groups


def _suited_chunk(protocol: str, group: int, number: int, size: int, suits: Suited | None) -> list[Schedule]:
    """The first `size` schedules that suit, from as many draws as needed; one draw without `suits`."""
    found: list[Schedule] = []
    for again in count():
        drawn = _chunk(protocol, group, number + again * _NEXT_DRAW, size)
        found += drawn if suits is None else [schedule for schedule in drawn if suits.why_not(schedule) is None]
        if suits is None or len(found) >= size:
            break
    return found[:size]


def _seed_of(seed_number: int, chunk: int) -> int:
    return seed_number * _NEXT_SEED + chunk


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
