"""TO-BAR-MIN over any number of links, as a relation on the value that a switch sends; and the wrong ones that must be
refuted.

`minimum_of` is the rule ``aggregate`` where links cannot be listed; each mutant replaces both, so that the proofs over
any network and the runs on a small one speak of the same mistake. ``forgotten`` is an arbitrary link, for the mutant
that needs one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import z3

from scatterproof.models.claim import mutant
from scatterproof.models.totalorder.barriers import network
from scatterproof.models.totalorder.barriers.network import LINK

Newest = Callable[[Any], Any]


def minimum_of(value: Any, newest: Newest, counts: network.Links, forgotten: Any) -> z3.BoolRef:
    """``value`` is the least of the newest barriers of the links that count: the rule ``aggregate`` for any number of
    links.
    """
    i = z3.Const("i", LINK)
    return z3.And(
        z3.Exists([i], z3.And(counts(i), newest(i) == value)),
        z3.ForAll([i], z3.Implies(counts(i), value <= newest(i))),
    )


def may_go_on(timestamp: Any, promised: Any) -> Any:
    """A scattering may send further messages while no barrier strictly above its timestamp was promised."""
    return promised <= timestamp


def _maximum_of(value: Any, newest: Newest, counts: network.Links, forgotten: Any) -> z3.BoolRef:
    i = z3.Const("i", LINK)
    return z3.And(
        z3.Exists([i], z3.And(counts(i), newest(i) == value)),
        z3.ForAll([i], z3.Implies(counts(i), value >= newest(i))),
    )


def _without_one(value: Any, newest: Newest, counts: network.Links, forgotten: Any) -> z3.BoolRef:
    return minimum_of(value, newest, lambda i: z3.And(counts(i), i != forgotten), forgotten)


def _without_silent(value: Any, newest: Newest, counts: network.Links, forgotten: Any) -> z3.BoolRef:
    return minimum_of(value, newest, lambda i: z3.And(counts(i), newest(i) != 0), forgotten)


def _one_above_minimum(value: Any, newest: Newest, counts: network.Links, forgotten: Any) -> z3.BoolRef:
    return minimum_of(value - 1, newest, counts, forgotten)


def at_most_minimum(value: Any, newest: Newest, counts: network.Links, forgotten: Any) -> z3.BoolRef:
    i = z3.Const("i", LINK)
    return z3.And(value >= 0, z3.ForAll([i], z3.Implies(counts(i), value <= newest(i))))


def _drop_first(barriers: Sequence[int]) -> int:
    return min(barriers[1:] or barriers)


def _ignore_zero(barriers: Sequence[int]) -> int:
    return min(tuple(b for b in barriers if b != 0) or barriers)


def least_less_one(barriers: Sequence[int]) -> int:
    return max(min(barriers) - 1, 0)


MAX_FOR_MIN = mutant("max_for_min", "The greatest of the newest barriers.", minimum_of=_maximum_of, aggregate=max)
FORGOTTEN_LINK = mutant(
    "forgotten_link", "One reaching link is left out of the minimum.", minimum_of=_without_one, aggregate=_drop_first
)
SILENT_LINK_IGNORED = mutant(
    "silent_link_ignored",
    "A link that has not spoken does not hold the minimum down.",
    minimum_of=_without_silent,
    aggregate=_ignore_zero,
)
PLUS_ONE = mutant(
    "minimum_plus_one",
    "One above the minimum.",
    minimum_of=_one_above_minimum,
    aggregate=lambda barriers: min(barriers) + 1,
)
STALE = mutant(
    "stale_register",
    "Any value at or below the minimum, as from a register not yet updated: safe, but not the minimum.",
    minimum_of=at_most_minimum,
    aggregate=least_less_one,
)
