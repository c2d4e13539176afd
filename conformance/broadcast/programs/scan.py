"""What one output file shows by itself: passes over its lines, compiled, with marks for what was delivered.

Clauses: BC-IO-CONFIG, BC-IO-OUT, BC-PL-ONCE, BC-PL-REAL, BC-URB-ONCE, BC-URB-REAL, BC-FIFO-ORDER, BC-LCB-CAUSAL,
BC-LCB-FIFO. Memory: a byte for each message of the workload, and a number for each message and dependency.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt
from numba import njit

from scatterproof.conformance.broadcast.programs.lines import (
    BEGUN,
    DELIVERED,
    KIND,
    LINE,
    NUMBER,
    PLACE,
    SENDER,
    Output,
    Rows,
)
from scatterproof.conformance.broadcast.programs.workload import Task
from scatterproof.conformance.stress.tally import SHOWN
from scatterproof.spec.broadcast.messages import Level

Marks = npt.NDArray[np.uint8]
Clocks = npt.NDArray[np.int32]


class Sort(IntEnum):
    """What is wrong with a line."""

    MALFORMED = 0
    BEGUN_OUT_OF_ORDER = 1
    BEGUN_TWICE = 2
    BEGUN_UNASKED = 3
    NO_SUCH_SENDER = 4
    NO_SUCH_MESSAGE = 5
    TWICE = 6
    BEFORE_BEGUN = 7
    OUT_OF_ORDER = 8
    BEFORE_DEPENDENCY = 9


_MALFORMED, _OUT_OF_ORDER, _BEGUN_TWICE, _UNASKED, _NO_SENDER, _NO_MESSAGE, _TWICE, _BEFORE_BEGUN, _GAP, _CAUSAL = Sort

# What a pass must know: process, processes, messages, whether the level is pl, the receiver there.
_ME, _PROCESSES, _MESSAGES, _LINKS, _RECEIVER = range(5)


@dataclass(frozen=True, slots=True)
class WrongLine:
    """A line that is wrong.

    sender and number: as the line has them.
    other, more: what the sort needs beside them.
    """

    sort: Sort
    line: int
    place: int
    sender: int
    number: int
    other: int
    more: int


@dataclass(slots=True)
class Findings:
    """counts: how many lines of each sort; shown: the first of them.
    begins, deliveries: well-formed lines.
    """

    counts: npt.NDArray[np.int64]
    room: npt.NDArray[np.int64]
    begins: int = 0
    deliveries: int = 0

    @classmethod
    def empty(cls) -> Findings:
        return cls(np.zeros(len(Sort), dtype=np.int64), np.zeros((len(Sort), SHOWN, 6), dtype=np.int64))

    def shown(self, sort: Sort) -> list[WrongLine]:
        return [WrongLine(sort, *row) for row in self.room[sort, : min(SHOWN, self.counts[sort])].tolist()]


@njit(cache=True)
def _note(counts: Rows, room: Rows, sort: int, row: Rows, other: int, more: int) -> None:
    if counts[sort] < SHOWN:
        note = room[sort, counts[sort]]
        note[0], note[1], note[2], note[3] = row[LINE], row[PLACE], row[SENDER], row[NUMBER]
        note[4], note[5] = other, more
    counts[sort] += 1


@njit(cache=True)
def _first_pass(
    rows: Rows,
    facts: Rows,
    dependencies: Rows,
    begun: Marks,
    seen: Marks,
    prefix: Rows,
    following: Rows,
    clocks: Clocks,
    counts: Rows,
    room: Rows,
) -> tuple[int, int]:
    """Mark what was begun with and delivered, and note what is wrong. `following`: by process, the number that comes
    next; of the own process in its place 0, the next to begin with. Returns begins and deliveries."""
    me, processes, messages, links = facts[_ME], facts[_PROCESSES], facts[_MESSAGES], facts[_LINKS]
    begins = deliveries = 0
    for index in range(len(rows)):
        row = rows[index]
        kind, sender, number = row[KIND], row[SENDER], row[NUMBER]
        if kind == BEGUN:
            if number < 1 or number > messages or (links and me == facts[_RECEIVER]):
                _note(counts, room, _UNASKED, row, 0, 0)
                continue
            begins += 1
            if begun[number]:
                _note(counts, room, _BEGUN_TWICE, row, 0, 0)
                continue
            if not links and number != following[0]:
                _note(counts, room, _OUT_OF_ORDER, row, following[0], 0)
            following[0] = number + 1
            begun[number] = 1
            for place in range(len(dependencies)):
                clocks[number, place] = prefix[dependencies[place]]
        elif kind == DELIVERED:
            deliveries += 1
            if sender < 1 or sender > processes or (links and (sender == me or me != facts[_RECEIVER])):
                _note(counts, room, _NO_SENDER, row, 0, 0)
                continue
            if number < 1 or number > messages:
                _note(counts, room, _NO_MESSAGE, row, 0, 0)
                continue
            if seen[sender, number]:
                _note(counts, room, _TWICE, row, 0, 0)
                continue
            if sender == me and not begun[number]:
                _note(counts, room, _BEFORE_BEGUN, row, 0, 0)
            seen[sender, number] = 1
            while prefix[sender] < messages and seen[sender, prefix[sender] + 1]:
                prefix[sender] += 1
            if number > following[sender]:
                _note(counts, room, _GAP, row, following[sender], 0)
            following[sender] = max(following[sender], number + 1)
        else:
            _note(counts, room, _MALFORMED, row, 0, 0)
    return begins, deliveries


@njit(cache=True)
def _second_pass(
    rows: Rows,
    facts: Rows,
    widths: Rows,
    dependencies: Rows,
    seen: Marks,
    prefix: Rows,
    clocks: Clocks,
    counts: Rows,
    room: Rows,
) -> None:
    """Hold each delivery against the clock that its message had at its beginning, all 0 for one that was never begun
    with. By process: `widths`, how many `dependencies` it has, and `clocks`."""
    processes, messages = facts[_PROCESSES], facts[_MESSAGES]
    for index in range(len(rows)):
        row = rows[index]
        sender, number = row[SENDER], row[NUMBER]
        if row[KIND] != DELIVERED or sender < 1 or sender > processes or number < 1 or number > messages:
            continue
        if seen[sender, number]:
            continue
        if prefix[sender] < number - 1:
            _note(counts, room, _CAUSAL, row, sender, prefix[sender] + 1)
        else:
            for place in range(widths[sender]):
                other = dependencies[sender, place]
                if prefix[other] < clocks[sender, number, place]:
                    _note(counts, room, _CAUSAL, row, other, prefix[other] + 1)
                    break
        seen[sender, number] = 1
        while prefix[sender] < messages and seen[sender, prefix[sender] + 1]:
            prefix[sender] += 1


class Scan:
    """All output files of a run, one after the other; by process (from 1): findings, what it began with (marks by
    number), what it delivered (marks by sender and number, packed into bits)."""

    def __init__(self, task: Task, outputs: Sequence[Output]) -> None:
        """`outputs`: unread, of the processes in the order of their ids."""
        self._task = task
        count, messages = task.processes, task.messages
        given = task.dependencies or ((),) * (count + 1)
        self._widths = np.array([len(each) for each in given], dtype=np.int64)
        self._dependencies = np.zeros((count + 1, max(1, int(self._widths.max()))), dtype=np.int64)
        for process, each in enumerate(given):
            self._dependencies[process, : len(each)] = each
        width = self._dependencies.shape[1] if task.level is Level.LCB else 0
        self._clocks = np.zeros((count + 1, messages + 1, width), dtype=np.int32)
        self.begun = np.zeros((count + 1, messages + 1), dtype=np.uint8)
        self.findings = [Findings.empty()]
        self._packed: list[Marks] = [np.zeros((count + 1, messages // 8 + 1), dtype=np.uint8)]
        for process, output in enumerate(outputs, 1):
            self._read(process, output)
        if task.level is Level.LCB:
            for process, output in enumerate(outputs, 1):
                self._read_again(process, Output(output.path))

    def delivered(self, process: int) -> Marks:
        """By sender and number, in bits (`numpy.unpackbits` along the second axis)."""
        return self._packed[process]

    def _read(self, process: int, output: Output) -> None:
        findings, seen, prefix = self._fresh()
        following = np.ones(self._task.processes + 1, dtype=np.int64)
        dependencies = self._dependencies[process, : self._widths[process]]
        for rows in output.rows():
            begins, deliveries = _first_pass(
                rows, self._facts(process), dependencies, self.begun[process], seen, prefix, following,
                self._clocks[process], findings.counts, findings.room,
            )  # fmt: skip
            findings.begins += begins
            findings.deliveries += deliveries
        self.findings.append(findings)
        self._packed.append(np.packbits(seen, axis=1))

    def _read_again(self, process: int, output: Output) -> None:
        _, seen, prefix = self._fresh()
        findings = self.findings[process]
        for rows in output.rows():
            _second_pass(
                rows, self._facts(process), self._widths, self._dependencies, seen, prefix,
                self._clocks, findings.counts, findings.room,
            )  # fmt: skip

    def _fresh(self) -> tuple[Findings, Marks, Rows]:
        count = self._task.processes + 1
        seen = np.zeros((count, self._task.messages + 1), dtype=np.uint8)
        return Findings.empty(), seen, np.zeros(count, dtype=np.int64)

    def _facts(self, process: int) -> Rows:
        task = self._task
        return np.array([process, task.processes, task.messages, task.level is Level.PL, task.receiver], dtype=np.int64)


def line_of(output: Output, sender: int, number: int) -> int:
    """The first line that delivers this message; 0 when there is none."""
    for rows in output.rows():
        hits = rows[(rows[:, KIND] == DELIVERED) & (rows[:, SENDER] == sender) & (rows[:, NUMBER] == number)]
        if len(hits):
            return int(hits[0, LINE])
    return 0
