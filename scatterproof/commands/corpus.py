"""`scatterproof corpus`: many seeded runs, simulated in Spark tasks, as Parquet."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from scatterproof.console import Progress, err, out, print_json
from scatterproof.options import PLACE, Json, Master, Protocol, Seed, resolve
from scatterproof.plants import wishes_of
from scatterproof.spark.corpus import make_corpus
from scatterproof.spark.layout import Manifest
from scatterproof.spark.session import MASTER
from scatterproof.spec.storage import place_of

MOST_RUNS = 100_000_000  # a manifest names each
_PLANT = (
    "MUTANT[:RATE]. Make some runs by a mutant (a name of the kill matrix, such as aggregate/min-to-max), or alter one"
    " row of a right run (row/any, or row/CLAUSE to break that clause alone, once). RATE with a point is a share of the"
    " runs (0.001), without one how many (1); left out it is 0.01. Runs are chosen in which it breaks a clause, as the"
    " oracles find; the manifest tells which, and the rows do not. May be given several times."
)


def command(
    folder: Annotated[Path, typer.Option("--out", help=f"{PLACE} for the corpus; an older corpus there is replaced.")],
    runs: Annotated[int, typer.Option("--runs", min=1, max=MOST_RUNS, help="How many runs to simulate.")] = 1000,
    seed: Seed = 1,
    plant: Annotated[list[str] | None, typer.Option("--plant", help=_PLANT)] = None,
    protocol: Protocol = None,
    master: Master = MASTER,
    as_json: Json = False,
) -> None:
    """Simulate many runs for `mine`: every kind that the protocol has in turn, each of its own random configuration.

    When it is broken off, or killed, the same command goes on where it was. At an address, which has no locks, run one
    command at a time; an older corpus there is removed first, and `mine` refuses a new one that is not whole.
    """
    chosen, folder = resolve(protocol), place_of(folder)
    wishes = wishes_of(plant or [], chosen)
    with Progress(f"Simulating {runs} runs (seed {seed})") as progress:
        manifest = make_corpus(
            chosen,
            runs,
            seed,
            folder,
            master,
            on_progress=lambda done, total: progress(f"{done} of {total}"),
            wishes=wishes,
            on_note=lambda said: err.print(f"  {said}", markup=False, highlight=False),
        )
    if as_json:
        print_json(
            {
                "protocol": manifest.protocol,
                "seed": seed,
                "runs": len(manifest.runs),
                "events": manifest.events,
                "kinds": dict(Counter(run.kind for run in manifest.runs)),
                "planted": manifest.plantings,
                "folder": str(folder),
            }
        )
    else:
        _print(manifest, folder)


def _print(manifest: Manifest, folder: Path) -> None:
    faulty = sum(run.faults > 0 or run.failures > 0 for run in manifest.runs)
    kinds = len({run.kind for run in manifest.runs})
    said = f"{len(manifest.runs)} runs of {kinds} kinds, {faulty} of them with faults or failures"
    out.print(f"{said}; {manifest.events} events in {folder}", markup=False, highlight=False)
    for planting in manifest.plantings:
        broken = Counter(
            expected.clause for run in manifest.runs if run.planted == planting.name for expected in run.expected
        )
        clauses = ", ".join(f"{clause} ({count})" for clause, count in broken.most_common())
        said = f"planted {planting.name} in {planting.runs} of {planting.tried} runs tried"
        out.print(f"{said}; to be found there: {clauses}", markup=False, highlight=False)
    out.print(f"next: scatterproof mine {folder}", markup=False, highlight=False)
