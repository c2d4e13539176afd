"""What judging found in one pair of files, kept as one file: the table of its violations, and in that file's metadata
the counts, the measures, and what the pair was.

So a result is there as a whole or not at all, and mining again need not judge what it knows.
"""

from __future__ import annotations

import gc
import hashlib
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from scatterproof.spark.judge_part import judge_part
from scatterproof.spark.measured import Measured, Packed
from scatterproof.spark.read import Pair, Part
from scatterproof.spark.tallies import Tallies, Tally
from scatterproof.spark.violations import VIOLATIONS, Violations
from scatterproof.spec.files import write_atomically
from scatterproof.spec.storage import opened

_FOUND, _DIGEST = b"scatterproof_found", b"scatterproof_found_sha256"
_ROOT = Path(__file__).resolve().parent.parent
_MAKING = ("found", "judge_part", "measured", "read", "tallies", "violations")
# What a kept result depends on: the code that defines traces and clauses, and the code that makes results.
_JUDGING = ("spec", "conformance", *(f"spark/{name}.py" for name in _MAKING))
_LAST_BYTES = 8  # of a Parquet file: the length of its footer, and PAR1


class FileMark(msgspec.Struct, frozen=True):
    """The state of a file, told without reading its data.

    bytes: its size.
    modified_ns: since 1970.
    footer: a digest of its Parquet footer, which has the places, sizes and bounds of the columns.
    """

    bytes: int
    modified_ns: int
    footer: str


_UNREADABLE = FileMark(-1, 0, "")


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """What was judged, and by what.

    corpus: its folder, which the commands in the table of violations name.
    checks: as of `checks_version`.
    """

    corpus: str
    events: FileMark
    runs: FileMark
    checks: str


class PartFindings(msgspec.Struct, frozen=True, kw_only=True):
    """What judging found in one pair of files.

    rows: how many events.
    runs: their numbers, by their parameters, a JSON object.
    tallies: by clause.
    violations: how many are in the table; more may be counted.
    """

    identity: Identity
    protocol: str
    rows: int
    runs: dict[str, tuple[int, ...]]
    tallies: dict[str, Tally]
    measured: Packed
    violations: int


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without looking for cycles: judging makes a tuple for each violation, and no cycle, and the search takes 5 % of
    its time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@_uncollected()
def judge_and_keep(
    part: Part, identity: Identity, path: Path, *, interpret: bool = False, threads: int = 1
) -> PartFindings:
    """In a task: judge one pair of files, and keep what was found at `path`. interpret, threads: as of `judge_part`."""
    tallies = Tallies(part.protocol)
    violations = Violations(part.protocol, identity.corpus)
    runs: dict[bytes, list[int]] = {}
    measured = Measured(part.protocol)
    for judged in judge_part(part, measured=measured, interpret=interpret, threads=threads):
        header = judged.span.header
        runs.setdefault(msgspec.json.encode(header.parameters), []).append(header.run)
        violations.add(judged, tallies.add(judged))
    table = violations.table()
    found = PartFindings(
        identity=identity,
        protocol=part.protocol,
        rows=part.rows,
        runs={parameters.decode(): tuple(numbers) for parameters, numbers in runs.items()},
        tallies=tallies.by_clause(),
        measured=measured.packed(),
        violations=table.num_rows,
    )
    write_found(path, found, table)
    return found


def write_found(path: Path, found: PartFindings, violations: pa.Table) -> None:
    text = msgspec.json.encode(found)
    file = io.BytesIO()
    # All else differs from row to row.
    alike = ["clause", "run", "replay"]
    with pq.ParquetWriter(
        file, VIOLATIONS, compression="zstd", use_dictionary=alike, write_page_checksum=True
    ) as writer:
        writer.write_table(violations)
        writer.add_key_value_metadata({_FOUND: text, _DIGEST: hashlib.sha256(text).hexdigest().encode()})
    write_atomically(path, file.getvalue())


def read_found(path: Path) -> PartFindings | None:
    """The result at this path; None unless it is whole and of this version."""
    try:
        with pq.ParquetFile(opened(path), page_checksum_verification=True) as file:
            told = file.metadata.metadata or {}
            text = told[_FOUND]
            if hashlib.sha256(text).hexdigest().encode() != told[_DIGEST] or not file.schema_arrow.equals(VIOLATIONS):
                return None
            found = msgspec.json.decode(text, type=PartFindings)
            return found if file.read().num_rows == found.violations else None
    except (OSError, KeyError, ValueError, pa.ArrowException, msgspec.DecodeError):
        return None  # ValueError: text that is not UTF-8, or numbers out of bounds


def is_result(path: Path) -> bool:
    """Whether the file is one of ours, of any version."""
    try:
        with pq.ParquetFile(opened(path)) as file:
            return _FOUND in (file.metadata.metadata or {})
    except (OSError, ValueError, pa.ArrowException):
        return False


def identity_of(corpus: Path, pair: Pair) -> Identity:
    """The identity of a pair of files as it is now."""
    return Identity(corpus=str(corpus), events=_mark(pair.events), runs=_mark(pair.runs_file), checks=checks_version())


def is_as_told(pair: Pair, identity: Identity) -> bool:
    """Whether size and time of both files are still these; cheaper than `identity_of`."""
    try:
        stats = [path.stat() for path in pair]
    except OSError:
        return False
    told = (identity.events, identity.runs)
    return [(stat.st_size, stat.st_mtime_ns) for stat in stats] == [(mark.bytes, mark.modified_ns) for mark in told]


@cache
def checks_version() -> str:
    """A digest of the checks, the catalogue, and all else that verdicts depend on."""
    return digest_of([_ROOT / name for name in _JUDGING])


def digest_of(sources: Iterable[Path]) -> str:
    """Of files, and of folders with Python and TOML in them, tests left out: changes with any name or content."""
    digest = hashlib.sha256()
    for source in sources:
        within = sorted(source.rglob("*")) if source.is_dir() else [source]
        for path in within:
            place = path.relative_to(source.parent)
            if path.suffix in (".py", ".toml") and "tests" not in place.parts:
                content = path.read_bytes()
                digest.update(f"{place.as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _mark(path: Path) -> FileMark:
    try:
        stat = path.stat()
        with path.open("rb") as file:
            file.seek(max(0, stat.st_size - _LAST_BYTES))
            last = file.read(_LAST_BYTES)
            length = int.from_bytes(last[:4], "little") if last.endswith(b"PAR1") else 0
            file.seek(max(0, stat.st_size - _LAST_BYTES - length))
            footer = hashlib.sha256(file.read(length)).hexdigest()
    except OSError:
        return _UNREADABLE  # and whoever judges it says why
    return FileMark(bytes=stat.st_size, modified_ns=stat.st_mtime_ns, footer=footer)
