"""Parquet files in any other layout, sorted into that of corpora: a run contiguous, ordered, and in one file.

This is the one place where events are shuffled. Spark reads, sorts and writes them, on disk where memory does not
suffice; no row crosses to Python. Rows of a run are ordered by their column `position`, or else by time, and where that
is equal by file and place in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as sql

from scatterproof.conformance.network.run import catalogue_version
from scatterproof.spark.jobs import run_tasks
from scatterproof.spark.layout import (
    MANIFEST,
    MINED,
    Manifest,
    RunEntry,
    entry_of_header,
    events_path,
    replaced_folder,
    runs_path,
)
from scatterproof.spark.mapping import ISO, UNITS
from scatterproof.spark.mapping import Mapping as UserMapping
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.files import write_atomically
from scatterproof.spec.trace import ABSENT, Domain, Header, schema
from scatterproof.spec.trace_parquet import headers_table, read_headers, reading

ARRANGED = "arranged"
BYTES_A_FILE = 64 << 20
_SORTED = "sorted"
_BATCH_ROWS = 1 << 18


class Untidy(msgspec.Struct, frozen=True, kw_only=True):
    """A user's files: events, and the headers of their runs, if there is a table of them."""

    events: tuple[Path, ...]
    headers: dict[int, Header]
    protocol: str


def arranged_path(path: Path) -> Path:
    """Where the sorted copy of these files is kept."""
    return path / ARRANGED if path.is_dir() else path.with_name(f"{path.name}.{ARRANGED}")


def arrange(path: Path, mapping: UserMapping, session: SparkSession) -> Path:
    """Sort the Parquet file, or all below the folder, into a corpus, and return its folder.

    Raises BadInput naming file, row group and column where one is missing, and where a run has no header; CannotRun
    when Spark cannot sort, for lack of disk above all.
    """
    untidy = look_at(path, mapping)
    target = arranged_path(path.absolute())
    with replaced_folder(target, MANIFEST) as folder:
        (folder / "runs").mkdir()
        _sort(untidy.events, mapping, folder / "events", session)
        files = sorted((folder / "events").glob("part-*.parquet"))
        found = run_tasks(session, files, _runs_in, weights=[1] * len(files))
        entries: list[RunEntry] = []
        number = 0
        for file, runs in zip(files, found, strict=True):
            if not runs:  # Spark writes files without rows, too
                file.unlink()
                continue
            file.replace(events_path(folder, number))
            headers = [_header(run, untidy, mapping, path) for run in runs]
            pq.write_table(headers_table(headers, list(runs.values())), runs_path(folder, number))
            entries += [
                entry_of_header(header, events=runs[header.run], file=number, kind=_SORTED, source=path)
                for header in headers
            ]
            number += 1
        for rest in (folder / "events").iterdir():
            if not rest.name.endswith(".parquet"):
                rest.unlink()
        if not entries:
            raise BadInput(f"{path}: holds no rows; give files with events")
        manifest = Manifest(
            protocol=untidy.protocol,
            seed=0,
            files=number,
            events=sum(entry.events for entry in entries),
            runs=tuple(entries),
        )
        write_atomically(folder / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n")
    return target


def look_at(path: Path, mapping: UserMapping) -> Untidy:
    """The files to sort, without Spark; BadInput for a path without traces, and for a file that lacks a column."""
    untidy = _untidy(path, mapping)
    for file in untidy.events:
        _refuse_missing(file, mapping)
    return untidy


def _untidy(path: Path, mapping: UserMapping) -> Untidy:
    """All files of the folder are events, but for a table of headers, `runs`, and what mining leaves."""
    if not path.exists():
        raise BadInput(f"{path}: no such file or folder; give one that exists")
    if path.is_file():
        return Untidy(events=(path.absolute(),), headers={}, protocol=mapping.protocol)
    ours = {MINED, ARRANGED, "quarantine"}
    files = [file for file in sorted(path.absolute().rglob("*.parquet")) if not ours & set(_folders(file, path))]
    tables = [file for file in files if "runs" in (*_folders(file, path), file.stem)]
    headers = {header.run: header for header, _ in chain.from_iterable(map(read_headers, tables))}
    protocols = {header.protocol for header in headers.values()} or {mapping.protocol}
    if protocols != {mapping.protocol}:
        raise BadInput(
            f"{path}: is of {', '.join(sorted(protocols))}, not of {mapping.protocol}; name it as --protocol"
        )
    events = tuple(file for file in files if file not in tables)
    if not events:
        raise BadInput(f"{path}: holds no traces (*.parquet); give a folder of them, or one that `corpus` has made")
    return Untidy(events=events, headers=headers, protocol=mapping.protocol)


def _folders(file: Path, below: Path) -> Sequence[str]:
    return file.relative_to(below.absolute()).parts[:-1]


def _refuse_missing(file: Path, mapping: UserMapping) -> None:
    with reading(file), pq.ParquetFile(file) as opened:
        there = opened.schema_arrow
    for column in schema(mapping.protocol).columns:
        name = mapping.columns.get(column, column)
        if column in mapping.constants:
            continue
        if name not in there.names:
            raise BadInput(
                f"{file}: row group 0: column {name} is missing; there are {', '.join(there.names)}; name it in the "
                "mapping's [columns], or give it a value in [constants]"
            )
        kind = there.field(name).type
        words = column in _named(mapping.protocol) and pa.types.is_string(kind)
        times = column in mapping.units and (pa.types.is_timestamp(kind) or pa.types.is_floating(kind))
        if not (pa.types.is_integer(kind) or words or times):
            raise BadInput(f"{file}: row group 0: column {name} is {kind}; make it int64")


def _sort(files: Sequence[Path], mapping: UserMapping, out: Path, session: SparkSession) -> None:
    """Write the events, sorted, as files that each hold whole runs."""
    size = sum(file.stat().st_size for file in files)
    try:
        frame = session.read.parquet(*map(str, files))
        run = mapping.columns.get("run", "run")
        chosen = [(sql.col(run).cast("long") if run in frame.columns else sql.lit(0).cast("long")).alias("run")]
        chosen += [_column(column, mapping, frame.columns).alias(column) for column in schema(mapping.protocol).columns]
        keys = ["position"] if "position" in frame.columns else ["time_ns", "_file", "_row"]
        chosen += (
            [sql.col("position")]
            if keys == ["position"]
            else [
                sql.col("_metadata.file_path").alias("_file"),
                sql.col("_metadata.row_index").alias("_row"),
            ]
        )
        parts = max(1, -(-size // BYTES_A_FILE))
        # By range of the run's number, so that no run is cut, and neighbours stay together.
        ordered = frame.select(*chosen).repartitionByRange(parts, "run").sortWithinPartitions("run", *keys)
        written = ordered.select("run", *schema(mapping.protocol).columns)
        written.write.option("compression", "zstd").parquet(str(out))
    except (PySparkException, Py4JError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise CannotRun(f"{files[0].parent}: Spark could not sort the events: {lines[0]}") from None


def _column(column: str, mapping: UserMapping, there: Sequence[str]) -> Column:
    """The column as whole numbers; an empty value is -1."""
    name = mapping.columns.get(column, column)
    words: Mapping[str, int] = {"kind": mapping.kinds, "packet": mapping.packets}.get(column, mapping.nodes)
    if name not in there:
        value = mapping.constants[column]
        return sql.lit(words.get(value, ABSENT) if isinstance(value, str) else value).cast("long")
    found = sql.col(f"`{name}`")
    unit = mapping.units.get(column)
    if unit == ISO:
        found = sql.unix_micros(found.cast("timestamp")) * UNITS["us"]
    elif unit is not None:
        found = (found.cast("decimal(38,9)") * UNITS[unit]).cast("long")
    elif column in _named(mapping.protocol):
        found = _numbered(found, words)
    return sql.coalesce(found.cast("long"), sql.lit(ABSENT).cast("long"))


def _named(protocol: str) -> Sequence[str]:
    """The columns that may hold words."""
    return schema(protocol).naming(Domain.KIND, Domain.PACKET, Domain.NODE)


def _numbered(found: Column, words: Mapping[str, int]) -> Column:
    """A word's number; a number, or its digits, stays as it is."""
    if not words:
        return found.try_cast("long")
    known = sql.create_map(*(sql.lit(part) for pair in words.items() for part in pair))
    return sql.coalesce(sql.element_at(known, found.cast("string")), found.try_cast("long"))


def _runs_in(file: Path) -> dict[int, int]:
    """In a task: the runs of a sorted file, in their order, and how many rows each has."""
    found: dict[int, int] = {}
    with reading(file), pq.ParquetFile(file) as opened:
        for batch in opened.iter_batches(_BATCH_ROWS, columns=["run"]):
            runs = np.asarray(batch.column("run"), dtype=np.int64)
            firsts = np.flatnonzero(np.diff(runs, prepend=runs[:1] - 1))
            for first, end in zip(firsts.tolist(), [*firsts[1:].tolist(), len(runs)], strict=True):
                run = int(runs[first])
                found[run] = found.get(run, 0) + end - first
    return found


def _header(run: int, untidy: Untidy, mapping: UserMapping, path: Path) -> Header:
    header = untidy.headers.get(run, mapping.header)
    if header is None:
        raise BadInput(f"{path}: run {run} has no header; give --mapping with one, or a table `runs` that has them all")
    return msgspec.structs.replace(header, run=run, catalogue=header.catalogue or catalogue_version(header.protocol))
