"""Run one function over many items in Spark tasks, a few items a task, with progress.

Items and results are small: names of files, numbers of runs, counts. Rows of traces stay in the files, which each task
opens by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import Accumulator
from pyspark.errors import PySparkException, PythonException
from pyspark.sql import SparkSession

from scatterproof.spark.shipping import on_cluster, settle_in
from scatterproof.spec.errors import BadInput, CannotRun, ScatterproofError

Item = TypeVar("Item")
Result = TypeVar("Result")
# on_progress(done, of): how much of the work is done, in the unit of the weights.
OnProgress: TypeAlias = Callable[[int, int], None]

_POLL_S = 0.1
# A task costs Spark a tenth of a second; progress shows, and cores even out, with a few to each.
TASKS_A_CORE = 4


@dataclass(frozen=True, slots=True)
class _Refused:
    """A task met one of our errors: carried home as a value, since Spark would wrap it in its own words."""

    sentence: str
    exit_code: int


def run_tasks(
    session: SparkSession,
    items: Sequence[Item],
    work: Callable[[Item], Result],
    *,
    weights: Sequence[int],
    on_progress: OnProgress | None = None,
) -> list[Result]:
    """work(item) for each item; results in the order of the items. weights: how much of the work each item is.

    Raises the first BadInput or CannotRun, in the order of the items.
    """
    context, total = session.sparkContext, sum(weights)
    done: Accumulator[int] = context.accumulator(0)

    elsewhere = on_cluster(context)

    def guarded(numbers: Iterable[int]) -> Iterator[Result | _Refused]:
        if elsewhere:
            settle_in()
        for number in numbers:
            try:
                yield work(items[number])
            except ScatterproofError as error:
                yield _Refused(str(error), error.exit_code)
            done.add(weights[number])

    if not items:
        return []
    # On a cluster one item a task: executors may still be starting, and the tasks of a lost one are done again.
    tasks = len(items) if elsewhere else min(len(items), TASKS_A_CORE * context.defaultParallelism)
    job = context.parallelize(range(len(items)), tasks).mapPartitions(guarded)
    with ThreadPoolExecutor(1) as thread:
        # Spark's own thread collects, so that this one can show progress, and be interrupted.
        outcome = thread.submit(job.collect)
        shown = 0
        try:
            while not wait([outcome], timeout=_POLL_S).done:
                if on_progress is not None and shown < done.value:
                    shown = done.value
                    on_progress(shown, total)
        finally:
            if not outcome.done():
                context.cancelAllJobs()
        try:
            results = outcome.result()
        except (PySparkException, Py4JError) as error:
            raise CannotRun(f"a Spark task failed: {_reason(error)}") from error
    if on_progress is not None:
        on_progress(total, total)
    return list(_unwrapped(results))


def _unwrapped(results: Iterable[Result | _Refused]) -> Iterator[Result]:
    for result in results:
        if isinstance(result, _Refused):
            raise (BadInput if result.exit_code == BadInput.exit_code else CannotRun)(result.sentence)
        yield result


def _reason(error: Exception) -> str:
    """What the Python in the task raised, which ends the report of a PythonException; else what became of the task, if
    the report says so, or its first line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if isinstance(error, PythonException):
        return lines[-1]
    fates = (line.partition("most recent failure: ")[2] for line in lines)
    return next(filter(None, fates), lines[0])
