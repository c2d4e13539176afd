"""The tables of core mutants, and of judge mutants: by area, and of those that survive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scatterproof.fuzz.core_mutants import CoreMutant, within
from scatterproof.fuzz.mutant_rates import Rate
from scatterproof.fuzz.survivors import SurvivorEntry, SurvivorStanding
from scatterproof.fuzz.trying import Branches, Tried, TriedOutcome

UNKNOWN = "not looked at"
SURVIVOR_COLUMNS = ("mutant", "standing", "change", "reached by")
BRANCH_COLUMNS = ("place", "line", "branch", "reached by")
_BY = {
    TriedOutcome.BY_CLAUSE: "by a clause",
    TriedOutcome.BY_IDLENESS: "by an idle case",
    TriedOutcome.BY_CRASH: "by a crash",
    TriedOutcome.BY_WORDS: "by words",
    TriedOutcome.BY_DAMAGE: "by a damaged run",
}
_OF_JUDGES = (TriedOutcome.BY_WORDS, TriedOutcome.BY_DAMAGE)


def _outcomes(by_area: Sequence[Rate]) -> list[TriedOutcome]:
    """The outcomes that have a column. Those of judges alone have one only where they killed some."""
    return [one for one in _BY if one not in _OF_JUDGES or any(rate.by[one] for rate in by_area)]


def area_columns(by_area: Sequence[Rate]) -> tuple[str, ...]:
    by = (_BY[outcome] for outcome in _outcomes(by_area))
    return ("area", "mutants", *by, *SurvivorStanding, UNKNOWN, "killed of those that can be told", "95 % interval")


def area_rows(by_area: Sequence[Rate]) -> list[tuple[object, ...]]:
    return [
        (
            rate.area,
            rate.mutants,
            *(rate.by[outcome] for outcome in _outcomes(by_area)),
            *(rate.standings[standing] for standing in SurvivorStanding),
            len(rate.fresh),
            f"{rate.rate:.1%}",
            "{:.1%} to {:.1%}".format(*rate.bounds),
        )
        for rate in by_area
    ]


def survivor_rows(
    found: Sequence[Tried], mutants: Mapping[str, CoreMutant], known: Mapping[str, SurvivorEntry]
) -> list[tuple[object, ...]]:
    """Rows of the survivors that something should kill, with what they change."""
    rows: list[tuple[object, ...]] = []
    for one in found:
        entry = known.get(one.mutant)
        if one.killed or (entry is not None and entry.standing is not SurvivorStanding.OPEN):
            continue
        mutant = mutants[one.mutant]
        change = f"line {mutant.line}: {_line(mutant.before)} -> {_line(mutant.after)}"
        reached = f"{one.reached}, {one.differing} differ" if one.reached else "nothing"
        rows.append((one.mutant, entry.standing if entry is not None else UNKNOWN, change, reached))
    return rows


def _line(text: str) -> str:
    first, *more = text.splitlines()
    return f"{first} ..." if more else first


def branch_rows(branches: Branches) -> list[tuple[object, ...]]:
    """Rows of the branches that no drawn schedule reaches."""
    told = {**dict.fromkeys(branches.missed, "nothing"), **dict.fromkeys(branches.not_by_schedules, "cases alone")}
    return [(within(block.place), block.line, block.way, by) for block, by in told.items()]


def branch_sentence(branches: Branches) -> str:
    return (
        f"{branches.of} branches of the cores: cases reach {branches.by_cases},"
        f" drawn schedules {branches.by_schedules}, neither {len(branches.missed)}"
    )
