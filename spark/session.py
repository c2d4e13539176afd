"""The Spark session: quiet, on the loopback address, with this interpreter's Python in its tasks."""

from __future__ import annotations

import importlib
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from conformance.checks.compiled import cache_folder
from spark.java_home import LOG_VARIABLE, java_home_for_spark
from spec.errors import BadInput, CannotRun

ROOT = Path(__file__).resolve().parent.parent
MASTER = "local[*]"
_LOCAL = re.compile(r"local(\[(\*|[1-9]\d{0,2})\])?")
JAVA_STOPS_WITHIN_S = 30
# Java only hands out tasks here; the work is done in Python. So it starts quickly rather than run fast later.
_LIGHT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"


@contextmanager
def session_on(master: str = MASTER) -> Iterator[SparkSession]:
    """A session on `master`, stopped at the end; a session that is already running is lent instead, and goes on.

    Raises BadInput for a master that is not local, since tasks write to this machine's files, and CannotRun where
    there is no Java, or where Spark does not start.
    """
    if not _LOCAL.fullmatch(master):
        raise BadInput(f"master is {master!r}; give local[*] for all cores, or local[N] for N of them")
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    with tempfile.TemporaryDirectory(prefix="scatterproof-spark-") as scratch:
        session = _start(master, Path(scratch))
        try:
            yield session
        finally:
            session.stop()
            _stop_java()


def _start(master: str, scratch: Path) -> SparkSession:
    log = scratch / "java.log"
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": f"{_LIGHT} -Djava.io.tmpdir={scratch} -Dderby.system.home={scratch}",
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        # A task that failed would fail again: nothing here depends on a machine that comes and goes.
        "spark.task.maxFailures": "1",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "spark.executorEnv.SCATTERPROOF_CACHE": str(cache_folder()),
    }
    inherited = {
        "JAVA_HOME": str(java_home_for_spark()),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        LOG_VARIABLE: str(log),
    }
    with warnings.catch_warnings():
        # Spark imports this on its way anyhow; it warns of pandas 3, which is not used here.
        warnings.simplefilter("ignore", FutureWarning)
        importlib.import_module("pyspark.testing.utils")
    builder = SparkSession.Builder().master(master).appName("scatterproof")
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        with _environment(inherited):
            return builder.getOrCreate()
    except (Py4JError, PySparkException, OSError) as error:
        _stop_java()
        raise CannotRun(f"Spark does not start on {master!r}: {_reason(error, log)}") from None


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Java takes its settings from the environment that it starts in; nobody else shall see them."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _reason(error: Exception, log: Path) -> str:
    """The last line that Java wrote, or else what Python knows of it."""
    lines = log.read_text(errors="replace").split("\n") if log.is_file() else []
    lines = [line.strip() for line in (*str(error).split("\n")[:1], *lines) if line.strip()]
    return lines[-1] if lines else repr(error)


def _stop_java() -> None:
    """End the Java process, which Spark leaves running until Python ends, and let a next session start its own."""
    gateway = SparkContext._gateway
    if gateway is None:
        return
    gateway.shutdown()
    process = getattr(gateway, "proc", None)
    if process is not None:
        process.stdin.close()  # Java ends when its standard input does
        process.wait(timeout=JAVA_STOPS_WITHIN_S)
    SparkContext._gateway = None
    SparkContext._jvm = None
