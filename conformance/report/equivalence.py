"""Whether several runs of one schedule have delivered the same messages in the same order, as the rows of a table.

A protocol that has several ways to the same deliveries gives a `Comparison`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypeAlias

from scatterproof.spec.iut import Iut
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Kind, Trace, schema

DeliveredMessage: TypeAlias = tuple[int, int]  # sender, number


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One schedule in all its variants.

    variants: by name.
    reference: the variant that all are compared with.
    prefixes: the variants that may deliver only the beginning.
    """

    variants: Mapping[str, Schedule]
    reference: str
    prefixes: Collection[str] = ()

    def rows(self, iut: Iut) -> tuple[EquivalenceRow, ...]:
        """What the implementation delivers in each variant."""
        runs = {name: iut.run(schedule) for name, schedule in self.variants.items()}
        return compare(runs, self.reference, self.prefixes)


@dataclass(frozen=True, slots=True, kw_only=True)
class EquivalenceRow:
    """One run.

    name: of the variant.
    deliveries: at all hosts together.
    difference: the first from the reference, in one sentence; empty where there is none.
    whole: whether it must deliver all that the reference does; else the beginning is enough.
    """

    name: str
    deliveries: int
    difference: str
    whole: bool = True


def delivered(trace: Trace) -> dict[NodeId, list[DeliveredMessage]]:
    """For each host what was delivered to it, in order."""
    names = schema(trace.header.protocol)
    kind, node, sender, number = (names.index(name) for name in ("kind", "node", "sender", "number"))
    found: dict[NodeId, list[DeliveredMessage]] = {host: [] for host in trace.header.topology.hosts()}
    for row in trace.rows:
        if row[kind] == Kind.DELIVERED:
            found[row[node]].append((row[sender], row[number]))
    return found


def compare(runs: Mapping[str, Trace], reference: str, prefixes: Collection[str] = ()) -> tuple[EquivalenceRow, ...]:
    """A row for each run, in their order. Runs named in `prefixes` may deliver only the beginning of what the run named
    `reference` does; all others must deliver the same."""
    expected = delivered(runs[reference])
    rows: list[EquivalenceRow] = []
    for name, trace in runs.items():
        found = delivered(trace)
        rows.append(
            EquivalenceRow(
                name=name,
                deliveries=sum(map(len, found.values())),
                difference=_difference(found, expected, reference, whole=name not in prefixes),
                whole=name not in prefixes,
            )
        )
    return tuple(rows)


def _difference(
    found: Mapping[NodeId, Sequence[DeliveredMessage]],
    expected: Mapping[NodeId, Sequence[DeliveredMessage]],
    reference: str,
    *,
    whole: bool,
) -> str:
    """The first difference, at the host with the least number, in one sentence; empty for none."""
    for host in sorted(expected.keys() | found.keys()):
        pairs = zip_longest(found.get(host, ()), expected.get(host, ()))
        for place, (got, wanted) in enumerate(pairs, 1):
            if got == wanted:
                continue
            if got is None and not whole:
                break
            return f"host {host}, delivery {place}: {_said(got)}; {reference}: {_said(wanted)}"
    return ""


def _said(message: DeliveredMessage | None) -> str:
    return "none" if message is None else f"message {message[1]} of host {message[0]}"
