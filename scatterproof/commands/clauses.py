"""`scatterproof clauses`: the catalogue, or one clause of it."""

from __future__ import annotations

from typing import Annotated

import typer

from scatterproof.console import out, print_json, print_table
from scatterproof.options import Json, Protocol, resolve
from spec import clauses


def command(
    clause: Annotated[str | None, typer.Argument(help="Show this clause alone, with its text and source.")] = None,
    protocol: Protocol = None,
    as_json: Json = False,
) -> None:
    """List the clauses of a protocol, and which layers check each now."""
    catalogue = clauses.load(resolve(protocol))
    chosen = catalogue.clauses if clause is None else (catalogue.clause(clause),)
    if as_json:
        print_json(
            {
                "protocol": catalogue.protocol,
                "version": catalogue.version,
                "clauses": [_as_dict(c, catalogue) for c in chosen],
            }
        )
    elif clause is not None:
        _show(chosen[0], catalogue)
    else:
        print_table(
            f"{catalogue.title}: {len(chosen)} clauses, catalogue {catalogue.version}",
            ("clause", "name", "level", "kind", *(layer.value for layer in clauses.Layer)),
            [(c.id, c.name, c.level, c.kind, *(_layer(c, layer) for layer in clauses.Layer)) for c in chosen],
        )
        out.print("`scatterproof clauses ID` shows one clause with its text, its source, and why a layer lacks it.")


def _layer(clause: clauses.Clause, layer: clauses.Layer) -> str:
    return "yes" if layer in clause.layers else "not yet"


def _as_dict(clause: clauses.Clause, catalogue: clauses.Catalogue) -> dict[str, object]:
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


def _show(clause: clauses.Clause, catalogue: clauses.Catalogue) -> None:
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
