"""Cuts out or inverts each rule of the reference core in turn, mechanically, and shows which layers go red.

    ci/cut [--protocol PROTOCOL] [--rule RULE]

A rule is cut by making it answer with one of its arguments or with a constant, and inverted by negating its answer: the
ways are generated, not chosen by hand. Every way must turn at least two layers red. Exit codes: 0 every one does, 1
some cut is noticed by fewer, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scatterproof.fuzz.layers import LAYERS, Bench, KillCell, KillOutcome, Subject
from scatterproof.fuzz.mutations import RuleMutant, cuts_of
from scatterproof.fuzz.protocol import FuzzPlugin, load
from scatterproof.spec.errors import ScatterproofError

# Layers that run the damaged core; models have rules of their own.
RUNNING = tuple(layer for layer in ("oracle", "check", "case", "fuzz", "machine") if layer in LAYERS)
NEEDED = 2


@dataclass(frozen=True, slots=True)
class Cut:
    """One way in which one rule was damaged, and what each layer said."""

    mutant: RuleMutant
    cells: dict[str, KillCell]

    @property
    def red(self) -> list[str]:
        return [layer for layer, cell in self.cells.items() if cell.outcome is KillOutcome.KILLED]


def cut_rules(plugin: FuzzPlugin, folder: Path, *, only: str = "") -> list[Cut]:
    """Every cut of every rule whose name begins with `only`; failing schedules go to `folder`."""
    bench = Bench(plugin, seed=1, folder=folder)
    return [
        Cut(mutant, {layer: LAYERS[layer](bench, _subject(plugin, mutant)) for layer in RUNNING})
        for rule in plugin.rules
        if rule.__name__.startswith(only)
        for mutant in cuts_of(rule)
    ]


def _subject(plugin: FuzzPlugin, mutant: RuleMutant) -> Subject:
    functions = {mutant.rule: mutant.function}
    return Subject(
        name=mutant.name,
        operator=mutant.operator,
        sentence=mutant.source.splitlines()[-1].strip(),
        functions=functions,
        make_node=plugin.node_with(functions),
        group=plugin.group_of(mutant.rule),
    )


def lines(cuts: Sequence[Cut]) -> list[str]:
    """The table: one line a cut, `red` or `-` a layer."""
    width = max((len(cut.mutant.name) for cut in cuts), default=3)
    found = [f"{'cut':{width}}  {'  '.join(f'{layer:>7}' for layer in RUNNING)}  clauses"]
    for cut in cuts:
        marks = "  ".join(f"{'red' if layer in cut.red else '-':>7}" for layer in RUNNING)
        clauses = sorted({clause for cell in cut.cells.values() for clause in cell.clauses})
        found.append(f"{cut.mutant.name:{width}}  {marks}  {', '.join(clauses)}")
    return found


def unnoticed(cuts: Sequence[Cut], rules: Sequence[str]) -> list[str]:
    """Rules that were cut with fewer than two layers noticing, or that could not be cut at all."""
    weak = [f"{cut.mutant.name}: only {len(cut.red)} of {len(RUNNING)} layers" for cut in cuts if len(cut.red) < NEEDED]
    touched = {cut.mutant.rule for cut in cuts}
    return weak + [f"{rule}: no cut could be made of it" for rule in rules if rule not in touched]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="ci/cut", description="Damage each rule in turn; see which layers notice.")
    parser.add_argument("--protocol", default="totalorder", help="whose rules (default: %(default)s)")
    parser.add_argument("--rule", default="", help="only rules whose name begins so")
    given = parser.parse_args(arguments)
    try:
        plugin = load(given.protocol)
        with tempfile.TemporaryDirectory(prefix="cut-") as folder:
            cuts = cut_rules(plugin, Path(folder), only=given.rule)
    except ScatterproofError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    rules = [rule.__name__ for rule in plugin.rules if rule.__name__.startswith(given.rule)]
    if not rules:
        known = ", ".join(rule.__name__ for rule in plugin.rules)
        print(f"no rule begins with {given.rule!r}; give the name of one of {known}", file=sys.stderr)
        return 2
    print("\n".join(lines(cuts)))
    weak = unnoticed(cuts, rules)
    for problem in weak:
        print(problem)
    print(f"{len(rules)} rules, {len(cuts)} cuts, {len(weak)} of them noticed by fewer than {NEEDED} layers")
    return 1 if weak else 0


if __name__ == "__main__":
    sys.exit(main())
