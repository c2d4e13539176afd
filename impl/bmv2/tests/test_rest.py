"""A process rests when all of its threads sleep; asked of real processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from scatterproof.impl.bmv2 import rest

ECHO = "import sys\nfor line in sys.stdin:\n    print(line, end='', flush=True)\n"
THREADS = """
import os, sys, threading, time
over, made = threading.Event(), []
for line in sys.stdin:
    if line == "begin\\n":
        made.append(threading.Thread(target=over.wait))
        made[-1].start()
    else:
        over.set()
        while len(os.listdir("/proc/self/task")) > 1:
            time.sleep(0.001)
        over.clear()
    print(flush=True)
over.set()
"""
SPIN = "print(flush=True)\nwhile True:\n    pass\n"


@pytest.mark.parametrize(("state", "sleeps"), [("S", True), ("I", True), ("R", False), ("D", False), ("Z", False)])
@pytest.mark.parametrize("name", ["switch", "a b", ") S ("])
def test_a_thread_sleeps_where_its_state_says_so_whatever_its_name(state: str, sleeps: bool, name: str) -> None:
    assert rest.asleep(f"17 ({name}) {state} 1 17 17 0 -1 4194304".encode()) == sleeps


def test_threads_that_ran_or_are_new_count_as_woken() -> None:
    before = {"1": b"70 3 4", "2": b"70 3 4"}
    after = {"1": b"70 3 4", "2": b"75 3 5", "3": b"1 1 1"}
    assert rest.woken(before, after) == 2


def test_a_process_that_waits_for_input_rests_once_it_has_answered() -> None:
    with running(ECHO) as child, watched(child) as process:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(b"ready\n")
        child.stdout.readline()
        assert rest.wait(process, {}, least_woken=0, patience_s=10)
        before = process.look()
        child.stdin.write(b"hello\n")
        assert rest.wait(process, before, least_woken=1, patience_s=10, unwoken_s=10)
        assert os.read(child.stdout.fileno(), 100) == b"hello\n"


def test_threads_that_come_and_go_are_seen() -> None:
    with running(THREADS) as child, watched(child) as process:
        assert child.stdin is not None
        assert child.stdout is not None
        found = []
        for line in (b"begin\n", b"begin\n", b"end\n", b"begin\n"):
            child.stdin.write(line)
            child.stdout.readline()
            found.append(len(process.look()))
        assert found == [2, 3, 1, 2]


def test_a_process_that_nobody_woke_is_taken_at_its_word() -> None:
    with running(ECHO) as child, watched(child) as process:
        assert rest.wait(process, {}, least_woken=0, patience_s=10)
        assert rest.wait(process, process.look(), least_woken=2, patience_s=10, unwoken_s=0.01)


def test_a_process_that_never_sleeps_does_not_rest() -> None:
    with running(SPIN) as child, watched(child) as process:
        assert child.stdout is not None
        child.stdout.readline()
        assert not rest.wait(process, {}, least_woken=0, patience_s=0.1)


def test_a_process_that_has_ended_does_not_rest() -> None:
    with running("pass") as child, watched(child) as process:
        child.wait(10)
        assert not rest.wait(process, {}, least_woken=0, patience_s=10)


def watched(child: subprocess.Popen[bytes]) -> closing[rest.Process]:
    return closing(rest.Process(child.pid))


@contextmanager
def running(program: str) -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    try:
        yield child
    finally:
        child.kill()
        child.communicate()
