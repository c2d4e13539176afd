"""Options of `conform` that no other command has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

CaseNames = Annotated[
    list[str] | None, typer.Option("--case", help="Only this case, or these: an id, a clause, or with * and ?.")
]
ShowList = Annotated[bool, typer.Option("--list", help="List the cases, and run none.")]
JunitFile = Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML to this file.")]
HtmlFile = Annotated[Path | None, typer.Option("--html", help="Write a page to this file.")]
BaselineFile = Annotated[
    Path | None,
    typer.Option("--baseline", help="Known failures, a case id a line: they do not count, but must still fail."),
]
ProfileFile = Annotated[
    Path | None,
    typer.Option("--profile", help="What the implementation claims (TOML, see spec/ADAPTER.md); all when left out."),
]
Logs = Annotated[
    Path | None,
    typer.Option("--logs", help="Judge the logs in this folder (run.json, a log a node) instead of running cases."),
]
