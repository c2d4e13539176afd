"""`scatterproof histories`: histories of Jepsen, held to a plain machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scatterproof.conformance.linear.edn import read_one
from scatterproof.conformance.linear.jepsen import calls
from scatterproof.conformance.linear.models import MODELS, SequentialModel, as_state, judge_history
from scatterproof.console import OK, VIOLATIONS, Progress, print_json, print_table
from scatterproof.options import Json
from scatterproof.spec.errors import BadInput

_MODELS = "; ".join(f"{model.name}: {model.text}" for model in MODELS)


def command(
    histories: Annotated[list[Path], typer.Argument(help="Histories (.edn), or logs of Jepsen.")],
    model: Annotated[str, typer.Option("--model", help=f"What they are histories of. {_MODELS}.")],
    begin: Annotated[
        str | None,
        typer.Option("--begin", help="What it holds at first, as EDN: 0, nil. A register may hold anything else."),
    ] = None,
    refusals: Annotated[
        bool,
        typer.Option(
            "--refusals",
            help="A call that failed was refused by what was held then, as a cas is. Else, as Jepsen has it, it says"
            " nothing.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Say of histories of calls whether some order explains each (linearisability), by trying every order.

    Histories are read as Jepsen writes them. Where none explains one, the call is shown behind which the longest
    order that was found goes no further.

        scatterproof histories store/latest/history.edn --model register --begin nil
    """
    machine = _model(model, begin)
    rows: list[dict[str, object]] = []
    with Progress("Trying orders") as progress:
        for number, path in enumerate(histories):
            progress(f"{number} of {len(histories)}, now {path}")
            found = judge_history(calls(path), machine, str(path), refusals=refusals)
            rows.append(
                {
                    "history": str(path),
                    "verdict": "pass" if found.stuck is None else "fail",
                    "calls": found.known,
                    "explained": found.explained,
                    "stuck": None if found.stuck is None else str(found.stuck),
                }
            )
    if as_json:
        print_json(rows)
    else:
        print_table(
            f"Is there an order that a {machine.name} explains?",
            ("history", "verdict", "calls that ended", "explained", "no further than"),
            [tuple("" if one is None else one for one in row.values()) for row in rows],
        )
    raise typer.Exit(OK if all(row["stuck"] is None for row in rows) else VIOLATIONS)


def _model(name: str, begin: str | None) -> SequentialModel:
    found = next((one for one in MODELS if one.name == name), None)
    if found is None:
        raise BadInput(f"model {name!r} is unknown; choose of {', '.join(one.name for one in MODELS)}")
    return found if begin is None else as_state(found, read_one(begin, "--begin"))
