"""`scatterproof bisect`: the releases of a system between which a verdict changes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scatterproof.conformance.systems.bisection import RUNS, Releases, changes, mistake_of
from scatterproof.console import Progress, err, out, print_json
from scatterproof.options import Json, Results


def command(
    system: Annotated[str, typer.Option(help="As the track record has it: nats, aedes, amqtt or moto.")],
    clause: Annotated[str, typer.Option(help="That the mistake breaks.")],
    entry: Annotated[str | None, typer.Option(help="Name of the mistake, where there are several.")] = None,
    runs: Annotated[int, typer.Option(min=1, help="Of a release that keeps the clause.")] = RUNS,
    since: Annotated[str | None, typer.Option(help="The oldest release that is asked.")] = None,
    results: Results = Path("results/bisect"),
    json: Json = False,
) -> None:
    """Find the releases of a system between which the verdict on a known mistake changes: where it began, and where it
    was mended.

    The list of releases is that of pip or npm. Each one that is asked is installed into a folder of its own beside this
    interpreter, and plays the run of the track record:

        scatterproof bisect --system nats --clause PS-QOS-GD --entry nats-filters-hide

    A release that cannot be run is left out, and that is said.

    Exit codes: 0 it was found, or is in the oldest and in the newest; 2 wrong usage; 3 the release of the record could
    not be run.
    """
    mistake = mistake_of(system, clause, entry)

    def tell(text: str) -> None:
        err.print(f"  {text}", highlight=False, markup=False)

    with Progress(f"bisect {mistake.name}"):
        releases = Releases(mistake, results / mistake.name, runs, tell)
        versions = releases.package.versions()
        versions = versions[versions.index(since) if since in versions else 0 :]
        found = changes(versions, mistake.version, releases.ask)
    if json:
        print_json({"name": mistake.name, "versions": versions, "changes": found})
        return
    for one in found:
        what = "is new" if one.begins else "is gone"
        out.print(f"{mistake.name}: {one.before} -> {one.after}: it {what} in {one.after}", highlight=False)
    if not found:
        told = f"{mistake.name}: it is in the oldest and in the newest of {len(versions)} releases that could be run"
        out.print(f"{told}; those between were not asked", highlight=False)
