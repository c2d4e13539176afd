"""The project's own code, shipped to the executors of a cluster, and whether they can run it.

It travels as an archive that Spark unpacks in the working folder of each executor, so that modules find the files which
they read beside themselves. This module imports only Spark, the standard library, and of ours `spec.errors`,
`spec.files` and `spec.storage`: so a machine without our packages can run it, and say what it lacks.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTime
from pathlib import Path
from typing import TypeAlias

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import SparkContext
from pyspark.errors import PySparkException

from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.files import IMPORTED_FROM
from scatterproof.spec.storage import Remote, place_of

PACKAGE = "scatterproof"
CODE = "scatterproof-code"  # where the archive is unpacked, in an executor's working folder
CACHE = "scatterproof-cache"
# What tasks import. A Python that was installed from the lock file has them all.
NEEDED = ("hypothesis", "msgspec", "networkx", "numba", "numpy", "pyarrow")
EXECUTORS_START_WITHIN_S = 600
_GUIDE = "spark/README.md says how to bring it there"

# What a task says of its executor: its Python, what that lacks, where our code is, and whether it sees the folder.
_Told: TypeAlias = tuple[str, tuple[str, ...], str, bool]


def on_cluster(context: SparkContext) -> bool:
    """Whether tasks run in processes that may be on other machines."""
    master = str(context.master)
    return not master.startswith("local") or master.startswith("local-cluster")


def write_archive(path: Path) -> None:
    """The package as a zip, without its tests."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in shipped_files():
            archive.write(file, file.relative_to(IMPORTED_FROM))


def shipped_files() -> Iterator[Path]:
    # In a checkout the packages within are links.
    for folder, inner, files in os.walk(IMPORTED_FROM / PACKAGE, followlinks=True):
        inner[:] = sorted({*inner} - {"tests", "__pycache__"})
        # What begins with a dot is somebody's tool at work, or a file that is still being written.
        yield from (Path(folder, name) for name in sorted(files) if name[0] != ".")


def ship(context: SparkContext, scratch: Path) -> None:
    """Have every executor unpack the code, and its Python processes find it ahead of any other package of that name."""
    archive = scratch / f"{CODE}.zip"
    write_archive(archive)
    context.addArchive(f"{archive}#{CODE}")
    context.environment["PYTHONPATH"] = CODE


def settle_in() -> None:
    """In a task on a cluster: make paths relative to the executor's working folder absolute, for processes that the
    task starts; and use a cache in the working folder where the user's cannot be written."""
    from scatterproof.spec.files import cache_folder

    code = str(Path(CODE).absolute())
    os.environ["PYTHONPATH"] = os.pathsep.join([code, *_others(os.environ.get("PYTHONPATH", ""))])
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        writable = os.access(cache_folder(), os.W_OK)
    except (OSError, RuntimeError, CannotRun):  # RuntimeError: a user without a home
        writable = False
    if not writable:
        os.environ["SCATTERPROOF_CACHE"] = str(Path(CACHE).absolute())


def _others(paths: str) -> list[str]:
    return [path for path in paths.split(os.pathsep) if path and Path(path).name != CODE]


def refuse_unfit(context: SparkContext) -> None:
    """CannotRun where executors do not start, or their Python cannot run our tasks."""
    for python, missing, code, _ in _ask(context, None):
        if missing:
            raise CannotRun(f"the executors' Python ({python}) lacks {', '.join(missing)}; {_GUIDE}")
        if not code:
            raise CannotRun(f"the executors' Python ({python}) does not find the code that was shipped ({CODE})")


def refuse_unshared(context: SparkContext, folder: Path) -> None:
    """BadInput where executors do not see in the folder, or at the address, what this process writes there."""
    if isinstance(folder, Remote):
        object_ = folder / f".shared-{os.urandom(8).hex()}"
        object_.write_whole(b"")
        seen = all(seen for *_, seen in _ask(context, str(object_)))
        object_.unlink()
        if not seen:
            raise BadInput(
                f"{folder}: the executors of {context.master} do not see what is written there; they need the settings"
                " and secrets that this machine has for it, too (spark/README.md)"
            )
        return
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".shared-") as mark:
            seen = all(seen for *_, seen in _ask(context, mark.name))
    except OSError as error:
        raise BadInput(f"{folder}: nothing can be written there: {error.strerror}; give another folder") from None
    if not seen:
        raise BadInput(
            f"{folder}: the executors of {context.master} do not see what is written there; give a folder on a file"
            " system that they share with this machine"
        )


def _ask(context: SparkContext, mark: str | None) -> Sequence[_Told]:
    """The answers of a few tasks, one for each core that executors offer so far; CannotRun where no task can run."""

    def tell(_: Iterable[int]) -> Iterator[_Told]:
        missing = tuple(name for name in NEEDED if importlib.util.find_spec(name) is None)
        found = importlib.util.find_spec(PACKAGE)
        shipped = str(Path(CODE).absolute())
        code = found.origin if found is not None and found.origin is not None else ""
        yield sys.executable, missing, code if code.startswith(shipped) else "", mark is None or _sees(mark)

    cores = context.defaultParallelism
    with ThreadPoolExecutor(1) as thread:
        answers = thread.submit(context.parallelize(range(cores), cores).mapPartitions(tell).collect)
        try:
            return answers.result(EXECUTORS_START_WITHIN_S)
        except NotInTime:
            raise CannotRun(
                f"{context.master}: no executor has started within {EXECUTORS_START_WITHIN_S} s; check that it has"
                " workers with free cores and memory"
            ) from None
        except (PySparkException, Py4JError) as error:
            raise CannotRun(f"{context.master}: {_why(str(error))}") from None
        finally:
            if not answers.done():
                context.cancelAllJobs()


def _sees(mark: str) -> bool:
    """In a task: whether that file is there."""
    try:
        return place_of(mark).exists()
    except (CannotRun, OSError):
        return False


def _why(report: str) -> str:
    """One sentence: why not even such tasks have run."""
    lines = [line.strip() for line in report.splitlines() if line.strip()]
    for line in lines:
        if "PYTHON_VERSION_MISMATCH" in line:
            here = f"{sys.version_info.major}.{sys.version_info.minor}"
            return f"the executors' Python is not {here}, as here; {_GUIDE}"
        if "Cannot run program" in line:
            return f"the executors cannot {line.partition('Cannot ')[2]}; {_GUIDE}"
    return f"the executors run no Python tasks: {lines[-1] if lines else report}"
