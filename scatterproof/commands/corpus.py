"""`scatterproof corpus`: many seeded runs, simulated in Spark tasks, as Parquet."""

from __future__ import annotations

from collections import Counter
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
    """Simulate many runs for `mine`: every kind that the protocol has in turn, each of its own random configuration."""
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
                "kinds": dict(Counter(run.kind for run in manifest.runs)),
                "folder": str(folder),
            }
        )
    else:
        faulty = sum(run.faults > 0 or run.failures > 0 for run in manifest.runs)
        kinds = len({run.kind for run in manifest.runs})
        said = f"{len(manifest.runs)} runs of {kinds} kinds, {faulty} of them with faults or failures"
        out.print(f"{said}; {manifest.events} events in {folder}", markup=False, highlight=False)
        out.print(f"next: scatterproof mine {folder}", markup=False, highlight=False)
