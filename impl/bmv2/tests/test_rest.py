"""A process rests when all of its threads sleep; asked of real processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from scatterproof.impl.bmv2 import rest

ASLEEP = b"Name:\tx\nState:\tS (sleeping)\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t7\n"
ECHO = "import sys\nfor line in sys.stdin:\n    print(line, end='', flush=True)\n"
SPIN = "print(flush=True)\nwhile True:\n    pass\n"


def test_a_thread_is_its_state_and_all_its_switches() -> None:
    assert rest.parse(ASLEEP) == rest.Thread(asleep=True, switches=12)
    assert rest.parse(ASLEEP.replace(b"S (", b"R (")) == rest.Thread(asleep=False, switches=12)
    assert rest.parse(ASLEEP.replace(b"S (", b"D (")) == rest.Thread(asleep=False, switches=12)


def test_threads_that_ran_or_are_new_count_as_woken() -> None:
    before = {"1": rest.Thread(True, 4), "2": rest.Thread(True, 4)}
    after = {"1": rest.Thread(True, 4), "2": rest.Thread(True, 5), "3": rest.Thread(True, 1)}
    assert rest.woken(before, after) == 2


def test_a_process_that_waits_for_input_rests_once_it_has_answered() -> None:
    with running(ECHO) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(b"ready\n")
        child.stdout.readline()
        assert rest.wait(child.pid, {}, least_woken=0, patience_s=10)
        before = rest.look(child.pid)
        child.stdin.write(b"hello\n")
        assert rest.wait(child.pid, before, least_woken=1, patience_s=10, unwoken_s=10)
        assert os.read(child.stdout.fileno(), 100) == b"hello\n"


def test_a_process_that_nobody_woke_is_taken_at_its_word() -> None:
    with running(ECHO) as child:
        assert rest.wait(child.pid, {}, least_woken=0, patience_s=10)
        assert rest.wait(child.pid, rest.look(child.pid), least_woken=2, patience_s=10, unwoken_s=0.01)


def test_a_process_that_never_sleeps_does_not_rest() -> None:
    with running(SPIN) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert not rest.wait(child.pid, {}, least_woken=0, patience_s=0.1)


def test_a_process_that_has_ended_does_not_rest() -> None:
    with running("pass") as child:
        child.wait(10)
        assert not rest.wait(child.pid, {}, least_woken=0, patience_s=10)


@contextmanager
def running(program: str) -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    try:
        yield child
    finally:
        child.kill()
        child.communicate()
