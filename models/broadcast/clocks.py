"""BC-LCB-CAUSAL, BC-LCB-LOCAL, BC-LCB-FIFO, BC-LCB-CLOCKS: the test of causal delivery, for any number of processes.

TLA+: ``MayDeliver``, ``Attached``, ``CountsDelivery``. Processes are an uninterpreted sort. ``clock(c, n, q)`` is entry
q of the clock of message n of process c, any number, except that the creator's own entry follows the rule. A receiver
has delivered the first ``vector(q)`` messages of each q; that this stays so is itself an obligation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import z3

from scatterproof.models.broadcast.rules import rules
from scatterproof.models.claim import Obligation, Rules, claim, mutant
from scatterproof.models.symbolic import lift

PROCESS = z3.DeclareSort("Process")
_clock = z3.Function("clock", PROCESS, z3.IntSort(), PROCESS, z3.IntSort())
_vector = z3.Function("vector", PROCESS, z3.IntSort())

Vector = Callable[[z3.ExprRef], z3.ArithRef]


def _passes(using: Rules, creator: z3.ExprRef, number: z3.ArithRef, vector: Vector) -> z3.BoolRef:
    """Whether every entry of the message's clock is reached."""
    reached = lift(using["reached"])
    q = z3.Const("q_of_the_test", PROCESS)
    return z3.ForAll([q], reached(_clock(creator, number, q), vector(q)))


def _well_made(using: Rules) -> tuple[z3.BoolRef, ...]:
    """Clocks count messages, and own entries are as the rule has them."""
    own = lift(using["own_entry"])
    c, q, n = z3.Const("c_made", PROCESS), z3.Const("q_made", PROCESS), z3.Int("n_made")
    return (
        z3.ForAll([c, n, q], z3.Implies(n >= 1, _clock(c, n, q) >= 0)),
        z3.ForAll([c, n], z3.Implies(n >= 1, _clock(c, n, c) == own(n - 1)), patterns=[_clock(c, n, c)]),
        z3.ForAll([q], _vector(q) >= 0),
    )


def _closed(vector: Vector) -> z3.BoolRef:
    """Whatever is delivered, all that its clock counts is delivered."""
    c, q, n = z3.Const("c_closed", PROCESS), z3.Const("q_closed", PROCESS), z3.Int("n_closed")
    return z3.ForAll([c, n, q], z3.Implies(z3.And(n >= 1, n <= vector(c)), _clock(c, n, q) <= vector(q)))


def _message() -> tuple[z3.ExprRef, z3.ArithRef, dict[str, z3.ExprRef]]:
    creator, number = z3.Const("creator", PROCESS), z3.Int("number")
    show = {
        "number": number,
        "own entry": _clock(creator, number, creator),
        "delivered of its creator": _vector(creator),
    }
    return creator, number, show


_ONE_SHORT = mutant(
    "one_short",
    "One message of each process may be missing.",
    reached=lambda entry, deliveries: entry <= deliveries + 1,
)


@claim(
    scope="any number of processes, by induction",
    clauses=("BC-LCB-CAUSAL",),
    hypotheses=("Of each process a first part of its messages is delivered.",),
    rules=rules("reached", "own_entry"),
    mutants=(
        _ONE_SHORT,
        mutant("not_looked_at", "The clock is not looked at.", reached=lambda entry, deliveries: entry >= 0),
    ),
)
def dependencies_first(using: Rules) -> Iterable[Obligation]:
    """A message that passes the test has all that its clock counts delivered before it, and so, step by step, has
    whatever that depended on."""
    creator, number, show = _message()
    other, earlier = z3.Const("other", PROCESS), z3.Int("earlier")
    passed = (*_well_made(using), number >= 1, _passes(using, creator, number, _vector))
    counted = z3.And(earlier >= 1, earlier <= _clock(creator, number, other))
    yield Obligation(
        "what_the_clock_counts_is_delivered",
        (*passed, counted),
        earlier <= _vector(other),
        {**show, "counted": earlier, "delivered of that process": _vector(other)},
    )
    yield Obligation(
        "deliveries_stay_closed",
        (*passed, number == _vector(creator) + 1, _closed(_vector)),
        _closed(lambda q: z3.If(q == creator, _vector(q) + 1, _vector(q))),
        show,
    )


@claim(
    scope="any number of processes",
    clauses=("BC-LCB-FIFO", "BC-FIFO-ORDER"),
    hypotheses=("The own entry counts the creator's earlier messages.",),
    rules=rules("reached", "own_entry"),
    mutants=(
        _ONE_SHORT,
        mutant(
            "own_not_counted",
            "Own messages that are not delivered yet are not told apart.",
            own_entry=lambda earlier: 0,
        ),
    ),
)
def fifo_without_dependencies(using: Rules) -> Iterable[Obligation]:
    """A message that passes the test is the next of its creator, if it was not delivered before."""
    creator, number, show = _message()
    yield Obligation(
        "what_passes_is_the_next_or_was_delivered",
        (*_well_made(using), number >= 1, _passes(using, creator, number, _vector)),
        number <= _vector(creator) + 1,
        show,
    )


@claim(
    scope="any number of processes",
    clauses=("BC-LCB-LOCAL", "BC-LCB-CHECK"),
    hypotheses=("The own entry counts the creator's earlier messages.",),
    rules=rules("reached", "own_entry"),
    mutants=(
        mutant("exactly", "The entry must be met exactly.", reached=lambda entry, deliveries: entry == deliveries),
        mutant(
            "one_too_many",
            "One more than the entry must be delivered.",
            reached=lambda entry, deliveries: entry < deliveries,
        ),
        mutant(
            "counted_first",
            "The clock is attached after the message itself was counted: it waits for itself.",
            own_entry=lambda earlier: earlier + 1,
        ),
    ),
)
def others_delay_nothing(using: Rules) -> Iterable[Obligation]:
    """A message whose past is delivered passes the test, and one that passes it does so after any further deliveries,
    so that looking later is never too late."""
    reached = lift(using["reached"])
    entry, deliveries, more = z3.Ints("entry deliveries more")
    yield Obligation(
        "monotone",
        (entry >= 0, deliveries >= 0, more >= 0, reached(entry, deliveries)),
        reached(entry, deliveries + more),
        {"entry": entry, "deliveries": deliveries, "more": more},
    )
    creator, number, show = _message()
    q = z3.Const("q_past", PROCESS)
    past = z3.ForAll([q], z3.Implies(q != creator, _clock(creator, number, q) <= _vector(q)))
    yield Obligation(
        "passes_when_its_past_is_delivered",
        (*_well_made(using), number >= 1, past, number - 1 <= _vector(creator)),
        _passes(using, creator, number, _vector),
        show,
    )


@claim(
    scope="any number of processes, entry by entry, by induction",
    clauses=("BC-LCB-CLOCKS",),
    rules=rules("counts_delivery", "own_entry"),
    mutants=(
        mutant(
            "all_named",
            "The literal rule: every delivery of a process that is named counts, one's own too.",
            counts_delivery=lambda named, own: named,
        ),
        mutant("all_deliveries", "Deliveries of all others count.", counts_delivery=lambda named, own: not own),
        mutant("none", "No delivery counts.", counts_delivery=lambda named, own: False),
    ),
)
def dependency_clock_at_beginning(using: Rules) -> Iterable[Obligation]:
    """The dependency clock of the design with two clocks is, at every moment, the vector clock at the dependencies with
    the number of own messages begun: the two designs attach the same clock."""
    # One entry of the clocks of a process, by a step: `own` where it is the entry of the process itself.
    counts, own_entry = lift(using["counts_delivery"]), lift(using["own_entry"])
    begun, delivered, dependency = z3.Ints("begun delivered dependency")
    own, named = z3.Bools("own named")
    some = (begun >= 0, delivered >= 0)

    def one_clock(after_begun: z3.ArithRef, after_delivered: z3.ArithRef) -> z3.ArithRef:
        return z3.If(own, own_entry(after_begun), z3.If(named, after_delivered, 0))

    agree = dependency == one_clock(begun, delivered)
    show = {"own": own, "named": named, "begun": begun, "delivered": delivered, "dependency clock": dependency}
    yield Obligation("agree_at_first", (dependency == 0, begun == 0, delivered == 0), agree, show)
    yield Obligation(
        "agree_after_a_delivery",
        (*some, agree),
        dependency + z3.If(counts(named, own), 1, 0) == one_clock(begun, delivered + 1),
        show,
    )
    yield Obligation(
        "agree_after_a_beginning",
        (*some, agree),
        dependency + z3.If(own, 1, 0) == one_clock(begun + 1, delivered),
        show,
    )


CLAIMS = (dependencies_first, fifo_without_dependencies, others_delay_nothing, dependency_clock_at_beginning)
