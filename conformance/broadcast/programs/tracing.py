"""Output files of programs as one trace of a run: what they began with and delivered, for judges that read traces.

Each process's rows are in the order of its lines, and a delivery comes after its beginning where the creator's output
has it: these are the only rows of several processes whose order can be told. There are no packets and no contents.

Long outputs are cut, so that all rows go into memory: a process's first lines, and of the others what can have
happened before. What is there is complete then, and the run is not over.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from scatterproof.conformance.broadcast.programs.lines import BEGUN, KIND, MALFORMED, NUMBER, SENDER, Output
from scatterproof.conformance.broadcast.programs.workload import Task
from scatterproof.conformance.network.topologies import mesh
from scatterproof.conformance.rows import row_of
from scatterproof.conformance.stress.contract import Course, Recorded
from scatterproof.spec.broadcast.messages import Level, in_words
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import EVERYBODY
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import CLEAN, QUIESCENT, Header, Kind, Order, Row, Trace, schema

# TLC reads no more than 65,000; a run is judged in full by `judge`, without a trace.
MOST_ROWS = 60_000
_KIND, _NODE, _SENDER, _RECEIVER, _NUMBER = (
    schema("broadcast").index(name) for name in ("kind", "node", "sender", "receiver", "number")
)
_row = partial(row_of, "broadcast")
_TOLD = 3  # processes whose omissions are named

RunMessage = tuple[int, int, int]  # creator, receiver, number


def trace_of(task: Task, paths: Sequence[Path], course: Course, most_rows: int = MOST_ROWS) -> Recorded:
    """The trace of a run that is over; paths: the outputs, by process.

    The outputs of processes that were killed, that crashed, or that did not write all, are not complete. The rows end
    clean, and quiescent where everything that was due was there, or nothing moved any more; neither where some are
    left out: those beyond `most_rows`, and those after a line that is none.
    """
    outputs = [Output(path) for path in paths]
    logs: list[list[Row]] = []
    cut: dict[NodeId, str] = {}  # why, of those that are cut
    for process, output in enumerate(outputs):
        rows, why = _rows(task, process, output, max(1, (most_rows - 1) // task.processes - 1))
        logs.append(rows)
        if why:
            cut[process] = why
    _cut_to_match(logs, cut, task.level is Level.PL)
    whole = tuple(o.process for o in course.outcomes if o.process in cut or outputs[o.process].is_whole(o))
    for outcome in course.outcomes:
        if (outcome.ending is not None or outcome.crashed) and outcome.process not in cut:
            logs[outcome.process].append(_row(Kind.CRASHED, node=outcome.process))
    told = [f"of process {process + 1} all after line {len(logs[process])}: {cut[process]}" for process in sorted(cut)]
    rows = merge(logs, task.level is Level.PL)
    settled = course.complete or course.at_a_stand
    rows.append(_row(Kind.ENDED, flags=0 if cut else CLEAN | QUIESCENT if settled else CLEAN))
    header = Header(
        protocol="broadcast",
        topology=mesh(task.processes),
        parameters=_parameters(task),
        complete={kind.name.lower(): whole for kind in (Kind.BEGUN, Kind.DELIVERED, Kind.CRASHED)},
        order=Order.LINK,
        iut="programs",
    )
    more = f"; and of {len(told) - _TOLD} processes more" if len(told) > _TOLD else ""
    return Recorded(Trace(header, [(at, *row[1:]) for at, row in enumerate(rows)]), "; ".join(told[:_TOLD]) + more)


def _cut_to_match(logs: Sequence[list[Row]], cut: dict[NodeId, str], by_receiver: bool) -> None:
    """Cut what others delivered of the messages that a process began with after its cut, and all that follows."""
    found = bool(cut)
    while found:
        found = False
        begun = {_message(row, by_receiver) for log in logs for row in log if row[_KIND] == Kind.BEGUN}
        for process, log in enumerate(logs):
            for at, row in enumerate(log):
                if row[_KIND] == Kind.DELIVERED and row[_SENDER] in cut and _message(row, by_receiver) not in begun:
                    del log[at:]
                    cut.setdefault(process, f"it delivers what is left out of process {row[_SENDER] + 1}")
                    found = True
                    break


def _message(row: Row, by_receiver: bool) -> RunMessage:
    return row[_SENDER], row[_RECEIVER] if by_receiver else EVERYBODY, row[_NUMBER]


def merge(logs: Sequence[Sequence[Row]], by_receiver: bool) -> list[Row]:
    """One sequence: of each process in its order, and a delivery after its beginning where there is one. Where
    deliveries wait for one another in a circle, the first of them comes before its beginning: no merging can mend that.

    by_receiver: messages are counted by receiver, as at level pl.
    """
    left = {_message(row, by_receiver) for log in logs for row in log if row[_KIND] == Kind.BEGUN}  # not merged yet
    rests = [deque(log) for log in logs]
    merged: list[Row] = []

    def take(log: deque[Row]) -> None:
        row = log.popleft()
        merged.append(row)
        if row[_KIND] == Kind.BEGUN:
            left.discard(_message(row, by_receiver))

    while any(rests):
        before = len(merged)
        for log in rests:
            while log and not (log[0][_KIND] == Kind.DELIVERED and _message(log[0], by_receiver) in left):
                take(log)
        if len(merged) == before:
            take(min((log for log in rests if log), key=lambda log: log[0][_NODE]))
    return merged


def _rows(task: Task, process: NodeId, output: Output, most: int) -> tuple[list[Row], str]:
    """Its first lines, and why not all."""
    receiver = task.receiver - 1 if task.level is Level.PL else EVERYBODY
    rows: list[Row] = []
    for piece in output.rows():
        for line in piece[: most + 1 - len(rows)].tolist():
            if line[KIND] == MALFORMED:
                return rows, "the next is neither `b SEQ` nor `d SENDER SEQ`"
            if len(rows) == most:
                return rows, f"a trace has room for {most} lines of each process"
            if line[KIND] == BEGUN:
                row = _row(Kind.BEGUN, node=process, sender=process, receiver=receiver, number=line[NUMBER], count=1)
            else:
                row = _row(Kind.DELIVERED, node=process, sender=line[SENDER] - 1, receiver=process, number=line[NUMBER])
            rows.append(row)
    return rows, ""


def _parameters(task: Task) -> dict[str, Parameter]:
    """A program's own threshold is not known, so that none is exceeded."""
    found: dict[str, Parameter] = {"level": task.level.value, "most_undelivered": task.messages}
    if task.level is Level.LCB:
        found["dependencies"] = in_words([one - 1 for one in on] for on in task.dependencies[1:])
    return found
