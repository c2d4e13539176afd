"""Q-NEXT, Q-PRIORITY, Q-ORDER-CORR, Q-CORR-LAST: the selection of the next group, for any table.

TLA+: ``Found``, ``Listed``, ``Before``, ``Skips``. The table is any number of groups of any number of correlations.
"""

from __future__ import annotations

from collections.abc import Iterable

import z3

from scatterproof.models.claim import Claim, Obligation, Rules, mutant
from scatterproof.models.symbolic import lift
from scatterproof.models.workqueue.rules import rules
from scatterproof.models.workqueue.table import (
    GROUP,
    GroupTable,
    found,
    groups,
    one_lock,
    one_mark,
    one_received,
    places_differ,
    ready,
    received_is_first,
    table,
)

_PLACES = "No two groups have one place."
_NONE_WAITS = "No group waits for the last one of its correlation."  # with such groups Z3 does not decide these claims
_ONE_LOCK = "A group has one lock at the most, and only while it is in the table."
_SCOPE = "any table: any number of groups and correlations"


def _told(of: GroupTable, **named: z3.ExprRef) -> dict[str, z3.ExprRef]:
    """What a counterexample shows of these groups."""
    parts = {"correlation": of.correlation, "priority": of.priority, "place": of.place}
    return {f"{what} of {name}": part(group) for name, group in named.items() for what, part in parts.items()}


def _deterministic(using: Rules) -> Iterable[Obligation]:
    now = table()
    g, h = groups("first second")
    yield Obligation(
        "two_searches_of_one_table_find_one_group",
        (places_differ(now), found(now, using, g), found(now, using, h)),
        g == h,
        show=_told(now, first=g, second=h),
    )


def _total(using: Rules) -> Iterable[Obligation]:
    """A finite set in which one comes first, and one more group: by induction, one comes first in any that is not
    empty."""
    now = table()
    precedes = lift(using["precedes"])
    inside = z3.Function("inside", GROUP, z3.BoolSort())
    best, new, h = groups("best new h")

    def before(a: z3.ExprRef, b: z3.ExprRef) -> z3.BoolRef:
        return z3.Or(a == b, precedes(now.priority(a), now.place(a), now.priority(b), now.place(b)))

    def comes_first(a: z3.ExprRef) -> z3.BoolRef:
        return z3.ForAll([h], z3.Implies(z3.Or(inside(h), h == new), before(a, h)))

    yield Obligation(
        "with_one_more_group_one_comes_first",
        (places_differ(now), inside(best), z3.ForAll([h], z3.Implies(inside(h), before(best, h)))),
        z3.Or(comes_first(best), comes_first(new)),
        show=_told(now, best=best, new=new),
    )
    yield Obligation(
        "the_first_of_a_free_correlation_may_be_handed_out",
        (places_differ(now), one_lock(now), *_heads(now, best)),
        ready(now, using, best),
        show=_told(now, best=best),
    )


def _heads(of: GroupTable, group: z3.ExprRef) -> tuple[z3.BoolRef, ...]:
    """As the clause has it: ended, the first of its correlation, none of which is locked for receiving."""
    (h,) = groups("of_its_correlation")
    related = of.related(group, h)
    first = z3.Implies(related, z3.And(z3.Not(of.receiving(h)), z3.Or(h == group, of.place(group) < of.place(h))))
    return of.there(group), z3.Not(of.sending(group)), z3.ForAll([h], first)


def _last_came(of: GroupTable, group: z3.ExprRef) -> z3.BoolRef:
    """Where the group waits, one behind it that is marked as the last of the correlation is ended."""
    (h,) = groups("the_last")
    behind = z3.And(of.related(group, h), of.place(group) < of.place(h))
    return z3.Implies(of.waits(group), z3.Exists([h], z3.And(behind, of.last(h), z3.Not(of.sending(h)))))


def _what_is_found_is_ready(using: Rules) -> Iterable[Obligation]:
    now = table()
    (g,) = groups("g")
    yield Obligation(
        "it_is_ended_and_the_first_of_a_free_correlation",
        (places_differ(now), one_lock(now), found(now, using, g)),
        z3.And(*_heads(now, g)),
        show=_told(now, found=g),
    )


def _last_frees(using: Rules) -> Iterable[Obligation]:
    now = table()
    (g,) = groups("g")
    yield Obligation(
        "what_waits_is_found_when_the_last_one_is_ended",
        (places_differ(now), one_mark(now), found(now, using, g)),
        _last_came(now, g),
        show=_told(now, found=g),
    )


def _highest(using: Rules) -> Iterable[Obligation]:
    now = table()
    g, h = groups("g h")
    lower = z3.Or(
        now.priority(g) < now.priority(h),
        z3.And(now.priority(g) == now.priority(h), now.place(g) <= now.place(h)),
    )
    yield Obligation(
        "nothing_that_is_ready_is_higher_or_as_high_and_earlier",
        (places_differ(now), one_lock(now), found(now, using, g), *_heads(now, h)),
        lower,
        show=_told(now, found=g, ready=h),
    )


def _locked(of: GroupTable, after: GroupTable, group: z3.ExprRef) -> z3.BoolRef:
    """The step that locks the group, and nothing else."""
    (h,) = groups("h")
    same = z3.And(after.there(h) == of.there(h), after.sending(h) == of.sending(h))
    return z3.ForAll([h], z3.And(same, after.receiving(h) == z3.Or(of.receiving(h), h == group)))


def _in_order(using: Rules) -> Iterable[Obligation]:
    now, after = table(), table("_after")
    (g,) = groups("g")
    invariant = (places_differ(now), one_lock(now), received_is_first(now), one_received(now))
    yield Obligation(
        "locking_what_was_found_keeps_one_group_of_a_correlation_and_the_order",
        (*invariant, found(now, using, g), _locked(now, after, g)),
        z3.And(received_is_first(after), one_received(after)),
        show=_told(now, found=g),
    )
    h, k = groups("h k")
    # What happens meanwhile: groups go, begin behind all others, and are locked and released; the order is kept.
    meanwhile = z3.ForAll(
        [h, k],
        z3.Implies(
            z3.And(after.there(h), z3.Not(now.there(h)), now.there(k)),
            now.place(h) > now.place(k),
        ),
    )
    later = table("_later")
    still = (after.there(g), z3.Not(after.sending(g)), z3.Not(after.receiving(g)))
    kept = (one_lock(after), received_is_first(after), one_received(after))
    yield Obligation(
        "so_does_locking_what_was_found_in_an_older_table",
        (*invariant, found(now, using, g), meanwhile, *kept, *still, _locked(after, later, g)),
        z3.And(received_is_first(later), one_received(later)),
        show=_told(now, found=g),
    )


_ANY = mutant(
    "any_of_the_correlation",
    "The literal list of figure 3: every group of a free correlation is on it.",
    is_first=lambda place, other: True,
)
_LATEST = mutant("the_latest", "The latest group of a correlation.", is_first=lambda place, other: place >= other)
_SEND_LOCKED_TOO = mutant(
    "send_locks_unseen",
    "Send locks are not looked at.",
    is_ready=lambda send_locked, receive_locked: not receive_locked,
)
_RECEIVE_LOCKED_TOO = mutant(
    "receive_locks_unseen",
    "Receive locks are not looked at.",
    is_ready=lambda send_locked, receive_locked: not send_locked,
)
_BY_PLACE = mutant(
    "by_position",
    "The list of figure 3, sorted by position first.",
    precedes=lambda priority, place, other_priority, other_place: place < other_place,
)
_PRIORITY_ALONE = mutant(
    "by_priority_alone",
    "Of groups with one priority any may be first.",
    precedes=lambda priority, place, other_priority, other_place: priority <= other_priority,
)
_STRICT_PRIORITY = mutant(
    "strictly_by_priority",
    "Groups with one priority are not told apart.",
    precedes=lambda priority, place, other_priority, other_place: priority < other_priority,
)

_NEVER_WAITS = mutant("nothing_waits", "Marks are not looked at.", is_complete=lambda waits, last_came: True)

_SELECTION = ("is_first", "is_ready", "precedes")
_ONE_MARK = "No group that is marked as the last waits for one."

CLAIMS = (
    Claim(
        name="one_group_is_found",
        scope=_SCOPE,
        clauses=("Q-NEXT", "Q-PRIORITY"),
        sentence="Two searches of one table find the same group: the selection is deterministic.",
        hypotheses=(_PLACES, _NONE_WAITS),
        rules=rules(*_SELECTION),
        obligations=_deterministic,
        mutants=(_PRIORITY_ALONE,),
    ),
    Claim(
        name="some_group_is_found",
        scope="any finite table, by induction over its groups",
        clauses=("Q-NEXT",),
        sentence="Where a group is ready, one is found: the selection is total.",
        hypotheses=(_PLACES, _NONE_WAITS, _ONE_LOCK),
        rules=rules(*_SELECTION),
        obligations=_total,
        mutants=(_STRICT_PRIORITY, _LATEST),
    ),
    Claim(
        name="ready_is_handed_out",
        scope=_SCOPE,
        clauses=("Q-NEXT", "Q-LOCK-SEND"),
        sentence="What is found is ended, the first of its correlation, and none of its correlation is locked for "
        "receiving.",
        hypotheses=(_PLACES, _NONE_WAITS, _ONE_LOCK),
        rules=rules(*_SELECTION),
        obligations=_what_is_found_is_ready,
        mutants=(_ANY, _LATEST, _SEND_LOCKED_TOO, _RECEIVE_LOCKED_TOO),
    ),
    Claim(
        name="last_group_frees_correlation",
        scope=_SCOPE,
        clauses=("Q-CORR-LAST",),
        sentence="Where what is found waits for the last group of its correlation, one that is marked so and has a "
        "place behind it is ended.",
        hypotheses=(_PLACES, _ONE_MARK),
        rules=rules(*_SELECTION, "is_complete"),
        obligations=_last_frees,
        mutants=(_NEVER_WAITS,),
    ),
    Claim(
        name="highest_priority_first",
        scope=_SCOPE,
        clauses=("Q-PRIORITY",),
        sentence="No group that is ready has a higher priority than the one found, or the same and an earlier place.",
        hypotheses=(_PLACES, _NONE_WAITS, _ONE_LOCK),
        rules=rules(*_SELECTION),
        obligations=_highest,
        mutants=(_BY_PLACE, _PRIORITY_ALONE),
    ),
    Claim(
        name="correlation_in_order",
        scope=f"{_SCOPE}, by induction over the locks",
        clauses=("Q-ORDER-CORR", "Q-NEXT"),
        sentence="Of a correlation one group is locked for receiving at a time, and it is the first of those in the "
        "table; also where it was found in an older table, if it is not locked when it is locked.",
        hypotheses=(
            _PLACES,
            _NONE_WAITS,
            "It is so before.",
            "Between the older table and the locking groups go, and those that begin have places behind all others.",
        ),
        rules=rules(*_SELECTION),
        obligations=_in_order,
        mutants=(_ANY, _LATEST),
    ),
)
