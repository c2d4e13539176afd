"""Compiles kernels on all cores, in a process for each: within one, numba compiles one function at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Mapping

from scatterproof.conformance.checks.compiled import CompiledPart
from scatterproof.conformance.checks.surroundings import Surroundings


def compile_at_once(cold: Mapping[CompiledPart, Surroundings]) -> None:
    """Compile these into the cache, those with most checks first, as they take longest. Nothing is done for a single
    one, or on one core; and what a process fails to compile is left out. The caller compiles the rest itself, and gets
    the error."""
    pieces = sorted(cold, key=lambda piece: len(piece.checks), reverse=True)
    jobs = min(os.cpu_count() or 1, len(pieces))
    if jobs == 1 or not pieces:
        return
    context = multiprocessing.get_context("fork")
    turn = context.Value("i", 0)

    def take_turns() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it reaches the whole group, and is for the parent
        while True:
            with turn.get_lock():
                number = turn.value
                turn.value += 1
            if number >= len(pieces):
                return
            pieces[number].compile(cold[pieces[number]])

    workers = [context.Process(target=take_turns) for _ in range(jobs)]
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        for worker in workers:
            if worker.is_alive():
                worker.kill()
                worker.join()
