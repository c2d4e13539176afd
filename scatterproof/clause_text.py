"""A clause as text and as data, as several commands show it; and its TLA+ operator, as the modules have it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scatterproof.console import out
from scatterproof.spec import clauses
from scatterproof.spec.clauses import SPEC, Catalogue, Clause, Layer

_OTHERS = re.compile(r"==\s*\w+!\w+\s*(\\\*.*)?$")  # defined as another module's operator


@dataclass(frozen=True, slots=True, kw_only=True)
class TlaOperator:
    """file: from the folder of the project.
    line: from 1.
    text: the comment before it and the definition.
    """

    file: str
    line: int
    text: str


def operator_of(protocol: str, name: str) -> TlaOperator | None:
    """The definition of the operator: a module's own where there is one, else one by another module's operator; None
    where there is neither."""
    found = sorted(_definitions(SPEC / protocol, name), key=lambda operator: bool(_OTHERS.search(operator.text)))
    return found[0] if found else None


def _definitions(folder: Path, name: str) -> Iterator[TlaOperator]:
    head = re.compile(rf"{re.escape(name)}(\(.*\))?\s*==")
    for path in sorted(folder.rglob("*.tla")):
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            if head.match(line):
                begin, end = number, number + 1
                while begin and lines[begin - 1].startswith("(*"):
                    begin -= 1
                while end < len(lines) and lines[end].startswith(" "):
                    end += 1
                text = "\n".join(lines[begin:end])
                yield TlaOperator(file=str(path.relative_to(SPEC.parent)), line=number + 1, text=text)


def as_dict(clause: Clause, catalogue: Catalogue) -> dict[str, object]:
    return {
        "id": clause.id,
        "name": clause.name,
        "kind": clause.kind.value,
        "level": clause.level.value,
        "must": clause.must,
        "source": clause.source,
        "environments": clause.environments,
        "literals": [{"id": lit.id, "rule": lit.rule, "suspicion": lit.suspicion} for lit in clause.literals],
        "layers": {layer.value: name for layer, name in clause.layers.items()},
        "not_yet": {layer.value: reason for layer, reason in clause.not_yet.items()},
        "claims": catalogue.claims_of(clause.id),
    }


def show(clause: Clause, catalogue: clauses.Catalogue) -> None:
    """Print the clause: what it says, where it comes from, and which layers check it."""
    out.print(f"[bold]{clause.id}[/bold] {clause.name} ({clause.level}, {clause.kind})")
    out.print(clause.must, markup=False)
    out.print(f"Source: {clause.source}", markup=False)
    out.print(f"Environments: {', '.join(clause.environments)}")
    if claims := catalogue.claims_of(clause.id):
        out.print(f"Numbered claims of the source: {', '.join(claims)}")
    for literal in clause.literals:
        out.print(f"{literal.id}, as the source has it: {literal.rule}\n  Suspected: {literal.suspicion}", markup=False)
    for layer, name in clause.layers.items():
        out.print(f"{layer.value}: {name}", markup=False)
    for layer, reason in clause.not_yet.items():
        out.print(f"{layer.value}: not yet, {reason}", markup=False)


def show_operator(clause: Clause, operator: TlaOperator | None) -> None:
    """Print the TLA+ operator, or why there is none."""
    if operator is None:
        why = clause.not_yet.get(Layer.TLC, "no module defines it")
        out.print(f"TLA+ operator: none: {why}", markup=False)
        return
    out.print(f"TLA+ operator, {operator.file}:{operator.line}", markup=False, highlight=False)
    out.print(operator.text, markup=False, highlight=False, soft_wrap=True)
