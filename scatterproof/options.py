"""Options that several commands share, so that they read alike everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from scatterproof.spec import clauses
from scatterproof.spec.errors import BadInput

Protocol = Annotated[
    str | None,
    typer.Option("--protocol", "-p", help="The protocol; the first that `doctor` lists when left out."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout instead of tables.")]
IutName = Annotated[
    str,
    typer.Option(
        "--iut",
        help="Implementation under test: reference, reference-stdio, reference-udp, or stdio:COMMAND or"
        " datagram:COMMAND for a program of your own, started once a node; mutant:NAME for a damaged reference;"
        " product:NAME for a product that others wrote; and"
        " what the protocol has beside it, such as p4, p4:BUILD and bmv2.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of everything random; printed with every result.")]
Results = Annotated[Path, typer.Option("--results", help="Folder for traces, logs and reports.")]
MASTERS = "local[*] or local[N] for cores of this machine; or a cluster: spark://HOST:PORT, yarn, k8s://HOST:PORT"
PLACE = "Folder, or address (s3://BUCKET/NAME, hdfs://HOST:PORT/NAME; spark/README.md),"
Master = Annotated[str, typer.Option("--master", help=f"Spark master: {MASTERS} (spark/README.md).")]

RESULTS = Path("results")


def resolve(protocol: str | None) -> str:
    """The protocol meant: the one named, or the first."""
    known = clauses.protocols()
    if protocol is None:
        return known[0]
    if protocol not in known:
        raise BadInput(f"--protocol {protocol!r} is unknown; choose one of: {', '.join(known)}")
    return protocol


def protocol_of(named: Sequence[str]) -> str | None:
    """The protocol of the addresses and clauses that are named, such as PROTOCOL/CLAUSE/CASE or CLAUSE; None where they
    name none. Raises BadInput when they are of several."""
    known = clauses.protocols()
    having = {name: name for name in known}
    having |= {clause.id: name for name in known for clause in clauses.load(name).clauses}
    found = {having[first]: each for each in named for first in (each.split("/")[0],) if first in having}
    if len(found) > 1:
        raise BadInput(f"{' and '.join(found.values())} are of different protocols; give those of one at a time")
    return next(iter(found), None)


def refuse_file(option: str, path: Path | None, results: Path | None = None) -> None:
    """Raise BadInput unless a file can be made there: its folder exists, or is the results folder or in it, which is
    made. None is allowed."""
    if path is None:
        return
    if path.is_dir():
        raise BadInput(f"{option} {path}: is a folder; name a file in it")
    made = results is not None and path.absolute().parent.is_relative_to(results.absolute())
    if not path.parent.is_dir() and not made:
        raise BadInput(f"{option} {path}: there is no folder {path.parent}; make it first, or name a file elsewhere")
