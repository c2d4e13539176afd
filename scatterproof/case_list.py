"""The cases without running them: what there is, and which would be given to an implementation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from scatterproof import iuts
from scatterproof.conformance.case import Claims
from scatterproof.conformance.profile import needed
from scatterproof.conformance.protocol import Case
from scatterproof.console import CANNOT_RUN, OK, out, print_json, print_table
from scatterproof.spec import clauses
from scatterproof.spec.clauses import Catalogue
from scatterproof.spec.schedule import Schedule


def show_list(protocol: str, selected: Sequence[Case], claims: Claims, *, as_json: bool) -> None:
    """The cases by clause: how strongly it binds, what is done, and what a case needs. The text leaves out what is not
    claimed; the JSON says why."""
    catalogue = clauses.load(protocol)
    if as_json:
        print_json([_plain(case, claims, catalogue) for case in selected])
        return
    given = [case for case in selected if claims.why_not(case) is None]
    before = ""
    for case in _by_clause(given):
        if case.clause != before:
            clause = catalogue.clause(before := case.clause)
            _say(f"{clause.id} {clause.name} ({clause.level})")
        _say(f"  {case.id}  [{', '.join(_needs(case.schedule))}]")
        _say(f"    When {case.stimulus}, it {case.duty}.")
    if len(given) < len(selected):
        _say(f"{len(selected) - len(given)} more are not claimed; --dry-run says why")


def dry_run(iut: str, selected: Sequence[Case], claims: Claims, *, as_json: bool) -> int:
    """Show which cases would run, and which not and why. Returns the exit code, which is OK only if some would."""
    rows = [_plan(iut, case, claims) for case in selected]
    count = Counter(row["plan"] for row in rows)
    if as_json:
        print_json({"iut": iut, "counts": count, "cases": rows})
    else:
        cells = [(row["id"], row["plan"], row["why"]) for row in rows]
        print_table(f"What would run on {iut}", ("case", "plan", "why"), cells)
        _say(", ".join(f"{number} {what}" for what, number in count.most_common()))
    return OK if count["run"] else CANNOT_RUN


def _plan(iut: str, case: Case, claims: Claims) -> dict[str, str]:
    plan, why = "run", claims.foreign(case.clause)
    if (unclaimed := claims.why_not(case)) is not None:
        plan, why = "not applicable", unclaimed
    elif (impossible := iuts.why_not(iut, case.schedule)) is not None:
        plan, why = "not run", impossible
    elif why:
        why = f"but its pass would be not applicable: {why}"
    return {"id": case.id, "address": case.address, "plan": plan, "why": why}


def _plain(case: Case, claims: Claims, catalogue: Catalogue) -> dict[str, Any]:
    return {
        "id": case.id,
        "address": case.address,
        "clause": case.clause,
        "level": catalogue.clause(case.clause).level,
        "stimulus": case.stimulus,
        "duty": case.duty,
        "seed": case.schedule.seed,
        "needs": {
            "nodes": Counter(node.role for node in case.schedule.topology.nodes),
            "parameters": needed(case.schedule),
            "faults": Counter(fault.kind for fault in case.schedule.faults),
            "failures": Counter(failure.kind for failure in case.schedule.failures),
        },
        "not_applicable": claims.why_not(case),
    }


def _needs(schedule: Schedule) -> Iterator[str]:
    """In short: nodes, parameters that are no times, and what befalls packets, nodes and links."""
    for role, count in Counter(node.role for node in schedule.topology.nodes).items():
        yield f"{role} x{count}" if count > 1 else role
    yield from (f"{name}={value}" for name, value in needed(schedule).items() if not name.endswith("_ns"))
    yield from (f"{count} {kind}" for kind, count in Counter(fault.kind for fault in schedule.faults).items())
    yield from dict.fromkeys(failure.kind for failure in schedule.failures)


def _by_clause(selected: Sequence[Case]) -> list[Case]:
    """Cases of one clause together, clauses in the order in which they come up."""
    first: dict[str, int] = {}
    for case in selected:
        first.setdefault(case.clause, len(first))
    return sorted(selected, key=lambda case: first[case.clause])


def _say(sentence: str) -> None:
    out.print(sentence, markup=False, highlight=False, soft_wrap=True)
