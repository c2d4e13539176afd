"""What judging found in one pair of files, kept as one file: the table of its violations, and in that file's metadata
the counts, the measures, and what the pair was.

So a result is there as a whole or not at all, and mining again need not judge what it knows.
"""

from __future__ import annotations

import gc
import hashlib
import io
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from scatterproof.conformance.checks.online import Broken
from scatterproof.conformance.protocol import load
from scatterproof.conformance.verdict import ClauseResult, Verdict
from scatterproof.conformance.wording import Told, sentences
from scatterproof.spark.judge_part import JudgedRun, judge_part
from scatterproof.spark.measured import Measured, Packed
from scatterproof.spark.read import Pair, Part
from scatterproof.spec.files import write_atomically
from scatterproof.spec.storage import opened

VIOLATIONS = pa.schema(
    [
        ("clause", pa.string()),
        ("run", pa.int64()),
        ("position", pa.int64()),
        ("expected", pa.int64()),
        ("found", pa.int64()),
        ("witness", pa.int64()),
        ("sentence", pa.string()),
        ("replay", pa.string()),
    ]
)
_IN_ORDER = [("run", "ascending"), ("position", "ascending"), ("clause", "ascending")]
_FOUND, _DIGEST = b"scatterproof_found", b"scatterproof_found_sha256"
_ROOT = Path(__file__).resolve().parent.parent
# What a kept result depends on: the code that defines traces and clauses, and the code that makes results.
_JUDGING = ("spec", "conformance", *(f"spark/{name}.py" for name in ("found", "judge_part", "measured", "read")))
VERDICTS = tuple(Verdict)
_GRAVEST = (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.NOT_RUN)
_STANDINGS_KEPT = 1 << 12
_STANDINGS: dict[tuple[str, tuple[str | None, ...], bytes], _Standing] = {}
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


class Tally(msgspec.Struct):
    """One clause over the runs of one file.

    runs: how many runs gave each verdict of `VERDICTS`.
    held: at how many rows it held.
    broken_in: by run, how many rows break it, where some do.
    reason: the first that a result gives.
    """

    runs: list[int]
    held: int = 0
    broken_in: dict[int, int] = {}
    reason: str = ""


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
    tallies = _Tallies(part.protocol)
    violations = _Violations(part.protocol, identity.corpus)
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


class _Violations:
    """The table of violations, which grows by columns: an object for each would take as long as its sentence."""

    def __init__(self, protocol: str, corpus: str) -> None:
        self._protocol, self._checks = protocol, load(protocol).checks
        self._replay = f"scatterproof replay --corpus {shlex.quote(corpus)} --run"
        self._told: list[Told] = []
        self._clauses: list[str] = []
        self._runs: list[int] = []
        self._sentences: list[str] = []
        self._replays: list[str] = []

    def add(self, judged: JudgedRun, failed: Sequence[ClauseResult]) -> None:
        """failed: the results of the clauses that the run breaks."""
        names, header = {result.name for result in failed}, judged.span.header
        for number, told in judged.told.items():
            if number < len(self._checks) and (check := self._checks[number]).name in names:
                count = told.shape[1]
                self._told.append(told[: len(Broken._fields)])
                self._clauses += [check.clause] * count
                self._runs += [header.run] * count
                self._sentences += sentences(self._protocol, header, check, told)
                self._replays += [f"{self._replay} {header.run}"] * count

    def table(self) -> pa.Table:
        if not self._told:
            return pa.Table.from_batches([], VIOLATIONS)  # Arrow loads pandas to make columns from lists
        columns = dict(zip(Broken._fields, np.hstack(self._told).tolist(), strict=True))
        columns |= {"clause": self._clauses, "run": self._runs, "sentence": self._sentences, "replay": self._replays}
        return pa.table({name: columns[name] for name in VIOLATIONS.names}, schema=VIOLATIONS)


class _Standing(NamedTuple):
    """What a run says of its clauses.

    verdicts: clause, verdict, and why it is neither pass nor fail.
    counted: of shape (checks,), whether it counts how often a check held.
    """

    verdicts: tuple[tuple[str, Verdict, str], ...]
    counted: npt.NDArray[np.bool_]


class _Tallies:
    """What the runs of one file add up to."""

    def __init__(self, protocol: str) -> None:
        self._protocol, self._checks = protocol, load(protocol).checks
        self._standings: dict[int, _Standing] = {}  # by `id`
        self._times = Counter[int]()
        self._held = np.zeros(len(self._checks), dtype=np.int64)
        self._broken_in: dict[str, dict[int, int]] = {}

    def add(self, judged: JudgedRun) -> list[ClauseResult]:
        """Count a run, and return the results of clauses that it breaks."""
        network, run = judged.network, judged.span.header.run
        # Runs that lack nothing and break nothing say the same where the same checks apply, and held: to conclude each
        # would take as long as two checks do.
        is_clean = network.shown is None and not judged.told and not (judged.counts * network.around["applies"]).any()
        key = (self._protocol, network.reasons, (judged.held > 0).tobytes())
        standing, failed = _STANDINGS.get(key) if is_clean else None, list[ClauseResult]()
        if standing is None:
            results = judged.results(listed=False)
            standing = self._standing(results)
            failed = [result for result in results if result.broken]
            if is_clean:
                if len(_STANDINGS) == _STANDINGS_KEPT:
                    _STANDINGS.clear()
                _STANDINGS[key] = standing
        self._standings[id(standing)] = standing
        self._times[id(standing)] += 1
        self._held += judged.held[: len(self._held)] * standing.counted
        for result in failed:
            broken_in = self._broken_in.setdefault(result.clause, {})
            broken_in[run] = broken_in.get(run, 0) + result.broken
        return failed

    def by_clause(self) -> dict[str, Tally]:
        tallies: dict[str, Tally] = {}
        for key, standing in self._standings.items():
            for clause, verdict, reason in standing.verdicts:
                if clause not in tallies:
                    tallies[clause] = Tally([0] * len(VERDICTS), broken_in=self._broken_in.get(clause, {}))
                tally = tallies[clause]
                tally.runs[VERDICTS.index(verdict)] += self._times[key]
                tally.reason = tally.reason or reason
        for check, held in zip(self._checks, self._held.tolist(), strict=True):
            if check.clause in tallies:
                tallies[check.clause].held += held
        return tallies

    def _standing(self, results: Sequence[ClauseResult]) -> _Standing:
        of_clause: dict[str, list[ClauseResult]] = {}
        for result in results:
            of_clause.setdefault(result.clause, []).append(result)
        counted = {result.name for result in results if result.held}
        return _Standing(
            # A clause may have several checks, one of which leaves open what another one passes.
            verdicts=tuple(
                (
                    clause,
                    min((result.verdict for result in own), key=_GRAVEST.index),
                    next((result.reason for result in own if result.reason), ""),
                )
                for clause, own in of_clause.items()
            ),
            counted=np.array([check.name in counted for check in self._checks]),
        )


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


def read_violations(paths: Iterable[Path], most: int | None = None) -> pa.Table:
    """The violations that these results keep, by run, position and clause. most: only the first ones are read; then one
    result at a time is in memory."""
    tables = (pq.read_table(opened(path), schema=VIOLATIONS) for path in paths)
    if most is None:
        return pa.concat_tables([VIOLATIONS.empty_table(), *tables]).sort_by(_IN_ORDER)
    first = VIOLATIONS.empty_table()
    for table in tables:
        both = pa.concat_tables([first, table])
        first = both.take(pc.sort_indices(both, sort_keys=_IN_ORDER)[:most])
    return first


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
