"""Work that is shared out between processes: the results are those of one process, and no process stays behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Generator
from importlib import import_module
from pathlib import Path

import pytest

from scatterproof.jobs import JobQueue, as_done, in_order
from scatterproof.spec.errors import BadInput, CannotRun


def behind(results: Generator[int, None, None]) -> None:
    """Close the generator, and see that its processes have gone."""
    results.close()
    assert multiprocessing.active_children() == []


def test_results_come_in_order_whoever_is_ready_first(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate")

    def work(number: int) -> int:
        # The first waits for the last, so that it is the last to be done.
        if number in (0, 4):
            with (tmp_path / "gate").open("r" if number == 0 else "w"):
                pass
        return number * number

    assert list(in_order(work, 5, 2)) == [0, 1, 4, 9, 16]
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("jobs", [1, 3])
def test_an_error_for_the_user_comes_in_its_turn(jobs: int) -> None:
    def work(number: int) -> int:
        if number == 2:
            raise BadInput("number 2 is no good")
        return number

    results = in_order(work, 9, jobs)
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(BadInput, match="number 2 is no good"):
        next(results)
    behind(results)


def test_a_file_of_a_protocol_that_is_missing_is_an_error_for_the_user() -> None:
    def work(number: int) -> int:
        import_module("scatterproof.impl.broadcast.nosuch")
        return number

    with pytest.raises(BadInput, match=r"there is no impl/broadcast/nosuch\.py"):
        list(in_order(work, 2, 2))


def test_a_process_that_dies_ends_the_run_in_one_sentence() -> None:
    def work(number: int) -> int:
        if number == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    with pytest.raises(CannotRun, match=r"exit code -9 .* take --jobs 1"):
        list(in_order(work, 3, 2))
    assert multiprocessing.active_children() == []


def test_those_at_work_end_when_nobody_wants_more(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "for-ever")
    begun, begins = os.pipe()

    def work(number: int) -> int:
        try:
            with open(begins, "wb", buffering=0) as pipe:
                pipe.write(b"!")
            if number:
                (tmp_path / "for-ever").read_text()
        finally:
            (tmp_path / f"cleared-{number}").touch()
        return number

    results = in_order(work, 3, 3)
    assert next(results) == 0
    os.close(begins)
    with open(begun, "rb") as pipe:
        assert pipe.read() == b"!!!"  # less, if one of them ended before
    behind(results)
    assert (tmp_path / "cleared-1").exists()
    assert (tmp_path / "cleared-2").exists()


@pytest.mark.timeout(60)  # for ever, if it did not
def test_the_last_worker_of_a_queue_goes_on_with_the_next_queue(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate")

    def work(number: int) -> int:
        # 0 is of the queue that comes then; it waits for 1, behind it, for which its own queue has no other worker.
        if number < 2:
            with (tmp_path / "gate").open("r" if number else "w"):
                pass
        return os.getpid()

    then = JobQueue([0, 1], 1)
    done = dict(as_done(work, [then, JobQueue([2, 3, 4], 2, then=then)]))
    assert sorted(done) == [0, 1, 2, 3, 4]
    assert done[1] in {done[number] for number in (2, 3, 4)}
    assert done[0] not in {done[number] for number in (1, 2, 3, 4)}
    assert multiprocessing.active_children() == []
