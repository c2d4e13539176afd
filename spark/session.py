"""The Spark session: quiet, and the same on this machine's cores and on a cluster, to which the code is shipped."""

from __future__ import annotations

import importlib
import os
import re
import signal
import socket
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import current_thread, main_thread
from types import FrameType

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from scatterproof.spark.java_home import LOG_VARIABLE, java_home_for_spark
from scatterproof.spark.shipping import on_cluster, refuse_unfit, refuse_unshared, ship
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.files import IMPORTED_FROM, cache_folder
from scatterproof.spec.scratch import scratch_folder

MASTER = "local[*]"
_HOST = r"([\w.-]+|\[[\da-fA-F:]+\])"
_LOCAL = re.compile(r"local(\[(\*|[1-9]\d{0,2})(,[1-9]\d?)?\])?")
_STANDALONE = re.compile(rf"spark://{_HOST}:\d{{1,5}}(,{_HOST}:\d{{1,5}})*")
_MANAGED = re.compile(rf"yarn|local-cluster\[\d+,\d+,\d+\]|k8s://(https?://)?{_HOST}(:\d{{1,5}})?/?")
_ADDRESS = re.compile(rf"(?:/|,){_HOST}:(\d{{1,5}})")
_LOOPBACK = re.compile(r"localhost|127\.[\d.]+|\[::1\]")
ANSWERS_WITHIN_S = 10
JAVA_STOPS_WITHIN_S = 30
# Java only hands out tasks here; the work is done in Python. So it starts quickly rather than run fast later.
_LIGHT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"


@contextmanager
def session_on(master: str | None = None, shared: Path | None = None) -> Iterator[SparkSession]:
    """A session on `master`, or on MASTER, ended after use. A session that runs already is used instead, and goes on.

    shared: what tasks read or write, a folder or an address, which executors on other machines must see, too.

    Raises BadInput for an invalid master, and where executors do not see the folder; CannotRun where there is no Java,
    where Spark does not start, where the executors cannot run our tasks, and where a session is running elsewhere.
    """
    master = MASTER if master is None else master
    if not (_LOCAL.fullmatch(master) or _STANDALONE.fullmatch(master) or _MANAGED.fullmatch(master)):
        raise BadInput(
            f"--master is {master!r}; give local[*] or local[N] for cores of this machine, or a cluster:"
            " spark://HOST:PORT, yarn or k8s://HOST:PORT"
        )
    running = SparkSession.getActiveSession()
    if running is not None:
        there = str(running.sparkContext.master)
        if there != master and not (_LOCAL.fullmatch(there) and _LOCAL.fullmatch(master)):
            raise CannotRun(f"a Spark session on {there} is running in this process; stop it, or give it as the master")
        yield running
        return
    _refuse_silent(master)
    with scratch_folder("spark") as scratch:
        session = _start(master, scratch)
        try:
            if on_cluster(session.sparkContext):
                ship(session.sparkContext, scratch)
                refuse_unfit(session.sparkContext)
                if shared is not None:
                    refuse_unshared(session.sparkContext, shared)
            yield session
        finally:
            _stop(session)


def _refuse_silent(master: str) -> None:
    """CannotRun when none of its addresses answers. Spark itself would try for a minute, and then say little."""
    problem = ""
    for host, port in _ADDRESS.findall(master):
        try:
            socket.create_connection((host.strip("[]"), int(port)), ANSWERS_WITHIN_S).close()
        except (OSError, OverflowError) as error:  # OverflowError: no such port
            problem = str(error)
        else:
            return
    if problem:
        raise CannotRun(f"nothing answers at {master} ({problem}); start a master there, or give the address of one")


def _start(master: str, scratch: Path) -> SparkSession:
    log = scratch / "java.log"
    local = _LOCAL.fullmatch(master) is not None
    loopback = local or all(map(_LOOPBACK.fullmatch, _hosts(master)))
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": f"{_LIGHT} -Djava.io.tmpdir={scratch} -Dderby.system.home={scratch}",
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
    }
    inherited = {
        "JAVA_HOME": str(java_home_for_spark()),
        # On a cluster it may be another one: the same interpreter, at the place where executors have it.
        "PYSPARK_PYTHON": sys.executable if local else os.environ.get("PYSPARK_PYTHON", sys.executable),
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        LOG_VARIABLE: str(log),
    }
    if loopback:
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        inherited |= {"SPARK_LOCAL_IP": "127.0.0.1"}
    if local:
        settings |= {
            # A task that failed here would fail again; on a cluster its machine may be what failed.
            "spark.task.maxFailures": "1",
            "spark.executorEnv.PYTHONPATH": os.pathsep.join(
                [str(IMPORTED_FROM), *filter(None, [os.environ.get("PYTHONPATH")])]
            ),
            "spark.executorEnv.SCATTERPROOF_CACHE": str(cache_folder()),
        }
    with warnings.catch_warnings():
        # Spark imports this on its way anyhow; it warns of pandas 3, which is not used here.
        warnings.simplefilter("ignore", FutureWarning)
        importlib.import_module("pyspark.testing.utils")
    builder = SparkSession.Builder().master(master).appName("scatterproof")
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        with _environment(inherited), _interrupts_kept():
            return builder.getOrCreate()
    except KeyboardInterrupt:
        _stop(SparkSession.getActiveSession())
        raise
    except (Py4JError, PySparkException, OSError) as error:
        reason = _reason(error, log)  # asks Java, as long as it is there
        _stop_java()
        raise CannotRun(f"Spark does not start on {master}: {reason}") from None


@contextmanager
def _interrupts_kept() -> Iterator[None]:
    """Raise an interrupt that was lost while Spark started: its start-up code swallows one that comes while it cleans
    up."""
    came = []

    def take(number: int, frame: FrameType | None) -> None:
        came.append(number)
        signal.default_int_handler(number, frame)

    ours = current_thread() is main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, take)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is take:  # Spark's own takes its place
            signal.signal(signal.SIGINT, signal.default_int_handler)
    if came:
        raise KeyboardInterrupt


def _hosts(master: str) -> list[str]:
    """The hosts of a standalone cluster's masters; another master as it is."""
    if not _STANDALONE.fullmatch(master):
        return [master]
    return [address.rpartition(":")[0] for address in master.removeprefix("spark://").split(",")]


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
    """The last line that Java wrote, without the places in its code, or else what Python knows of the error."""
    lines = log.read_text(errors="replace").split("\n") if log.is_file() else []
    lines = [line.strip() for line in (*str(error).split("\n"), *lines)]
    told = [line for line in lines if line and not line.startswith(("at ", "... ", "Using Spark's default log4j"))]
    return told[-1] if told else repr(error)


def _stop(session: SparkSession | None) -> None:
    with suppress(Py4JError, OSError):  # a signal to all processes of a group has ended Java before
        if session is not None:
            session.stop()
    _stop_java()


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
