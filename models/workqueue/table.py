"""A table of any number of groups, as functions over an uninterpreted sort, and what a search finds in it.

Rules are handed in (`rules.py`). A table of the TLA+ module is one of these in which the sort has as many members as
groups were ever begun.
"""

from __future__ import annotations

from dataclasses import dataclass

import z3

from scatterproof.models.claim import Rules
from scatterproof.models.symbolic import lift

GROUP = z3.DeclareSort("Group")


@dataclass(frozen=True, slots=True)
class GroupTable:
    """there: whether a group is in the table.
    sending, receiving: whether it is locked so; the others never change.
    waits, last: whether it waits for the last group of its correlation, or is marked as that.
    """

    there: z3.FuncDeclRef
    sending: z3.FuncDeclRef
    receiving: z3.FuncDeclRef
    correlation: z3.FuncDeclRef
    priority: z3.FuncDeclRef
    place: z3.FuncDeclRef
    waits: z3.FuncDeclRef
    last: z3.FuncDeclRef

    def related(self, group: z3.ExprRef, other: z3.ExprRef) -> z3.BoolRef:
        """Both are in the table, and of one correlation."""
        return z3.And(self.there(group), self.there(other), self.correlation(group) == self.correlation(other))


def table(name: str = "") -> GroupTable:
    """An arbitrary table. Tables of two names are two states of one queue: they share what never changes."""

    def truth(what: str) -> z3.FuncDeclRef:
        return z3.Function(f"{what}{name}", GROUP, z3.BoolSort())

    numbers = (z3.Function(what, GROUP, z3.IntSort()) for what in ("correlation", "priority", "place"))
    marks = (z3.Function(what, GROUP, z3.BoolSort()) for what in ("waits", "last"))
    return GroupTable(truth("there"), truth("sending"), truth("receiving"), *numbers, *marks)


def groups(names: str) -> list[z3.ExprRef]:
    return list(z3.Consts(names, GROUP))


def places_differ(of: GroupTable) -> z3.BoolRef:
    g, h = groups("one other")
    return z3.ForAll([g, h], z3.Implies(of.place(g) == of.place(h), g == h))


def one_lock(of: GroupTable) -> z3.BoolRef:
    """A group has one lock at the most, and only while it is in the table."""
    (g,) = groups("one")
    locked = z3.Or(of.sending(g), of.receiving(g))
    both = z3.And(of.sending(g), of.receiving(g))
    return z3.ForAll([g], z3.And(z3.Implies(locked, of.there(g)), z3.Not(both)))


def one_mark(of: GroupTable) -> z3.BoolRef:
    """No group that is marked as the last waits for one."""
    (g,) = groups("one")
    return z3.ForAll([g], z3.Not(z3.And(of.waits(g), of.last(g))))


def ready(of: GroupTable, using: Rules, group: z3.ExprRef) -> z3.BoolRef:
    """By the rules, the group may be handed out."""
    is_first, is_ready = lift(using["is_first"]), lift(using["is_ready"])
    (h,) = groups("another")
    first = z3.ForAll([h], z3.Implies(of.related(group, h), is_first(of.place(group), of.place(h))))
    received = z3.Exists([h], z3.And(of.related(group, h), of.receiving(h)))
    # A rule runs on terms without quantifiers: both answers are tried, and the one that holds is taken.
    allowed = z3.If(
        received, is_ready(of.sending(group), z3.BoolVal(True)), is_ready(of.sending(group), z3.BoolVal(False))
    )
    if "is_complete" not in using:  # a hypothesis of the claim: no group waits
        return z3.And(of.there(group), first, allowed)
    is_complete = lift(using["is_complete"])
    came = z3.Exists([h], z3.And(of.related(group, h), of.last(h), z3.Not(of.sending(h))))
    whole = z3.If(came, is_complete(of.waits(group), z3.BoolVal(True)), is_complete(of.waits(group), z3.BoolVal(False)))
    return z3.And(of.there(group), first, allowed, whole)


def found(of: GroupTable, using: Rules, group: z3.ExprRef) -> z3.BoolRef:
    """By the rules, the search gives this group: it is ready, and goes before all others that are."""
    precedes = lift(using["precedes"])
    (h,) = groups("competing")
    before = precedes(of.priority(group), of.place(group), of.priority(h), of.place(h))
    return z3.And(ready(of, using, group), z3.ForAll([h], z3.Implies(z3.And(ready(of, using, h), h != group), before)))


def received_is_first(of: GroupTable) -> z3.BoolRef:
    """What is locked for receiving is the first group of its correlation."""
    g, h = groups("held later")
    return z3.ForAll([g, h], z3.Implies(z3.And(of.receiving(g), of.related(g, h)), of.place(g) <= of.place(h)))


def one_received(of: GroupTable) -> z3.BoolRef:
    """Of one correlation one group is locked for receiving, at the most."""
    g, h = groups("held held_too")
    both = z3.And(of.receiving(g), of.receiving(h), of.correlation(g) == of.correlation(h))
    return z3.ForAll([g, h], z3.Implies(both, g == h))
