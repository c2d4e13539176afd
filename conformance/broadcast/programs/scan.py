"""What one output file shows by itself: passes over its lines, compiled, with marks for what was delivered.

Clauses: BC-IO-CONFIG, BC-IO-OUT, BC-PL-ONCE, BC-PL-REAL, BC-URB-ONCE, BC-URB-REAL, BC-FIFO-ORDER, BC-LCB-CAUSAL,
BC-LCB-FIFO. Memory: a byte for each message of the workload, and a number for each message and dependency.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

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


# What is wrong with a line.
Sort = IntEnum(
    "Sort",
    "MALFORMED BEGUN_OUT_OF_ORDER BEGUN_TWICE BEGUN_UNASKED NO_SUCH_SENDER NO_SUCH_MESSAGE TWICE BEFORE_BEGUN "
    "OUT_OF_ORDER BEFORE_DEPENDENCY",
    start=0,
)
_MALFORMED, _OUT_OF_ORDER, _BEGUN_TWICE, _UNASKED, _NO_SENDER, _NO_MESSAGE, _TWICE, _BEFORE_BEGUN, _GAP, _CAUSAL = Sort


class Facts(NamedTuple):
    """What passes over all outputs know and find out.

    links: whether the level is pl; receiver: there.
    widths: by process, how many `dependencies` it has.
    begun: by process and number, what it began with; clocks: by both, what it had delivered of its dependencies then.
    """

    processes: int
    messages: int
    links: bool
    receiver: int
    widths: Rows
    dependencies: Rows
    begun: Marks
    clocks: Clocks


class Pass(NamedTuple):
    """What one pass over the output of process `me` marks and notes.

    seen: by sender and number, what it delivered; prefix: by sender, up to which number all of it.
    following: by sender, the number that comes next; in place 0, the next to begin with.
    counts, room: of findings.
    """

    me: int
    seen: Marks
    prefix: Rows
    following: Rows
    counts: Rows
    room: Rows


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
    """counts: how many lines of each sort; room: for the first of them.
    deliveries: well-formed lines.
    """

    counts: npt.NDArray[np.int64]
    room: npt.NDArray[np.int64]
    deliveries: int = 0

    @classmethod
    def empty(cls) -> Findings:
        return cls(np.zeros(len(Sort), dtype=np.int64), np.zeros((len(Sort), SHOWN, 6), dtype=np.int64))

    def shown(self, sort: Sort) -> list[WrongLine]:
        return [WrongLine(sort, *row) for row in self.room[sort, : min(SHOWN, self.counts[sort])].tolist()]


@njit(cache=True)
def _note(at: Pass, sort: int, row: Rows, other: int = 0, more: int = 0) -> None:
    if at.counts[sort] < SHOWN:
        note = at.room[sort, at.counts[sort]]
        note[0], note[1], note[2], note[3] = row[LINE], row[PLACE], row[SENDER], row[NUMBER]
        note[4], note[5] = other, more
    at.counts[sort] += 1


@njit(cache=True)
def _mark(at: Pass, sender: int, number: int, messages: int) -> None:
    at.seen[sender, number] = 1
    while at.prefix[sender] < messages and at.seen[sender, at.prefix[sender] + 1]:
        at.prefix[sender] += 1


@njit(cache=True)
def _first_pass(rows: Rows, facts: Facts, at: Pass) -> int:
    """Mark what was begun with and delivered, and note what is wrong. Returns how many deliveries there are."""
    me, messages, links = at.me, facts.messages, facts.links
    begun, following = facts.begun[me], at.following
    deliveries = 0
    for index in range(len(rows)):
        row = rows[index]
        kind, sender, number = row[KIND], row[SENDER], row[NUMBER]
        if kind == BEGUN:
            if number < 1 or number > messages or (links and me == facts.receiver):
                _note(at, _UNASKED, row)
            elif begun[number]:
                _note(at, _BEGUN_TWICE, row)
            else:
                if not links and number != following[0]:
                    _note(at, _OUT_OF_ORDER, row, following[0])
                following[0] = number + 1
                begun[number] = 1
                for place in range(facts.widths[me]):
                    facts.clocks[me, number, place] = at.prefix[facts.dependencies[me, place]]
        elif kind == DELIVERED:
            deliveries += 1
            if sender < 1 or sender > facts.processes or (links and (sender == me or me != facts.receiver)):
                _note(at, _NO_SENDER, row)
            elif number < 1 or number > messages:
                _note(at, _NO_MESSAGE, row)
            elif at.seen[sender, number]:
                _note(at, _TWICE, row)
            else:
                if sender == me and not begun[number]:
                    _note(at, _BEFORE_BEGUN, row)
                _mark(at, sender, number, messages)
                if number > following[sender]:
                    _note(at, _GAP, row, following[sender])
                following[sender] = max(following[sender], number + 1)
        else:
            _note(at, _MALFORMED, row)
    return deliveries


@njit(cache=True)
def _second_pass(rows: Rows, facts: Facts, at: Pass) -> None:
    """Hold each delivery against the clock that its message had at its beginning, all 0 for one that was never begun
    with."""
    prefix, messages = at.prefix, facts.messages
    for index in range(len(rows)):
        row = rows[index]
        sender, number = row[SENDER], row[NUMBER]
        if row[KIND] != DELIVERED or sender < 1 or sender > facts.processes or number < 1 or number > messages:
            continue
        if at.seen[sender, number]:
            continue
        if prefix[sender] < number - 1:
            _note(at, _CAUSAL, row, sender, prefix[sender] + 1)
        else:
            for place in range(facts.widths[sender]):
                other = facts.dependencies[sender, place]
                if prefix[other] < facts.clocks[sender, number, place]:
                    _note(at, _CAUSAL, row, other, prefix[other] + 1)
                    break
        _mark(at, sender, number, messages)


class Scan:
    """All output files of a run, one after the other; by process (from 1): findings, what it began with (marks by
    number), what it delivered (marks by sender and number, packed into bits)."""

    def __init__(self, task: Task, outputs: Sequence[Output]) -> None:
        """`outputs`: unread, of the processes in the order of their ids."""
        count, messages = task.processes + 1, task.messages + 1
        given = task.dependencies or ((),) * count
        widths = np.array([len(each) for each in given], dtype=np.int64)
        dependencies = np.zeros((count, max(1, int(widths.max()))), dtype=np.int64)
        for process, each in enumerate(given):
            dependencies[process, : len(each)] = each
        self.begun = np.zeros((count, messages), dtype=np.uint8)
        clocks = np.zeros((count, messages, dependencies.shape[1] if task.level is Level.LCB else 0), dtype=np.int32)
        links = task.level is Level.PL
        self._facts = Facts(
            task.processes, task.messages, links, task.receiver, widths, dependencies, self.begun, clocks
        )
        self.findings = [Findings.empty() for _ in range(count)]
        self._packed: list[Marks] = [np.zeros((count, task.messages // 8 + 1), dtype=np.uint8)]
        for process, output in enumerate(outputs, 1):
            at = self._pass(process)
            self.findings[process].deliveries = sum(_first_pass(rows, self._facts, at) for rows in output.rows())
            self._packed.append(np.packbits(at.seen, axis=1))
        if task.level is Level.LCB:
            for process, output in enumerate(outputs, 1):
                at = self._pass(process)
                for rows in Output(output.path).rows():
                    _second_pass(rows, self._facts, at)

    def delivered(self, process: int) -> Marks:
        """What the process delivered: bits by sender and number (`numpy.unpackbits` along the second axis)."""
        return self._packed[process]

    def _pass(self, process: int) -> Pass:
        found, prefix = self.findings[process], np.zeros(len(self.begun), dtype=np.int64)
        seen = np.zeros((len(prefix), self._facts.messages + 1), dtype=np.uint8)
        return Pass(process, seen, prefix, np.ones_like(prefix), found.counts, found.room)


def line_of(output: Output, sender: int, number: int) -> int:
    """The first line that delivers this message; 0 when there is none."""
    for rows in output.rows():
        hits = rows[(rows[:, KIND] == DELIVERED) & (rows[:, SENDER] == sender) & (rows[:, NUMBER] == number)]
        if len(hits):
            return int(hits[0, LINE])
    return 0
