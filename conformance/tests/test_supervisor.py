"""Children that answer, hang, crash, flood or will not stop: each ends collected, with a sentence about it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from scatterproof.conformance.supervisor import Child, ChildFailure, Limits, stop, wait
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.files import IMPORTED_FROM

SHORT = Limits(answer_s=5, stop_s=0.3, line_bytes=1000, total_bytes=100_000)


def shell(folder: Path, script: str, limits: Limits = SHORT) -> Child:
    return Child("child", ["sh", "-c", script], folder, limits)


def ends(pid: int, folder: Path) -> bool:
    """Whether the process ends soon (a zombie that nobody collects has ended, too)."""
    script = f"while kill -0 {pid} 2>/dev/null && ! grep -q '^State:.Z' /proc/{pid}/status; do :; done"
    watcher = Child("watcher", ["sh", "-c", script], folder)
    ended = wait([watcher], 5)
    stop([watcher])
    return ended


def test_lines_go_in_and_come_out_in_order(tmp_path: Path) -> None:
    child = Child("echo", ["cat"], tmp_path, SHORT)
    for text in (b"one", b"", b"three"):
        child.tell(text)

    assert [child.line(), child.line(), child.line()] == [b"one", b"", b"three"]
    assert stop([child]) == []
    assert (tmp_path / "echo.stdout").read_bytes() == b"one\n\nthree\n"


def test_more_than_a_pipe_holds_goes_both_ways(tmp_path: Path) -> None:
    child = Child("echo", ["cat"], tmp_path, Limits(line_bytes=1 << 22))
    text = b"x" * (1 << 20)
    child.tell(text)

    assert child.line() == text
    assert stop([child]) == []


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("exit 3", "ended with exit code 3"),
        ("echo sorry >&2; exit 1", "ended with exit code 1; stderr ends: sorry"),
        ("kill -SEGV $$", "was ended by SIGSEGV"),
        ("exec >&-; sleep 60", "closed its stdout"),
        ("head -c 5000 /dev/zero; sleep 60", "wrote a line of more than 1000 bytes"),
        ("printf half", "ended with exit code 0"),
    ],
)
def test_what_a_child_does_wrong_is_a_failure(tmp_path: Path, script: str, sentence: str) -> None:
    child = shell(tmp_path, script)
    failure = child.line()
    stop([child])

    assert failure == ChildFailure(sentence)


def test_a_child_that_says_nothing_fails_when_its_time_is_over(tmp_path: Path) -> None:
    child = shell(tmp_path, "sleep 60")
    failure = child.line(0.05)
    stop([child])

    assert failure == ChildFailure("gave no answer for 0.05 s")


def test_a_child_that_floods_is_cut_off(tmp_path: Path) -> None:
    child = shell(tmp_path, "yes")
    line: bytes | ChildFailure = b""
    while not isinstance(line, ChildFailure):
        line = child.line()
    stop([child])

    assert line == ChildFailure("wrote more than 100000 bytes")
    assert (tmp_path / "child.stdout").stat().st_size <= 100_000


def test_a_child_cannot_write_endless_files(tmp_path: Path) -> None:
    child = shell(tmp_path, "yes >&2", Limits(file_bytes=10_000))

    assert isinstance(child.line(), ChildFailure)
    stop([child])
    assert (tmp_path / "child.stderr").stat().st_size == 10_000


def test_a_command_that_does_not_exist_cannot_run(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match="/no/such: cannot be started: No such file"):
        Child("child", ["/no/such"], tmp_path)


def test_a_command_that_nobody_may_start_cannot_run(tmp_path: Path) -> None:
    (tmp_path / "node").write_text("#!/bin/sh\n")
    with pytest.raises(CannotRun, match="node: cannot be started: Permission denied"):
        Child("child", [str(tmp_path / "node")], tmp_path)


def test_an_interpreter_that_does_not_exist_is_said(tmp_path: Path) -> None:
    script = tmp_path / "node"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    with pytest.raises(CannotRun, match="cannot be started: No such file or directory"):
        Child("child", [str(script)], tmp_path)


@pytest.mark.parametrize(
    ("script", "sentences"),
    [
        ("cat", []),
        ("read line; [ $line = bye ]", []),
        ("sleep 60", ["child did not stop when it was asked to"]),
        ("trap '' TERM; while true; do sleep 0.1; done", ["child did not stop on SIGTERM and was killed"]),
        ("cat; exit 7", ["child ended with exit code 7"]),
    ],
)
def test_stopping_is_ordered_and_says_who_did_not_obey(tmp_path: Path, script: str, sentences: list[str]) -> None:
    child = shell(tmp_path, f"echo up; {script}")
    assert child.line() == b"up"

    assert stop([child], b"bye") == sentences
    assert not child.is_running()


def test_grandchildren_end_with_the_child(tmp_path: Path) -> None:
    child = shell(tmp_path, "sleep 60 & echo $!; wait")
    line = child.line()
    assert isinstance(line, bytes)
    stop([child])

    assert ends(int(line), tmp_path)


def test_a_child_that_was_killed_from_outside_is_noticed(tmp_path: Path) -> None:
    child = shell(tmp_path, "echo $$; sleep 60")
    line = child.line()
    assert isinstance(line, bytes)
    os.kill(int(line), signal.SIGKILL)

    assert child.line() == ChildFailure("was ended by SIGKILL")
    assert stop([child]) == ["child was ended by signal 9"]


def test_children_die_with_the_harness(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from scatterproof.conformance.supervisor import Child;"
        f"child = Child('c', ['sh', '-c', 'echo $$; exec sleep 60'], Path({str(tmp_path)!r}));"
        "print(child.line().decode(), flush=True); sys.stdin.read()"
    )
    harness = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=IMPORTED_FROM,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with harness:
        assert harness.stdout is not None
        pid = int(harness.stdout.readline())
        harness.kill()
        harness.wait()

    assert ends(pid, tmp_path)


# What they start leaves its group, its session, its parent and its environment, and says who it is.
DAEMON = """
import os, sys
if os.fork():
    sys.stdin.read()
    sys.exit(0)
os.setsid()
if os.fork():
    os._exit(0)
os.environ.clear()
os.execve("/bin/sh", ["sh", "-c", "echo $$ > %s; while :; do echo a line of a daemon; done"], {})
"""


def test_a_daemon_that_nobody_knows_again_ends_with_the_child_and_what_it_wrote_on_is_bounded(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pid")
    child = Child("child", [sys.executable, "-I", "-S", "-c", DAEMON % (tmp_path / "pid")], tmp_path)
    pid = int((tmp_path / "pid").read_text())

    assert stop([child]) == []
    assert not Path("/proc", str(pid)).exists()
    assert (tmp_path / "child.stdout").stat().st_size < 8 << 20


def test_output_that_nobody_reads_takes_no_more_memory_than_its_bytes(tmp_path: Path) -> None:
    """Short lines as objects of their own took fifteen times as much."""
    child = shell(tmp_path, "yes | head -c 30000000; echo >&2; exec sleep 60", Limits(total_bytes=40_000_000))
    tracemalloc.start()
    while not (tmp_path / "child.stderr").stat().st_size:
        child.drain()
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    child.reap()

    assert taken < 60_000_000


@pytest.mark.parametrize(
    ("script", "answers"),
    [("echo one; exec sleep 60", True), ("cat >/dev/null; echo one", False)],
)
def test_a_full_disk_is_one_sentence_and_no_child_stays(tmp_path: Path, script: str, answers: bool) -> None:
    """Whether it is full when lines are waited for, or when the last ones come."""
    (tmp_path / "child.stdout").symlink_to("/dev/full")
    child = shell(tmp_path, script)
    sentence = r"child\.stdout: cannot keep what child writes: No space left on device; check the folder and the disk"
    if answers:
        assert child.line() == b"one"
        with pytest.raises(CannotRun, match=sentence):
            child.line()
    with pytest.raises(CannotRun, match=sentence):
        stop([child])

    assert not child.is_running()


def test_where_nothing_can_be_kept_no_child_starts(tmp_path: Path) -> None:
    (tmp_path / "folder").touch()
    with pytest.raises(CannotRun, match=r"folder: cannot keep what child writes: File exists; "):
        shell(tmp_path / "folder", "cat")


def test_the_children_of_a_forked_process_are_its_own(tmp_path: Path) -> None:
    child = Child("child", ["cat"], tmp_path, SHORT)
    worker = multiprocessing.get_context("fork").Process(target=_start_and_leave, args=(tmp_path,))
    worker.start()
    worker.join()
    pid = int((tmp_path / "pid").read_text())

    assert ends(pid, tmp_path)
    child.tell(b"still there")
    assert child.line() == b"still there"
    assert stop([child]) == []


def _start_and_leave(folder: Path) -> None:
    line = Child("grandchild", ["sh", "-c", "echo $$; exec sleep 60"], folder, SHORT).line()
    (folder / "pid").write_bytes(line if isinstance(line, bytes) else b"")
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_child_that_kills_its_guardian_ends_with_it_and_others_go_on(tmp_path: Path) -> None:
    other = Child("other", ["cat"], tmp_path, SHORT)
    child = shell(tmp_path, "kill -9 $PPID; exec sleep 60")

    assert child.line() == ChildFailure("was ended by SIGKILL")
    assert stop([child]) == ["child was ended by signal 9"]
    other.tell(b"still there")
    assert other.line() == b"still there"
    assert stop([other]) == []
