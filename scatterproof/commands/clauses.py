"""`scatterproof clauses`: the catalogue, or one clause of it."""

from __future__ import annotations

from typing import Annotated

import typer

from scatterproof import clause_text
from scatterproof.console import out, print_json, print_table
from scatterproof.options import Json, Protocol, protocol_of, resolve
from scatterproof.spec import clauses
from scatterproof.spec.errors import BadInput


def command(
    clause: Annotated[str | None, typer.Argument(help="Show this clause alone, with its text and source.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Explain it: by a run that keeps it, and one that does not.")
    ] = False,
    protocol: Protocol = None,
    as_json: Json = False,
) -> None:
    """List the clauses of a protocol, and which layers check each now."""
    if explain:
        if clause is None:
            raise BadInput("--explain goes with one clause; name it")
        from scatterproof.explain import explain as explain_clause  # late: it tries mutants

        raise typer.Exit(explain_clause(protocol, clause, as_json=as_json))
    catalogue = clauses.load(resolve(protocol or (clause and protocol_of([clause]))))
    chosen = catalogue.clauses if clause is None else (catalogue.clause(clause),)
    if as_json:
        print_json(
            {
                "protocol": catalogue.protocol,
                "version": catalogue.version,
                "clauses": [clause_text.as_dict(c, catalogue) for c in chosen],
            }
        )
    elif clause is not None:
        clause_text.show(chosen[0], catalogue)
    else:
        print_table(
            f"{catalogue.title}: {len(chosen)} clauses, catalogue {catalogue.version}",
            ("clause", "name", "level", "kind", *(layer.value for layer in clauses.Layer)),
            [(c.id, c.name, c.level, c.kind, *(_layer(c, layer) for layer in clauses.Layer)) for c in chosen],
        )
        out.print("`scatterproof clauses ID` shows one clause with its text, its source, and why a layer lacks it.")


def _layer(clause: clauses.Clause, layer: clauses.Layer) -> str:
    return "yes" if layer in clause.layers else "not yet"
