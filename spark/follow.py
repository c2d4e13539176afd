"""Following a corpus that grows: verdicts kept current, by Structured Streaming and the results that are kept.

A stream over the names of files, without their content, tells that there are new ones; its checkpoint is in
`mined/followed`. Then all that has no kept result is judged (`scatterproof.spark.incremental`). So a batch may come
twice, as after a kill, and a file is judged once: when it and its other half are there and sound.
"""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event
from types import FrameType
from typing import TypeVar

import msgspec
import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from scatterproof.spark.found import Identity, is_as_told
from scatterproof.spark.incremental import SUMMARY, Kept, Say, kept_results
from scatterproof.spark.layout import folder_of
from scatterproof.spark.mine import leave, summed_up
from scatterproof.spark.mined import MineResult
from scatterproof.spark.read import Pair
from scatterproof.spark.session import session_on
from scatterproof.spark.violations import read_violations
from scatterproof.spec.errors import BadInput, CannotRun

Value = TypeVar("Value")

CHECKPOINT = "followed"
LOOK_EVERY_S = 1
_FOLDERS = ("events", "runs")
_FILES = "path STRING, modificationTime TIMESTAMP, length LONG, content BINARY"
# Spark passes over what is older than its newest file by this; a file may be moved in that was written long ago.
_ANY_AGE = "36500d"


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """files, events: judged now.
    known: files that were judged before this process began, in its first batch.
    new: the violations of all these.
    result: over all; nothing where no file counts.
    """

    files: int
    events: int
    known: int
    new: pa.Table
    result: MineResult | None


def follow(
    corpus: Path,
    master: str | None = None,
    *,
    on_batch: Callable[[Batch], None],
    say: Say,
    until_idle_s: float | None = None,
) -> MineResult | None:
    """Judge what is in the corpus and what comes into it, until SIGINT or SIGTERM, or until nothing has come for
    `until_idle_s` seconds. Returns the last result, or None where there is none. Call it in the main thread.

    say: takes a sentence on each file that is left out, as it is not sound; such a file is looked at again when it
        changes.

    Raises BadInput and CannotRun as `mine` does, but not for a single file.
    """
    corpus = folder_of(corpus, "--follow").absolute()
    if not corpus.is_dir():
        raise BadInput(f"{corpus}: no such folder; give the one that the files will come into")
    with kept_results(corpus, say) as kept, session_on(master, corpus) as session, _Signals() as signals:
        following = _Following(kept, session, on_batch, say, signals)
        with _Stream(session, corpus, kept.folder / CHECKPOINT) as stream:
            following.catch_up()  # with what came while nobody looked
            news = time.monotonic()
            while not signals.asked and (until_idle_s is None or time.monotonic() - news < until_idle_s):
                batch = signals.unless_asked(lambda: stream.wait(LOOK_EVERY_S))
                if (batch is not None or following.left_out_has_changed()) and following.catch_up():
                    news = time.monotonic()
                if batch is not None and not signals.asked:
                    batch.set()
        following.say_what_waits()
    return following.result


class _Following:
    """The state of the loop: what is kept, and which pairs are left out, why, and what they were."""

    def __init__(
        self,
        kept: Kept,
        session: SparkSession,
        on_batch: Callable[[Batch], None],
        say: Say,
        signals: _Signals,
    ) -> None:
        self.result: MineResult | None = None
        self._kept = kept
        self._session = session
        self._on_batch = on_batch
        self._say = say
        self._signals = signals
        self._left_out: dict[Pair, tuple[Identity, str]] = {}
        self._begun = False

    def catch_up(self) -> bool:
        """Judge what is new, and sum up again where anything has changed; returns whether it has."""
        pairs = self._pairs()
        before = set(self._kept.found)
        missing = {pair: told for pair, told in self._kept.look(pairs).items() if not self._is_left_out(pair, told)}
        gone = self._left_out.keys() - set(pairs)
        for pair in {*missing, *gone}:
            self._left_out.pop(pair, None)
        recalled = self._kept.found.keys() - before
        judged = self._judge(missing)
        told = sorted({*judged, *recalled})
        if self._begun and not (judged or missing or gone or before - set(self._kept.found)):
            return False
        batch = Batch(
            files=len(judged),
            events=sum(self._kept.found[pair].rows for pair in judged),
            known=len(recalled),
            new=read_violations(self._kept.path(pair) for pair in told if self._kept.found[pair].violations),
            result=None,
        )
        if self._kept.found:
            left_out = [self._left_out[pair][1] for pair in sorted(self._left_out)]
            self.result, runs = summed_up(self._kept, left_out)
            # Said first: the page takes seconds to draw.
            self._on_batch(msgspec.structs.replace(batch, result=self.result))
            leave(self._kept, self.result, runs)
        else:
            self.result = None
            self._on_batch(batch)
            self._withdraw()
        self._begun = True
        return True

    def left_out_has_changed(self) -> bool:
        """Whether a file that was left out has changed since."""
        return any(not is_as_told(pair, told) for pair, (told, _) in self._left_out.items())

    def say_what_waits(self) -> None:
        events, runs = (_names(self._kept.corpus / folder) for folder in _FOLDERS)
        halves = sorted(events ^ runs)
        if halves:
            there, missing = _FOLDERS if halves[0] in events else reversed(_FOLDERS)
            more = f", and {len(halves) - 1} more like it" if len(halves) > 1 else ""
            self._say(f"{there}/{halves[0]} has no {missing}/{halves[0]} yet, and does not count{more}")

    def _pairs(self) -> list[Pair]:
        """The pairs with both halves."""
        events, runs = (self._kept.corpus / folder for folder in _FOLDERS)
        return [Pair(events / name, runs / name) for name in sorted(_names(events) & _names(runs))]

    def _is_left_out(self, pair: Pair, told: Identity) -> bool:
        return pair in self._left_out and self._left_out[pair][0] == told

    def _judge(self, missing: Mapping[Pair, Identity]) -> list[Pair]:
        """Judge the sound ones of these; returns the pairs that count now and did not until then."""
        known = set(self._kept.found)
        wanted, flaws = self._kept.sound(missing)
        self._leave_out(flaws, missing)
        outcomes = self._signals.unless_asked(lambda: self._kept.judge(self._session, wanted))
        if outcomes is None:  # interrupted: some results are kept by now
            self._kept.look(self._pairs())
        else:
            self._leave_out(self._kept.take_all(wanted, outcomes), missing)
        return sorted(self._kept.found.keys() - known)

    def _leave_out(self, flaws: Mapping[Pair, BadInput], told: Mapping[Pair, Identity]) -> None:
        for pair, why in flaws.items():
            self._left_out[pair] = (told[pair], str(why))
            self._say(f"left out: {why}")

    def _withdraw(self) -> None:
        """No file is left that counts: so there is no verdict."""
        from scatterproof.spark.report import REPORT  # as in `leave`

        for name in (SUMMARY, REPORT):
            (self._kept.folder / name).unlink(missing_ok=True)
        self._kept.drop_others()


class _Stream(AbstractContextManager["_Stream"]):
    """Spark's stream of names of files. It waits at each batch until its event is set."""

    def __init__(self, session: SparkSession, corpus: Path, checkpoint: Path) -> None:
        self._rung: SimpleQueue[Event] = SimpleQueue()
        self._ended = False
        self._checkpoint = checkpoint
        names = (
            session.readStream.format("binaryFile")
            .schema(_FILES)
            .option("pathGlobFilter", "*.parquet")
            .option("maxFileAge", _ANY_AGE)
            .load(f"{_escaped(corpus)}/{{events,runs}}")
            .select("path")
        )
        try:
            self._query = (
                names.writeStream.foreachBatch(self._take)
                .option("checkpointLocation", str(checkpoint))
                .trigger(processingTime=f"{LOOK_EVERY_S} seconds")
                .start()
            )
        except (PySparkException, Py4JError) as error:
            raise self._refused(error) from None

    def wait(self, seconds: float) -> Event | None:
        """The event of the next batch, to be set when all in it is judged; None where no batch comes in this time."""
        try:
            return self._rung.get(timeout=seconds)
        except Empty:
            pass
        try:
            if self._query.isActive:
                return None
            raise self._refused(self._query.exception())
        except (Py4JError, OSError) as error:
            raise self._refused(error) from None

    def __exit__(self, *_: object) -> None:
        self._ended = True
        with suppress(Empty):
            while True:
                self._rung.get_nowait().set()
        with suppress(PySparkException, Py4JError, OSError):  # Java may have got the signal, too
            self._query.stop()

    def _take(self, names: DataFrame, number: int) -> None:
        """In Spark's thread. The names are ignored: the folder itself says what is there."""
        done = Event()
        self._rung.put(done)
        while not done.wait(LOOK_EVERY_S):
            if self._ended:
                raise CannotRun(f"batch {number} was not judged to its end")

    def _refused(self, error: Exception | None) -> CannotRun:
        reason = str(error).strip().splitlines()[0] if error else "it has ended"
        return CannotRun(
            f"{self._checkpoint}: Spark cannot follow from here: {reason}; remove this folder: what is judged is kept "
            "elsewhere"
        )


class _Signals(AbstractContextManager["_Signals"]):
    """Takes SIGINT and SIGTERM: they interrupt work within `unless_asked`; otherwise they only set `asked`."""

    def __init__(self) -> None:
        self.asked = False
        self._allowed = False
        self._before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def __enter__(self) -> _Signals:
        for number in self._before:
            signal.signal(number, self._take)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def unless_asked(self, work: Callable[[], Value]) -> Value | None:
        """What `work` returns; None if a signal has come, or comes meanwhile."""
        try:
            self._allowed = True
            return None if self.asked else work()
        except _Interrupted:
            return None
        except CannotRun:
            if self.asked:  # Java has got the signal, too
                return None
            raise
        finally:
            self._allowed = False

    def _take(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        if self._allowed:
            self._allowed = False
            raise _Interrupted


class _Interrupted(BaseException):
    """Not an error, and not to be taken for one."""


def _names(folder: Path) -> set[str]:
    """The Parquet files that Spark counts, too: a file that is being written begins with a dot or underscore."""
    return {path.name for path in folder.glob("*.parquet") if not path.name.startswith((".", "_"))}


def _escaped(path: Path) -> str:
    """The path for Hadoop, which reads these characters as patterns."""
    return re.sub(r"([\\{}\[\]*?,])", r"\\\1", str(path))
