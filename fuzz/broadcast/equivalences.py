"""Proofs by Z3 that some mutants are equivalent to their rule, beyond plain equality of the functions; and rules in the
terms of the claims, which have numbers where the core has sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from scatterproof.fuzz.mutations import Rule
from scatterproof.fuzz.protocol import Equivalence
from scatterproof.models.claim import ClaimResult, Obligation, Rules
from scatterproof.models.equivalence import prove_alike, prove_equivalent


def _from_a_sender(rule: Callable[..., Any], mutant: Callable[..., Any]) -> ClaimResult:
    """Senders keep to the window after the oldest unacknowledged packet, and all below it has come."""
    numbers: dict[str, Literal["int"]] = {"pseq": "int", "prefix": "int", "window": "int"}
    return prove_equivalent(rule, mutant, numbers, hypotheses=lambda pseq, prefix, window: pseq <= prefix + window)


def _on_sets(rule: Callable[..., Any], mutant: Callable[..., Any]) -> ClaimResult:
    return prove_equivalent(rule, mutant, {"own": "bits", "forwarder": "bits"})


def _in_its_place(rule: Callable[..., Any], mutant: Callable[..., Any]) -> ClaimResult:
    """Clocks of up to 6 entries, the own one among them."""

    def state(using: Rules) -> Iterable[Obligation]:
        import z3

        begun = z3.Int("begun")
        for size in range(1, 7):
            clock = tuple(z3.Int(f"entry_{number}") for number in range(size))
            for own in range(size):
                expected, found = rule(clock, own, begun), using["mutant"](clock, own, begun)
                alike = [one == other for one, other in zip(expected, found, strict=False)]
                same = z3.And(*alike) if len(expected) == len(found) else z3.BoolVal(False)
                yield Obligation(f"equal_{own}_of_{size}", (), same, show={"begun": begun})

    name = f"{rule.__name__}_alike_in_its_place"
    return prove_alike(name, "The process is one of those that the clock has an entry for.", mutant, state)


EQUIVALENCES = (
    Equivalence(
        rule="attached",
        claim="attached_alike_in_its_place",
        sentence="The mutant gives the same clock of up to 6 entries, the process being one of them.",
        prove=_in_its_place,
    ),
    Equivalence(
        rule="acceptable",
        claim="acceptable_alike_within_the_window",
        sentence="The mutant takes what the rule does, of all that a sender may send: it keeps to the window.",
        prove=_from_a_sender,
    ),
    Equivalence(
        rule="heard_first", claim="heard_first_alike_on_sets", sentence="The mutant gives the same set.", prove=_on_sets
    ),
)


class _OfSize:
    """A set of processes, known by its size alone."""

    def __init__(self, size: Any) -> None:
        self._size = size

    def bit_count(self) -> Any:
        return self._size


class _Next:
    """The numbers beyond a prefix, by interval; it is known only whether the next one is among them."""

    def __init__(self, prefix: Any, following: Any) -> None:
        self._next = prefix + 1
        self._following = following

    def __contains__(self, number: Any) -> bool:
        return bool(self._following) and bool(number == self._next)

    def __getitem__(self, number: Any) -> Any:
        if number != self._next:
            raise IndexError("no interval begins there")
        return self._next


# By rule, what a rule or a mutant of it puts in the place of the claims' own.
ON_CLAIMS: dict[str, Callable[[Rule], Mapping[str, Rule]]] = {
    "next_pseq": lambda rule: {"number": rule},
    "prefix_with": lambda rule: {"collapse": lambda prefix, following: rule(prefix, _Next(prefix, following))},
    "majority": lambda rule: {"enough": lambda having, processes: rule(_OfSize(having), processes)},
    "may_begin": lambda rule: {"pauses": lambda undelivered, threshold: not rule(undelivered, threshold)},
    "attached": lambda rule: {"own_entry": lambda earlier: rule((0,), 0, earlier)[0]},
}
