"""`scatterproof import`: users' traces, captures and logs, as a corpus for `mine`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scatterproof.console import Progress, out, print_json
from scatterproof.options import PLACE, Json, Master, Protocol, resolve
from scatterproof.spark.importing.import_traces import ImportResult, import_traces
from scatterproof.spark.session import MASTER

SHOWN = 5


def command(
    sources: Annotated[
        list[Path],
        typer.Argument(help="Traces (.ndjson, .csv), histories (.edn), captures (.pcap, .pcapng), logs, or folders."),
    ],
    folder: Annotated[Path, typer.Option("--out", help=f"{PLACE} for the corpus; an older corpus there is replaced.")],
    mapping: Annotated[
        Path | None,
        typer.Option("--mapping", help="TOML file: header, columns, units, nodes, patterns of log lines."),
    ] = None,
    protocol: Protocol = None,
    master: Master = MASTER,
    as_json: Json = False,
) -> None:
    """Bring recorded traces into the layout that `mine` reads. What cannot be read is kept in quarantine.

    When it is killed, the same command begins anew; at an address, `mine` refuses until then what is not whole.
    """
    with Progress(f"Importing {', '.join(map(str, sources))}") as progress:
        result = import_traces(
            resolve(protocol),
            sources,
            folder,
            mapping,
            master,
            on_progress=lambda done, total: progress(f"{done} of {total} bytes"),
        )
    if as_json:
        print_json(result)
    else:
        _print(result)


def _print(result: ImportResult) -> None:
    def say(text: str) -> None:
        out.print(text, markup=False, highlight=False)

    say(f"{result.runs} runs, {result.events} events of {result.sources} sources in {result.path}")
    if result.quarantined:
        say(f"{result.quarantined} rows could not be read; they are in {result.path}/quarantine:")
    for reason, count in list(result.reasons.items())[:SHOWN]:
        say(f"  {count} times: {reason}")
    for why, count in result.skipped.items():
        say(f"{count} lines or frames are of no event: {why}")
    for what, paths in (("no run could be made of", result.without_run), ("passed over", result.passed_over)):
        for path in paths[:SHOWN]:
            say(f"{what} {path}")
        if len(paths) > SHOWN:
            say(f"{what} {len(paths) - SHOWN} more files")
    say(f"next: scatterproof mine {result.path}")
