"""PS-CONFIG, PS-MULTIPATH: configurations are told apart by their ids, for any number of management nodes, and copies
by their numbers, for any number of paths.

TLA+: ``Unused`` and ``WhenEqual`` of Configuration, ``NotBefore`` and ``HigherAlone`` of Multipath.
"""

from __future__ import annotations

from collections.abc import Iterable

import z3

from scatterproof.models.claim import Claim, Obligation, Rules, mutant
from scatterproof.models.pubsub.rules import rules
from scatterproof.models.symbolic import lift

PATH = z3.DeclareSort("Path")


def _ids(using: Rules) -> Iterable[Obligation]:
    """Two configurations, of one manager or of two. made, own: how many all managers, and its own manager, had made up
    to then."""
    new_id, skips = lift(using["new_id"]), lift(using["skips_transfer"])
    made, made_later, own, own_later = z3.Ints("made made_later own own_later")
    same_manager = z3.Bool("same_manager")
    hypotheses = (own >= 0, own <= made, own_later >= 0, own_later <= made_later, made < made_later)
    counted = (*hypotheses, z3.Implies(same_manager, own < own_later))
    earlier, later = new_id(made, own), new_id(made_later, own_later)
    show = {"made": made, "made later": made_later, "own": own, "own later": own_later, "one manager": same_manager}
    yield Obligation(
        "the_later_one_is_transferred_to_who_keeps_the_earlier", counted, z3.Not(skips(earlier, later)), show=show
    )
    yield Obligation("and_the_earlier_one_to_who_keeps_the_later", counted, z3.Not(skips(later, earlier)), show=show)
    yield Obligation("the_same_is_not_transferred_again", counted, skips(later, later), show=show)


def _copies(using: Rules) -> Iterable[Obligation]:
    """come: by path, the highest number that has arrived on it. passed: the highest number passed on."""
    is_first = lift(using["is_first_copy"])
    come = z3.Function("come", PATH, z3.IntSort())
    path, source = z3.Consts("path source", PATH)
    passed = z3.Int("passed")
    known = (z3.ForAll([path], z3.And(come(path) >= 0, come(path) <= passed)),)
    number = come(source) + 1
    first = is_first(number, passed)
    now = z3.If(first, number, passed)
    show = {"number": number, "passed": passed}
    yield Obligation("what_is_passed_on_is_the_next_one", known, z3.Implies(first, number == passed + 1), show=show)
    yield Obligation("what_comes_has_been_passed_on", known, number <= now, show=show)
    yield Obligation("and_what_came_by_other_paths_stays_so", known, come(path) <= now, show=show)
    yield Obligation("a_second_copy_is_dropped", (*known, come(path) >= number), z3.Not(first), show=show)


CLAIMS = (
    Claim(
        name="configuration_has_id",
        scope="any number of management nodes and configurations, two at a time",
        clauses=("PS-CONFIG",),
        sentence="Where ids are those of all configurations that anybody made, a transfer is skipped for the same "
        "configuration alone, be another one earlier or later.",
        hypotheses=("Managers know how many configurations there were.",),
        rules=rules("new_id", "skips_transfer"),
        obligations=_ids,
        mutants=(
            mutant("own_count", "Each manager counts its own.", new_id=lambda made, own: own + 1),
            mutant("one_for_all", "The id never changes.", new_id=lambda made, own: 1),
            mutant("not_older", "What is older is skipped.", skips_transfer=lambda kept, theirs: kept >= theirs),
            mutant("never_skipped", "All is transferred.", skips_transfer=lambda kept, theirs: False),
        ),
    ),
    Claim(
        name="first_of_paths_wins",
        scope="one appliance, any number of paths to it, by induction over what comes",
        clauses=("PS-MULTIPATH",),
        sentence="What is passed on is in sequence without gap or repeat, and all that came on any path has been.",
        hypotheses=("On each path messages come in sequence: whoever is at its beginning passes them on so.",),
        rules=rules("is_first_copy"),
        obligations=_copies,
        mutants=(
            mutant(
                "not_the_last", "All but the last is passed on.", is_first_copy=lambda number, passed: number != passed
            ),
            mutant(
                "the_last_too", "The last is passed on again.", is_first_copy=lambda number, passed: number >= passed
            ),
            mutant("none", "Nothing is passed on.", is_first_copy=lambda number, passed: False),
        ),
    ),
)
