"""The session, and how work and errors travel through it."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from scatterproof.models.java import find_java
from scatterproof.spark.java_home import LOG_VARIABLE, java_home_for_spark
from scatterproof.spark.jobs import run_tasks
from scatterproof.spark.session import session_on
from scatterproof.spec.errors import BadInput, CannotRun


def test_a_running_session_is_lent_and_not_stopped(session: SparkSession) -> None:
    with session_on("local[1]") as lent:
        assert lent is session
    assert session.sparkContext.parallelize([1, 2]).count() == 2


def test_what_cannot_be_a_master_is_one_sentence() -> None:
    for master in ("spark://there", "mesos://there:5050", "yarn-client", "k8s://", "local[0]", "local[x]", "there", ""):
        with (
            pytest.raises(BadInput, match=r"give local\[\*\] or .* spark://HOST:PORT, yarn or k8s"),
            session_on(master),
        ):
            pass


def test_a_session_elsewhere_is_not_taken_for_the_one_that_is_running(session: SparkSession) -> None:
    for master in ("spark://127.0.0.1:7077", "spark://one:7077,[::1]:7078", "yarn", "k8s://https://there:6443"):
        with pytest.raises(CannotRun, match=r"a Spark session on local\[\d\] is running"), session_on(master):
            pass


def test_where_no_master_answers_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scatterproof.spark.session.SparkSession.getActiveSession", lambda: None)
    for master in ("spark://127.0.0.1:1", "spark://127.0.0.1:99999", "k8s://https://127.0.0.1:1", "k8s://127.0.0.1:1"):
        with pytest.raises(CannotRun, match=rf"nothing answers at {master} \("), session_on(master):
            pass


def test_tasks_run_this_interpreter_and_find_the_project(session: SparkSession) -> None:
    def where(_: int) -> tuple[str, str]:
        from scatterproof import spec

        return sys.executable, str(spec.__file__)

    from scatterproof import spec

    assert run_tasks(session, [0], where, weights=[1]) == [(sys.executable, str(spec.__file__))]


def test_the_session_leaves_the_environment_alone(session: SparkSession) -> None:
    assert "SCATTERPROOF_SPARK_LOG" not in os.environ


def test_results_come_in_the_order_of_the_items_and_progress_ends_full(session: SparkSession) -> None:
    seen: list[tuple[int, int]] = []
    results = run_tasks(
        session, [3, 1, 2], lambda item: item * 10, weights=[3, 1, 2], on_progress=lambda *at: seen.append(at)
    )
    assert results == [30, 10, 20]
    assert seen[-1] == (6, 6)
    assert all(before <= after for before, after in pairwise(seen))


def test_the_first_refusal_of_a_task_is_raised_as_it_was(session: SparkSession) -> None:
    def refuse(item: int) -> int:
        if item:
            raise BadInput(f"item {item}: no such thing")
        return item

    with pytest.raises(BadInput, match=r"^item 1: no such thing$"):
        run_tasks(session, [0, 1, 2], refuse, weights=[1, 1, 1])


def test_a_task_that_breaks_is_one_sentence_with_the_cause(session: SparkSession) -> None:
    with pytest.raises(CannotRun, match=r"ZeroDivisionError: .*zero") as raised:
        run_tasks(session, [0], lambda item: 1 // item, weights=[1])
    assert "\n" not in str(raised.value)


def test_a_task_whose_process_ends_is_one_sentence_that_says_so(session: SparkSession) -> None:
    with pytest.raises(CannotRun, match=r"^a Spark task failed: Lost task .* Python worker exited") as raised:
        run_tasks(session, [0], lambda item: os._exit(1), weights=[1])
    assert "\n" not in str(raised.value)


def test_the_launcher_drops_the_one_module_and_keeps_every_other_argument(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    echo = tmp_path / "ec ho"
    shutil.copy(shutil.which("printf") or "", echo)
    monkeypatch.setattr("scatterproof.spark.java_home.find_java", lambda: echo)
    monkeypatch.setenv("SCATTERPROOF_CACHE", str(tmp_path / "cache"))
    launcher = java_home_for_spark() / "bin" / "java"
    given = ["[%s]", "a b", "--add-modules=jdk.incubator.vector", "", "--add-modules=x"]
    said = subprocess.run([launcher, *given], check=True, capture_output=True, text=True)
    assert said.stdout == "[a b][][--add-modules=x]"


@pytest.mark.parametrize(("log", "ends"), [("log", 0), ("", -signal.SIGTERM)])
def test_the_java_of_a_session_alone_is_deaf_to_sigterm(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, log: str, ends: int
) -> None:
    """That of a cluster's processes, which have no log of ours, is ended by it."""
    monkeypatch.setattr("scatterproof.spark.java_home.find_java", lambda: Path(shutil.which("sh") or ""))
    monkeypatch.setenv("SCATTERPROOF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv(LOG_VARIABLE, str(tmp_path / log) if log else "")
    launcher = java_home_for_spark() / "bin" / "java"
    assert subprocess.run([launcher, "-c", "kill -TERM $$"], check=False).returncode == ends


def test_without_java_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Path:
        raise CannotRun("no Java here")

    monkeypatch.setattr("scatterproof.spark.java_home.find_java", none)
    with pytest.raises(CannotRun, match=r"^no Java here$"):
        java_home_for_spark()


@pytest.mark.slow
@pytest.mark.parametrize(("script", "ends"), [("exec sleep 600", -signal.SIGKILL), ("read -r _; exit 5", 5)])
def test_a_java_that_has_lost_us_is_ended_unless_it_ends_by_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, ends: int
) -> None:
    """One that was starting when Python was interrupted never looked at its input, and listened for ever."""
    monkeypatch.setattr("scatterproof.spark.java_home.find_java", lambda: Path(shutil.which("sh") or ""))
    monkeypatch.setenv("SCATTERPROOF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv(LOG_VARIABLE, str(tmp_path / "log"))
    launcher = java_home_for_spark() / "bin" / "java"
    with subprocess.Popen([launcher, "-c", script], stdin=subprocess.PIPE) as java:
        assert java.stdin is not None
        java.stdin.close()
        assert java.wait() == ends


def test_a_java_that_nobody_waits_for_any_more_does_not_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("scatterproof.spark.java_home.find_java", lambda: Path(shutil.which("true") or ""))
    monkeypatch.setenv("SCATTERPROOF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv(LOG_VARIABLE, str(tmp_path / "gone" / "log"))
    ended = subprocess.run([java_home_for_spark() / "bin" / "java"], capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, b"")


# It interrupts whoever started it, and then never looks at its input, as a Java that had lost us while it started did.
DEAF_JAVA = """#!/bin/sh
case "$*" in
  -version | *org.apache.spark.launcher.Main*) exec {java} "$@" ;;
esac
echo $$ >{folder}/pid
kill -INT $PPID
exec sleep 600
"""


@pytest.mark.slow
def test_an_interrupt_while_java_starts_ends_us_and_the_java(tmp_path: Path) -> None:
    java = tmp_path / "home" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(DEAF_JAVA.format(java=find_java(), folder=tmp_path))
    java.chmod(0o755)
    interrupted = subprocess.run(
        [sys.executable, "-m", "scatterproof.cli", "corpus", "--runs", "10", "--out", tmp_path / "corpus"],
        env={**os.environ, "JAVA_HOME": str(tmp_path / "home"), "SCATTERPROOF_CACHE": str(tmp_path / "cache")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # A job in the background of a shell, as these tests may be, ignores it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        check=False,
    )
    assert interrupted.returncode == 130
    pid = int((tmp_path / "pid").read_text())
    with suppress(ProcessLookupError):  # it has ended by now
        ends = os.pidfd_open(pid)
        poll = select.poll()
        poll.register(ends)
        in_time = poll.poll(60_000)
        os.close(ends)
        os.kill(pid, signal.SIGKILL)
        assert in_time
