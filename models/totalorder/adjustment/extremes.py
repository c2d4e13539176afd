"""The smallest delays with which adjustment goes wrong: where delays change, where the clamp is missing, and where the
document is taken literally.

``python -m scatterproof.models.totalorder.adjustment.extremes`` writes ``spec/totalorder/adjustment_extremes.json``: a
list of objects

    name       of the example, unique in the file; an example of a literal reading has its mutant's name
    clause     the clause that it belongs to
    says       one sentence
    senders, receivers  how many there are; no smaller network has such an example, of the sizes in `SIZES`
    values     the numbers by name, in nanoseconds

Z3 makes the sum of all delays as small as it can be, and then each number, in their order, so that the file does not
depend on chance.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import z3

from scatterproof.models.claim import ClaimMutant
from scatterproof.models.totalorder.adjustment import rules as wrong
from scatterproof.models.totalorder.adjustment.measuring import zero
from scatterproof.models.totalorder.adjustment.round import Round, ScatteringNetwork, adjusted, run_round, spread_at
from scatterproof.models.totalorder.adjustment.rules import RULES, Members, Values
from scatterproof.spec.clauses import SPEC
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.files import write_atomically

FILE = SPEC / "totalorder" / "adjustment_extremes.json"
SIZES = ((1, 1), (2, 1), (1, 2), (2, 2), (3, 1), (1, 3), (3, 2), (2, 3), (3, 3))
LARGEST = 12
"""Upper bound of every delay and clock reading, in ns; the smallest examples stay far below it."""


@dataclass(slots=True)
class Search:
    """An example under construction.

    bound: what must hold.
    weighed: the numbers to minimise, in this order.
    told: the values to show, by name.
    """

    senders: int
    receivers: int
    hosts: bool = False
    bound: list[z3.BoolRef] = field(default_factory=list)
    weighed: list[Any] = field(default_factory=list)
    told: dict[str, Any] = field(default_factory=dict)

    def network(self, name: str) -> ScatteringNetwork:
        """Free delays; with ``hosts`` sender k and receiver k are one host."""
        pairs = [(s, r) for s in range(1, self.senders + 1) for r in range(1, self.receivers + 1)]
        delays = {pair: self._number(f"{name} S{pair[0]}-R{pair[1]}") for pair in pairs}
        if self.hosts:
            self.bound += [delay == 0 for (s, r), delay in delays.items() if s == r]
        senders, receivers = (tuple(z3.IntVal(k + 1) for k in range(n)) for n in (self.senders, self.receivers))
        return ScatteringNetwork(
            senders=Members(variable=z3.Int("s"), listed=senders),
            receivers=Members(variable=z3.Int("r"), listed=receivers),
            sends=lambda s, r: z3.BoolVal(True),
            same_host=lambda s, r: z3.BoolVal(self.hosts and s.as_long() == r.as_long()),
            delay=lambda s, r: delays[s.as_long(), r.as_long()],
            skew=lambda s: z3.IntVal(0),
        )

    def round(
        self, net: ScatteringNetwork, name: str, *, using: ClaimMutant | None = None, in_force: Values = zero
    ) -> Round:
        once = run_round({**RULES, **(using.rules if using else {})}, net, name, in_force=in_force, sent=zero)
        self.bound += once.assumed
        return once

    def adjustments(self, name: str, once: Round) -> None:
        for k in range(1, self.senders + 1):
            self.told[f"{name} S{k}"] = once.adjustment(z3.IntVal(k))

    def waits(self, name: str, net: ScatteringNetwork, adjustment: Values) -> list[Any]:
        """The wait at each receiver, in ns, for equal timestamps from the other hosts."""
        waits = []
        for r in net.receivers.listed or ():
            first, last, bound = spread_at(net, r, name, adjusted(net, adjustment), net.counts)
            self.bound += bound
            waits.append(last - first)
            self.told[f"wait at R{r} {name}"] = last - first
        return waits

    def latest(self, name: str, net: ScatteringNetwork, adjustment: Values, r: Any) -> Any:
        _, last, bound = spread_at(net, r, name, adjusted(net, adjustment), net.counts)
        self.bound += bound
        return last

    def clock(self, name: str) -> Any:
        return self._number(name)

    def _number(self, name: str) -> Any:
        number = z3.Int(name)
        self.bound += [number >= 0, number <= LARGEST]
        self.weighed.append(number)
        self.told[name] = number
        return number


@dataclass(frozen=True, slots=True, kw_only=True)
class Extreme:
    """``goes_wrong`` builds the example, and returns the condition that it must meet."""

    name: str
    clause: str
    says: str
    goes_wrong: Callable[[Search], z3.BoolRef]
    hosts: bool = False


def _grows(search: Search, *, by_twice: bool = False) -> z3.BoolRef:
    """The wait grows when delays change after the round."""
    before, after = search.network("before"), search.network("after")
    once = search.round(before, "round")
    search.adjustments("adjustment of", once)
    without, with_it = search.waits("without", after, zero), search.waits("with", after, once.adjustment)
    if not by_twice:
        return with_it[0] > without[0]
    change = z3.Int("change")
    pairs = [(s, r) for s in before.senders.listed or () for r in before.receivers.listed or ()]
    moved = [(before.delay(*pair) - after.delay(*pair)) for pair in pairs]
    search.bound += [z3.And(m <= change, -m <= change) for m in moved]
    return z3.And(change > 0, with_it[0] - without[0] == 2 * change)


def _own_latency(search: Search) -> z3.BoolRef:
    """The last sender's latency, from its clock reading to the delivery, grows at every receiver under constant
    delays."""
    net = search.network("delay")
    once = search.round(net, "round")
    search.adjustments("adjustment of", once)
    last = z3.IntVal(search.senders)
    grown = []
    for r in net.receivers.listed or ():
        plain = search.latest("without", net, zero, r)
        moved = search.latest("with", net, once.adjustment, r) + once.adjustment(last)
        search.told[f"latency of S{last} at R{r} without"] = plain
        search.told[f"latency of S{last} at R{r} with"] = moved
        grown.append(moved > plain)
    return z3.And(*grown)


def _fall(search: Search) -> tuple[Any, Any, Any]:
    """Two rounds, with other delays in the second, and a reading of S1's clock after each, 1 ns apart. Returns both
    adjusted readings and the first plain one."""
    one, two = search.round(search.network("before"), "one"), search.round(search.network("after"), "two")
    search.adjustments("first adjustment of", one)
    search.adjustments("second adjustment of", two)
    clock, sender = search.clock("clock"), z3.IntVal(1)
    search.bound.append(clock > 0)
    return clock + one.adjustment(sender), clock + 1 + two.adjustment(sender), clock


def _timestamp_falls(search: Search) -> z3.BoolRef:
    first, second, _ = _fall(search)
    search.told |= {"timestamp": first, "next timestamp": second}
    fell: z3.BoolRef = second < first
    return fell


def _promise_broken(search: Search) -> z3.BoolRef:
    beacon, reading, _ = _fall(search)
    search.told |= {"beacon": beacon, "next timestamp": reading}
    broken: z3.BoolRef = reading < beacon
    return broken


def _literal(search: Search, mutant: ClaimMutant) -> z3.BoolRef:
    """With a wrong rule and constant delays, the wait at R1 grows."""
    net = search.network("delay")
    once = search.round(net, "round", using=mutant)
    for s in net.senders.listed or ():
        for r in net.receivers.listed or ():
            back = once.returns_at(s, r) - once.latest(r)
            search.told[f"way back R{r}-S{s}, and hold"] = back
            search.weighed.append(back)
    search.adjustments("adjustment of", once)
    without, with_it = search.waits("without", net, zero), search.waits("with", net, once.adjustment)
    grown: z3.BoolRef = with_it[0] > without[0]
    return grown


def _rounds(search: Search, mutant: ClaimMutant, *, change: bool) -> z3.BoolRef:
    """With a wrong rule, the wait after two rounds is longer than without adjustment."""
    first = search.network("first delay")
    second = search.network("second delay") if change else first
    one = search.round(first, "one", using=mutant)
    two = search.round(second, "two", using=mutant, in_force=one.adjustment)
    search.adjustments("first adjustment of", one)
    search.adjustments("second adjustment of", two)
    without, with_it = search.waits("without", second, zero), search.waits("with", second, two.adjustment)
    grown: z3.BoolRef = with_it[0] > without[0]
    return grown


def _itself(search: Search) -> z3.BoolRef:
    """Hosts that count themselves: an adjustment that would shorten the waiting is 0."""
    net = search.network("delay")
    right, literal = search.round(net, "right"), search.round(net, "literal", using=wrong.ITSELF_COUNTS)
    search.adjustments("right adjustment of", right)
    search.adjustments("adjustment of", literal)
    shorter, plain = search.waits("right", net, right.adjustment), search.waits("with", net, literal.adjustment)
    return z3.Or(*(one < other for one, other in zip(shorter, plain, strict=True)))


def extremes() -> Iterator[Extreme]:
    gain, safe, second = "TO-ADJ-GAIN", "TO-ADJ-SAFE", "TO-ADJ-2"

    def example(name: str, clause: str, says: str, goes_wrong: Callable[[Search], z3.BoolRef], **rest: Any) -> Extreme:
        return Extreme(name=name, clause=clause, says=says, goes_wrong=goes_wrong, **rest)

    yield example(
        "waiting_grows", gain, "Delays change after the round, and with its adjustment R1 waits longer.", _grows
    )
    yield example(
        "waiting_grows_by_twice_the_change",
        gain,
        "R1 waits longer by twice what each delay has changed by: no growth is greater.",
        partial(_grows, by_twice=True),
    )
    yield example(
        "own_latency_grows",
        gain,
        "Under constant delays the last sender's own messages take longer to every receiver.",
        _own_latency,
    )
    yield example(
        "timestamp_falls",
        safe,
        "Delays change between two rounds, and the adjusted clock of S1, not clamped, reads less at its next tick.",
        _timestamp_falls,
    )
    yield example(
        "promise_is_broken",
        safe,
        "A beacon of the adjusted clock, and after the next round a timestamp below it: the first since the beacon, so "
        "that a clamp to rising timestamps does not hold it up.",
        _promise_broken,
    )
    for mutant in (wrong.OTHER_SIGN, wrong.TWICE_ONE_WAY, wrong.RETURN_IS_HELD, wrong.GREATEST_DIFFERENCE):
        yield example(mutant.name, second, mutant.sentence, partial(_literal, mutant=mutant))
    base = wrong.EARLIEST_IS_BASE
    yield example(base.name, "TO-ADJ-1", base.sentence, partial(_literal, mutant=base))
    again = wrong.ROUNDS_ADD_UP
    yield example(again.name, second, again.sentence, partial(_rounds, mutant=again, change=False))
    first = wrong.FIRST_IS_ADJUSTED
    yield example(first.name, "TO-ADJ-1", first.sentence, partial(_rounds, mutant=first, change=True))
    itself = wrong.ITSELF_COUNTS
    yield example(itself.name, second, itself.sentence, _itself, hosts=True)


def smallest(extreme: Extreme) -> dict[str, Any]:
    """The first size that has the example, with the least numbers; raises CannotRun when none has."""
    for senders, receivers in SIZES:
        if extreme.hosts and senders != receivers:
            continue
        search = Search(senders, receivers, extreme.hosts)
        solver = z3.Optimize()
        solver.set("priority", "lex")
        solver.add(extreme.goes_wrong(search), *search.bound)
        solver.minimize(z3.Sum(search.weighed))
        for number in search.weighed:
            solver.minimize(number)
        if solver.check() == z3.sat:
            model = solver.model()
            values = {name: model.eval(term, model_completion=True).as_long() for name, term in search.told.items()}
            return {
                "name": extreme.name,
                "clause": extreme.clause,
                "says": extreme.says,
                "senders": senders,
                "receivers": receivers,
                "values": values,
            }
    raise CannotRun(f"extreme {extreme.name} has no example: correct its condition, or look at larger networks")


def document() -> str:
    """The file's text: one example a line, so that a change reads as one."""
    lines = ",\n".join(f"  {json.dumps(smallest(extreme))}" for extreme in extremes())
    return f"[\n{lines}\n]\n"


if __name__ == "__main__":
    write_atomically(FILE, document().encode())
    print(f"wrote {sum(1 for _ in extremes())} examples to {FILE.name}")
