"""Options of `fuzz` that no other command has."""

from __future__ import annotations

from typing import Annotated

import typer

from scatterproof.options import MASTERS

EXAMPLES = 300

Examples = Annotated[
    int | None,
    typer.Option(
        "--examples",
        help=f"How many schedules to run; {EXAMPLES}, or without end where --seconds is given.",
        show_default=False,
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option(
        "--seconds",
        help="For how long, in all. Once something has failed, half of the time is kept for making it small.",
    ),
]
Mutants = Annotated[
    bool, typer.Option("--mutants", help="Try every mutant of the rules in every layer: the kill matrix.")
]
Only = Annotated[str, typer.Option("--only", help="With --mutants: those whose name begins with this.")]
SharedOut = Annotated[
    str | None,
    typer.Option("--master", help=f"Share the schedules out to Spark tasks, and tell failures apart. {MASTERS}."),
]
PerClause = Annotated[
    int,
    typer.Option("--per-clause", min=1, help="With --master: how many failing schedules of a clause are shrunk."),
]
