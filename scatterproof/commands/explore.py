"""`scatterproof explore`: step through a recorded run, in a browser on this machine."""

from __future__ import annotations

import threading
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from scatterproof.conformance.explorer.server import Explorer, serve
from scatterproof.conformance.explorer.sources import NdjsonSource, ParquetSource, RunSource
from scatterproof.conformance.explorer.timeline import Timeline
from scatterproof.console import OK, err, out
from scatterproof.options import Protocol, resolve
from scatterproof.spark.layout import events_path, runs_path
from scatterproof.spark.replay import entry_of, schedule_of
from scatterproof.spec import schedule as schedules
from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.storage import Remote, place_of
from scatterproof.spec.trace_parquet import read_headers


def command(
    trace: Annotated[
        Path, typer.Argument(help="A trace (NDJSON), such as results/latest has for each case, or a corpus.")
    ],
    run: Annotated[int | None, typer.Option("--run", help="Which run of the corpus.")] = None,
    row: Annotated[int, typer.Option("--row", min=0, help="The row to begin at; the first is 0.")] = 0,
    schedule: Annotated[
        Path | None,
        typer.Option(
            "--schedule",
            help="The schedule that the trace is of, for exports; found by itself beside the traces of conform.",
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port on 127.0.0.1; any free one if left out.")
    ] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, and open nothing.")] = False,
    protocol: Protocol = None,
) -> None:
    """Step forwards and backwards through a run: what each node has and knows, and what breaks a clause.

    It ends with Ctrl-C. The page is served to this machine alone; keys are shown with ?.
    """
    place = place_of(trace)
    if isinstance(place, Remote) or place.is_dir() or run is not None:
        source, known = _corpus(place, run)
    else:
        source, known = _trace(place)
    if protocol is not None and resolve(protocol) != source.header.protocol:
        raise BadInput(f"{trace}: is of {source.header.protocol}, not of {protocol}; leave --protocol out")
    timeline = Timeline(source)
    explorer = Explorer(timeline, schedules.read(schedule) if schedule is not None else known)
    with serve(explorer, port) as server:
        threading.Thread(target=_scan, args=(explorer,), daemon=True).start()
        address = f"{server.address}#{row}" if row else server.address
        out.print(address, markup=False, highlight=False, soft_wrap=True)
        err.print("Ctrl-C ends it", highlight=False)
        if not no_browser:
            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            err.print("ended", highlight=False)
    raise typer.Exit(OK)


def _scan(explorer: Explorer) -> None:
    # Reading everything, and compiling checks for it, would be in the way of the first window.
    explorer.asked.wait()
    explorer.timeline.scan()


def _trace(path: Path) -> tuple[RunSource, Schedule | None]:
    """A trace, with the schedule that `conform` has put beside it."""
    beside = path.with_name("schedule.json") if path.stem == "trace" else path.with_suffix(".json")
    return NdjsonSource(path), schedules.read(beside) if beside.is_file() and _is_schedule(beside) else None


def _is_schedule(path: Path) -> bool:
    try:
        schedules.read(path)
    except BadInput:
        return False
    return True


def _corpus(corpus: Path, run: int | None) -> tuple[RunSource, Schedule | None]:
    if run is None:
        raise BadInput(f"{corpus}: is a folder; give a trace file, or say which run of a corpus with --run N")
    _, _, entry = entry_of(corpus, run)
    first = 0
    for header, rows in read_headers(runs_path(corpus, entry.file)):
        if header.run == run:
            source = ParquetSource(events_path(corpus, entry.file), header, first, rows)
            return source, None if entry.source or entry.planted else schedule_of(corpus, run)
        first += rows
    raise BadInput(f"{corpus}: its manifest tells of run {run}, its files do not; make it again")
