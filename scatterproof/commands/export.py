"""`scatterproof export`: recorded traces, as other judges read them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from scatterproof.conformance.linear import interchange
from scatterproof.console import out
from scatterproof.spec import trace_ndjson
from scatterproof.spec.files import write_atomically


class ExportFormat(StrEnum):
    JEPSEN = "jepsen"
    PORCUPINE = "porcupine"


def command(
    traces: Annotated[list[Path], typer.Argument(help="Trace files (NDJSON), of a protocol that has calls.")],
    to: Annotated[ExportFormat, typer.Option("--to", help="jepsen: EDN. porcupine: a JSON list of operations.")],
    folder: Annotated[Path, typer.Option("--out", help="Folder for the histories.")],
) -> None:
    """Write recorded traces as histories that other judges read: Jepsen's EDN, Porcupine's JSON.

    `scatterproof import` reads the EDN again, row by row. What a queue or a broker may do is for the other judge's
    model to say.
    """
    write, ending = (interchange.jepsen, "edn") if to is ExportFormat.JEPSEN else (interchange.porcupine, "json")
    for path in traces:
        content = write(trace_ndjson.read(path))
        target = folder / f"{path.stem}.{ending}"
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(target, content)
        out.print(str(target), markup=False, highlight=False)
