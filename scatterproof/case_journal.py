"""The journal of a conformance run, cases.jsonl in its folder: first whose run it is, then a line for each case,
written as it ends. An interrupted run goes on from there."""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from scatterproof.case_runs import CaseRun
from scatterproof.conformance.case import CaseResult
from scatterproof.conformance.protocol import Case
from scatterproof.conformance.report import folder as results_folder
from scatterproof.conformance.report.run import folder_name
from scatterproof.conformance.verdict import ClauseResult, Verdict
from scatterproof.spec import schedule as schedules
from scatterproof.spec import trace_ndjson
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.files import read_bytes, write_atomically

VERSION = 1
FILE_NAME = "cases.jsonl"
LOCK = ".lock"


class Whose(msgspec.Struct, frozen=True, kw_only=True):
    """What has to be the same for a run to go on. profile: its file's name and a digest of what is in it, or empty."""

    protocol: str
    iut: str
    profile: str
    catalogue: str
    journal: int = VERSION


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    """A case's result; its schedule and its trace are in the case's own folder. trace: whether there is one."""

    case: str
    verdict: Verdict
    reason: str
    results: tuple[ClauseResult, ...]
    blamed: tuple[str, ...]
    seconds: float
    trace: bool


def profile_of(path: Path | None) -> str:
    """The name and a digest of the profile's file, which tell it from others; empty for None."""
    return "" if path is None else f"{path.name} {hashlib.sha256(read_bytes(path, 'profile')).hexdigest()[:16]}"


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keep others who ask for this out of the folder, which is made, until the context ends. Raises CannotRun where
    somebody is there. A process that dies leaves no lock behind."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = (folder / LOCK).open("a")
    except OSError as error:
        raise CannotRun(f"{folder}: cannot be written: {error.strerror}; check the folder and the disk") from None
    with held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotRun(
                f"{folder}: another run writes there now; wait for its end, or give this one a folder of its own with"
                " --results"
            ) from None
        yield


class Journal:
    """The file, for one run at a time. known: by case, what the earlier runs that this one continues have found."""

    def __init__(self, folder: Path, whose: Whose, selected: Sequence[Case], *, resume: bool) -> None:
        self._folder, self._path = folder, folder / FILE_NAME
        kept = _read(self._path, whose) if resume else []
        every = {case.id: case for case in selected}
        self.known: dict[str, CaseRun] = {}
        for line in kept:
            found = self._taken_up(every[line.case], line) if line.case in every else None
            if found is not None:
                self.known[line.case] = found
        write_atomically(self._path, b"".join(msgspec.json.encode(line) + b"\n" for line in (whose, *kept)))
        # A page of an earlier run would not match the cases of this one.
        results_folder.remove_reports(folder)

    def add(self, found: CaseRun) -> None:
        """Keep a case that has ended."""
        result = found.result
        results_folder.write_case(self._folder, result)
        line = _Line(
            case=result.case.id,
            verdict=result.verdict,
            reason=result.reason,
            results=result.results,
            blamed=result.blamed,
            seconds=found.seconds,
            trace=result.trace is not None,
        )
        try:
            with self._path.open("ab") as file:
                file.write(msgspec.json.encode(line) + b"\n")
        except OSError as error:
            raise CannotRun(f"{self._path}: cannot be written: {error.strerror}; check the disk") from None

    def _taken_up(self, case: Case, line: _Line) -> CaseRun | None:
        """The result, or None where the case has to be run: it could not be run then, it has changed, or its files are
        gone."""
        place = self._folder / folder_name(case.id)
        try:
            if line.verdict is Verdict.NOT_RUN or schedules.read(place / "schedule.json") != case.schedule:
                return None
            trace = trace_ndjson.read(place / "trace.ndjson") if line.trace else None
        except BadInput:
            return None
        result = CaseResult(
            case=case,
            verdict=line.verdict,
            reason=line.reason,
            results=line.results,
            trace=trace,
            blamed=line.blamed,
        )
        return CaseRun(result, line.seconds)


def _read(path: Path, whose: Whose) -> list[_Line]:
    """The lines of the journal, the last of each case; a last line that was cut short is left out. Raises BadInput for
    the journal of another run."""
    if not path.is_file():
        raise BadInput(f"{path.parent}: has no run to go on from; leave --resume out")
    first, *lines = read_bytes(path, "journal").split(b"\n")
    try:
        before = msgspec.json.decode(first, type=Whose)
        found = [msgspec.json.decode(line, type=_Line) for line in lines[:-1]]
    except msgspec.DecodeError as error:
        raise BadInput(f"{path}: is no journal of a run: {error}; leave --resume out") from None
    for name in Whose.__struct_fields__:
        was, now = getattr(before, name), getattr(whose, name)
        if was != now:
            raise BadInput(
                f"{path.parent}: holds a run with {name} {was or 'none'}, not {now or 'none'}; go on with the same, or"
                " leave --resume out"
            )
    return list({line.case: line for line in found}.values())
