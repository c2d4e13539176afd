"""`scatterproof corpus`: many seeded runs, simulated in Spark tasks, as Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scatterproof.console import Progress, out, print_json
from scatterproof.options import Json, Master, Protocol, Seed, resolve
from spark.corpus import make_corpus
from spark.session import MASTER


def command(
    folder: Annotated[Path, typer.Option("--out", help="Folder for the corpus; an older corpus there is replaced.")],
    runs: Annotated[int, typer.Option("--runs", min=1, help="How many runs to simulate.")] = 1000,
    seed: Seed = 1,
    protocol: Protocol = None,
    master: Master = MASTER,
    as_json: Json = False,
) -> None:
    """Simulate many runs, each of its own random configuration, for `mine`."""
    with Progress(f"Simulating {runs} runs (seed {seed})") as progress:
        manifest = make_corpus(
            resolve(protocol),
            runs,
            seed,
            folder,
            master,
            on_progress=lambda done, total: progress(f"{done} of {total}"),
        )
    if as_json:
        print_json(
            {
                "protocol": manifest.protocol,
                "seed": seed,
                "runs": len(manifest.runs),
                "events": manifest.events,
                "folder": str(folder),
            }
        )
    else:
        out.print(f"{len(manifest.runs)} runs, {manifest.events} events in {folder}", markup=False, highlight=False)
        out.print(f"next: scatterproof mine {folder}", markup=False, highlight=False)
