"""CLAUSES.md, the catalogues as a page to read: written from them, never edited, checked for staleness."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from scatterproof.spec import generated
from scatterproof.spec.clauses import SPEC, Catalogue, Clause, Layer, load, protocols

PAGE = "CLAUSES.md"

HEADER = """\
# Clauses

Generated from the `clauses.toml` of each protocol by `python -m scatterproof.spec.clauses`; edit those, not this page.

A clause has one name in every layer: the TLA+ operator bears it in CamelCase; the Z3 claim, the check and
the oracle bear it in snake_case; cases cite the id. Under *Layers*, *yes* means that the layer checks the
clause now, and *-* that it does not, for the reason given under *Not yet*.
"""


def page(folder: Path = SPEC) -> str:
    """The whole page: a chapter a protocol."""
    return "\n".join([HEADER, *(chapter(load(protocol, folder)) for protocol in protocols(folder))])


def chapter(catalogue: Catalogue) -> str:
    """One protocol: clauses against layers, their sentences, reasons, literal rules and the map of claims."""
    parts = [
        f"## {catalogue.title} (`{catalogue.protocol}`, catalogue {catalogue.version})",
        _preface(catalogue),
    ]
    parts += [
        "### Sentences",
        table(["id", "level", "sentence", "source"], map(_sentence_row, catalogue.clauses)),
    ]
    layers = [layer.value for layer in Layer]
    columns = ["id", "name", "kind", "environments", *layers, "claims"]
    rows = ([*_layer_row(clause), ", ".join(catalogue.claims_of(clause.id))] for clause in catalogue.clauses)
    parts += ["### Layers", table(columns, rows)]
    parts += ["### Not yet", *_reasons(catalogue)]
    literals = [
        [clause.id, literal.id, literal.rule, literal.suspicion]
        for clause in catalogue.clauses
        for literal in clause.literals
    ]
    if literals:
        parts += ["### Literal rules", "Rules as the source has them, suspected to be wrong."]
        parts.append(table(["clause", "rule", "as the source has it", "suspicion"], literals))
    if catalogue.claims:
        parts += [
            "### Claims of the source",
            *(f"- {group}: {t}" for group, t in catalogue.claim_groups.items()),
        ]
        parts.append(
            table(
                ["claim", "in short", "clauses"],
                ([c.id, c.says, ", ".join(c.clauses)] for c in catalogue.claims),
            )
        )
    return "\n\n".join(parts).replace("\n\n- ", "\n- ") + "\n"


def _preface(catalogue: Catalogue) -> str:
    lines = [f'- Source "{short}": {text}' for short, text in catalogue.sources.items()]
    lines += [f"- Environment {short}: {text}" for short, text in catalogue.environments.items()]
    return "\n".join(lines)


def _sentence_row(clause: Clause) -> list[str]:
    return [clause.id, clause.level, clause.must, clause.source]


def _layer_row(clause: Clause) -> list[str]:
    marks = ["yes" if layer in clause.layers else "-" for layer in Layer]
    return [clause.id, f"`{clause.name}`", clause.kind, " ".join(clause.environments), *marks]


def _reasons(catalogue: Catalogue) -> list[str]:
    """A line a clause and reason, the layers that share it together."""
    lines = []
    for clause in catalogue.clauses:
        for reason in dict.fromkeys(clause.not_yet.values()):
            layers = ", ".join(layer for layer, text in clause.not_yet.items() if text == reason)
            lines.append(f"- {clause.id} ({layers}): {reason}")
    return lines


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; a bar in a text would end its cell."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines)


def main(arguments: Sequence[str] | None = None, folder: Path = SPEC) -> int:
    """Write the page beside the catalogues, or with ``--check`` only compare it; the exit code."""
    return generated.command("python -m scatterproof.spec.clauses", folder / PAGE, lambda: page(folder), arguments)
