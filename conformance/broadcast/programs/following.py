"""How far programs are while they run: messages marked as the output files grow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numba import njit

from scatterproof.conformance.broadcast.programs.lines import DELIVERED, KIND, NUMBER, SENDER, Output, Rows, compile_now
from scatterproof.conformance.broadcast.programs.scan import Marks
from scatterproof.conformance.broadcast.programs.workload import Task
from scatterproof.conformance.stress.contract import ProgramStanding
from scatterproof.spec.broadcast.messages import Level

_MOST_MARKS = 1 << 28  # bytes; a greater workload is followed by size alone, and never seen to be complete
_PIECES = 4  # megabytes of one file read at a look: the relay waits meanwhile


@njit(cache=True)
def _mark(rows: Rows, seen: Marks, counts: Rows) -> None:
    """Mark by sender and number what is delivered, and count by sender what was not marked."""
    for index in range(len(rows)):
        sender, number = rows[index, SENDER], rows[index, NUMBER]
        if seen.shape[1] == 1 and rows[index, KIND] == DELIVERED:
            counts[0] += 1  # marks would take too much memory
        elif rows[index, KIND] == DELIVERED and 0 < sender < seen.shape[0] and 0 < number < seen.shape[1]:
            if not seen[sender, number]:
                counts[sender] += 1
            seen[sender, number] = 1


class Following:
    """Marks and counts by process and sender. Invented messages of the workload's numbers count: judging is not its
    work."""

    def __init__(self, task: Task, paths: Sequence[Path]) -> None:
        self._task, self._paths = task, paths
        self._outputs = [Output(path) for path in paths]
        count = task.processes
        self._is_small = count * count * task.messages <= _MOST_MARKS
        messages = task.messages if self._is_small else 0
        self._seen = np.zeros((count, count + 1, messages + 1), dtype=np.uint8)
        self._counts = np.zeros((count, count + 1), dtype=np.int64)
        compile_now()
        _mark(np.zeros((0, 5), dtype=np.int64), self._seen[0], self._counts[0])

    @property
    def sizes(self) -> list[int]:
        """Bytes of each file at the last look."""
        return [output.length for output in self._outputs]

    def look(self, expected: Sequence[int]) -> ProgramStanding:
        for process in range(len(self._outputs)):
            self._read(process)
        return ProgramStanding(int(self._counts.sum()), sum(self.sizes), self._is_small and self._is_complete(expected))

    def _read(self, process: int) -> None:
        output = self._outputs[process]
        for rows in output.rows(_PIECES):
            _mark(rows, self._seen[process], self._counts[process])
        if output.flaw and output.size:
            # It was replaced or cut: what counts is what it is now.
            self._outputs[process] = Output(self._paths[process])
            self._seen[process] = 0
            self._counts[process] = 0

    def _is_complete(self, expected: Sequence[int]) -> bool:
        """Whether the processes in `expected` delivered all messages of one another, and of the others every message
        that anybody delivered."""
        task, living = self._task, list(expected)
        senders = [process + 1 for process in living if task.sends(process + 1)]
        receivers = [task.receiver - 1] if task.level is Level.PL else living
        if (self._counts[np.ix_(receivers, senders)] < task.messages).any():
            return False
        if task.level is Level.PL:
            return True
        ended = [process + 1 for process in range(task.processes) if process not in expected]
        for sender in ended:
            seen = self._seen[:, sender]
            if (seen[living] < seen.max(axis=0)).any():
                return False
        return True
