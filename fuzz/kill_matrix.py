"""The kill matrix: mutants in rows, layers in columns, and in each cell what killed the mutant there.

A mutant ends *killed* (by a layer, with the instance named), *equivalent* (Z3 proves that nothing can tell it from the
rule; the claim is named) or *open*, which is a defect of the harness.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path

import msgspec

from scatterproof.conformance.case import cases
from scatterproof.fuzz.fuzzer import violations_of
from scatterproof.fuzz.layers import LAYERS, Bench, KillCell, KillOutcome, Subject
from scatterproof.fuzz.mutations import mutants_of, signature_of
from scatterproof.fuzz.protocol import FuzzPlugin, load
from scatterproof.models.claim import ClaimResult
from scatterproof.models.equivalence import ParameterKind, prove_equivalent
from scatterproof.models.expected import ModelResult
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.trace import ABSENT

OnProgress = Callable[[int, int, str], None]
MUTANT_FAILURES = Path("results/mutants")


class MutantStanding(StrEnum):
    KILLED = "killed"
    EQUIVALENT = "equivalent"
    OPEN = "open"


class MutantRow(msgspec.Struct, frozen=True, kw_only=True):
    """One mutant.

    operator: the operator that made it, or "hand-written".
    proof: the Z3 claim, of an equivalent one.
    clauses: those under which a layer killed it.
    """

    mutant: str
    operator: str
    sentence: str
    standing: MutantStanding
    proof: str
    clauses: tuple[str, ...]
    cells: dict[str, KillCell]


class KillMatrix(msgspec.Struct, frozen=True, kw_only=True):
    """score: how many mutants ended in each standing.
    by_layer: how many each layer killed.
    by_clause: for each clause, the mutants that were killed under it.
    """

    protocol: str
    seed: int
    layers: tuple[str, ...]
    score: dict[MutantStanding, int]
    by_layer: dict[str, int]
    by_clause: dict[str, tuple[str, ...]]
    rows: tuple[MutantRow, ...]
    seconds: float

    @property
    def open(self) -> tuple[str, ...]:
        return tuple(row.mutant for row in self.rows if row.standing is MutantStanding.OPEN)


def kill_matrix(
    protocol: str,
    layers: Sequence[str] = tuple(LAYERS),
    *,
    seed: int = 1,
    on_progress: OnProgress | None = None,
    folder: Path = MUTANT_FAILURES,
    only: str = "",
    group: int | None = None,
) -> KillMatrix:
    """Try every mutant of the protocol whose name begins with `only`, and that belongs to that group of rules if one is
    given, in every one of `layers`. Failing schedules are shrunk and saved in `folder`. `on_progress(done, of, mutant)`
    is called after every mutant. Raises BadInput for an unknown layer."""
    start = time.perf_counter()
    chosen = [
        subject.name
        for subject in subjects_of(load(protocol))
        if subject.name.startswith(only) and group in (None, subject.group)
    ]
    rows = tried(protocol, chosen, layers, seed=seed, folder=folder, on_progress=on_progress)
    return matrix_of(protocol, seed, layers, rows, time.perf_counter() - start)


def tried(
    protocol: str,
    names: Sequence[str],
    layers: Sequence[str],
    *,
    seed: int = 1,
    folder: Path = MUTANT_FAILURES,
    on_progress: OnProgress | None = None,
    until_killed: bool = False,
    shrinking: bool = True,
) -> list[MutantRow]:
    """A row for each of the named mutants.

    With `until_killed` a mutant that is proved equivalent is tried in no layer, and a killed one in no later layer:
    enough to know that none is open. Without `shrinking` failing schedules stay as drawn. Raises BadInput for an
    unknown layer.
    """
    unknown = [layer for layer in layers if layer not in LAYERS]
    if unknown:
        raise BadInput(f"layer {unknown[0]!r} is unknown; choose from: {', '.join(LAYERS)}")
    plugin, wanted = load(protocol), frozenset(names)
    subjects = [subject for subject in subjects_of(plugin) if subject.name in wanted]
    # Few are left when TLC reads runs: it is given no others, which would have to be fuzzed for it.
    together = () if until_killed else subjects
    bench = Bench(plugin, seed, folder, subjects=together, shrinking=shrinking)
    rows: list[MutantRow] = []
    for subject in subjects:
        rows.append(_until_killed(bench, subject, layers) if until_killed else _by_all(bench, subject, layers))
        if on_progress is not None:
            on_progress(len(rows), len(subjects), subject.name)
    return rows


def matrix_of(protocol: str, seed: int, layers: Sequence[str], rows: Sequence[MutantRow], seconds: float) -> KillMatrix:
    """The rows summed up."""
    return KillMatrix(
        protocol=protocol,
        seed=seed,
        layers=tuple(layers),
        score={standing: sum(row.standing is standing for row in rows) for standing in MutantStanding},
        by_layer={layer: sum(row.cells[layer].outcome is KillOutcome.KILLED for row in rows) for layer in layers},
        by_clause=_by_clause(rows),
        rows=tuple(rows),
        seconds=seconds,
    )


def with_models(protocol: str, rows: Sequence[MutantRow], models: Sequence[ModelResult]) -> list[MutantRow]:
    """The rows with what these results of TLC say of each mutant; a model that is not among them is not asked."""
    plugin = load(protocol)
    bench = Bench(plugin, 0, MUTANT_FAILURES, models={result.name: result for result in models}, may_check=False)
    subjects = {subject.name: subject for subject in subjects_of(plugin)}
    return [_and(row, "tlc", LAYERS["tlc"](bench, subjects[row.mutant])) for row in rows]


def subjects_of(plugin: FuzzPlugin) -> list[Subject]:
    """All mutants of a protocol: generated from its rules, then hand-written."""
    generated = [
        Subject(
            name=mutant.name,
            operator=mutant.operator,
            sentence=mutant.source.splitlines()[-1].strip(),
            functions={mutant.rule: mutant.function},
            make_node=plugin.node_with({mutant.rule: mutant.function}),
            group=number,
            max_events=plugin.max_events,
        )
        for number, group in enumerate(plugin.groups)
        for rule in group.functions
        for mutant in mutants_of(rule)
    ]
    by_hand = [
        Subject(
            name=mutant.name,
            operator="hand-written",
            sentence=mutant.sentence,
            functions=mutant.rules,
            make_node=mutant.make_node,
            group=mutant.group,
            max_events=plugin.max_events,
        )
        for mutant in plugin.mutants
    ]
    return generated + by_hand


def broken(protocol: str) -> dict[str, KillCell]:
    """For each clause for which the protocol names a mutant: whether it breaks the clause in a case about it."""
    plugin = load(protocol)
    subjects = {subject.name: subject for subject in subjects_of(plugin)}
    return {clause: _breaks(subjects[mutant], protocol, clause) for clause, mutant in plugin.breaks.items()}


def _breaks(subject: Subject, protocol: str, clause: str) -> KillCell:
    for case in cases(protocol):
        if case.clause == clause and clause in violations_of(subject.iut.run(case.schedule)):
            return KillCell(KillOutcome.KILLED, f"{subject.name} in {case.id}", (clause,))
    return KillCell(KillOutcome.SURVIVED, f"{subject.name} breaks it in no case about it")


def _by_all(bench: Bench, subject: Subject, layers: Sequence[str]) -> MutantRow:
    row = _row(subject, {layer: LAYERS[layer](bench, subject) for layer in layers})
    if row.standing is MutantStanding.OPEN and (proof := equivalence_of(bench.plugin, subject)):
        return msgspec.structs.replace(row, standing=MutantStanding.EQUIVALENT, proof=proof)
    return row


def _until_killed(bench: Bench, subject: Subject, layers: Sequence[str]) -> MutantRow:
    cells = dict.fromkeys(layers, KillCell(KillOutcome.NOT_ASKED))
    if proof := equivalence_of(bench.plugin, subject):
        return msgspec.structs.replace(_row(subject, cells), standing=MutantStanding.EQUIVALENT, proof=proof)
    for layer in layers:
        cells[layer] = LAYERS[layer](bench, subject)
        if cells[layer].outcome is KillOutcome.KILLED:
            break
    return _row(subject, cells)


def _row(subject: Subject, cells: dict[str, KillCell]) -> MutantRow:
    killed = [cell for cell in cells.values() if cell.outcome is KillOutcome.KILLED]
    return MutantRow(
        mutant=subject.name,
        operator=subject.operator,
        sentence=subject.sentence,
        standing=MutantStanding.KILLED if killed else MutantStanding.OPEN,
        proof="",
        clauses=tuple(sorted({clause for cell in killed for clause in cell.clauses})),
        cells=cells,
    )


def _and(row: MutantRow, layer: str, cell: KillCell) -> MutantRow:
    """The row with another cell; a proof of equivalence stays."""
    if cell.outcome is not KillOutcome.KILLED:
        return msgspec.structs.replace(row, cells={layer: cell, **row.cells})
    return msgspec.structs.replace(
        row,
        standing=MutantStanding.KILLED,
        proof="",
        clauses=tuple(sorted({*row.clauses, *cell.clauses})),
        cells={layer: cell, **row.cells},
    )


# By the annotations of parameters. Any other argument would be taken for a sequence, and all sequences are alike true.
_KINDS: dict[str, ParameterKind] = {"int": "int", "bool": "bool", "Sequence": "ints", "tuple": "ints"}


def equivalence_of(plugin: FuzzPlugin, subject: Subject) -> str:
    """The claim by which Z3 proves the mutant equivalent, in words; empty when none does. Rules take ABSENT where there
    is no number, and nothing below it."""
    if len(subject.functions) != 1:
        return ""
    ((name, mutant),) = subject.functions.items()
    rule = next((found for found in plugin.rules if found.__name__ == name), None)
    if rule is None:
        return ""  # no group generates mutants of it, and no claim compares it
    signature = signature_of(rule)
    kinds = {parameter: _KINDS.get(kind.partition("[")[0]) for parameter, kind in signature.parameters.items()}
    known: dict[str, ParameterKind] = {parameter: kind for parameter, kind in kinds.items() if kind is not None}
    if len(known) == len(kinds) and _counts(lambda: prove_equivalent(rule, mutant, known, least=ABSENT)):
        return f"{name}_equals_its_mutant: the two functions agree on all arguments"
    for equivalence in plugin.equivalences:
        if equivalence.rule == name and _counts(lambda: equivalence.prove(rule, mutant)):  # noqa: B023
            return f"{equivalence.claim}: {equivalence.sentence}"
    return ""


def _counts(prove: Callable[[], ClaimResult]) -> bool:
    """Whether the claim is proved. One whose functions do not run on its terms is not: another may take other ones."""
    try:
        return prove().counts
    except (CannotRun, TypeError):
        return False


def _by_clause(rows: Sequence[MutantRow]) -> dict[str, tuple[str, ...]]:
    clauses = sorted({clause for row in rows for clause in row.clauses})
    return {clause: tuple(row.mutant for row in rows if clause in row.clauses) for clause in clauses}
