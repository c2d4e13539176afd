"""Output files of programs as one trace of a run: what they began with and delivered, for judges that read traces.

Each process's rows are in the order of its lines, and a delivery comes after its beginning where the creator's output
has it: these are the only rows of several processes whose order can be told. There are no packets and no contents.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.broadcast.programs.lines import BEGUN, KIND, LINE, MALFORMED, NUMBER, SENDER, Output
from conformance.broadcast.programs.workload import Level, Task
from conformance.network.topologies import mesh
from conformance.stress.contract import Course, Outcome
from conformance.stress.plan import Act
from spec.core import Parameter
from spec.errors import BadInput
from spec.schedule import EVERYBODY
from spec.topology import NodeId
from spec.trace import ABSENT, CLEAN, QUIESCENT, Header, Kind, Order, Row, Trace, schema

# Beyond, an output is no trace to hold in memory: programs are judged by `judge` then.
MOST_LINES = 1_000_000


def trace_of(task: Task, paths: Sequence[Path], course: Course) -> Trace:
    """The trace of a run that is over; paths: the outputs, by process. BadInput for one with a line that is none.

    The outputs of processes that were killed, that crashed, or that did not write all, are not complete. The rows end
    clean, and quiescent where everything that was due was there, or nothing moved any more.
    """
    outputs = [Output(path) for path in paths]
    logs = [list(_rows(task, process, output)) for process, output in enumerate(outputs)]
    whole = tuple(outcome.process for outcome in course.outcomes if _is_whole(outcome, outputs[outcome.process]))
    for outcome in course.outcomes:
        if outcome.ending is not None or outcome.crashed:
            logs[outcome.process].append(_row(Kind.CRASHED, node=outcome.process))
    rows = merge(logs, task.level is Level.PL)
    settled = course.complete or (course.still_s >= course.window_s and course.talked == 0)
    rows.append(_row(Kind.ENDED, flags=CLEAN | QUIESCENT if settled else CLEAN))
    header = Header(
        protocol="broadcast",
        topology=mesh(task.processes),
        parameters=_parameters(task),
        complete={kind.name.lower(): whole for kind in (Kind.BEGUN, Kind.DELIVERED, Kind.CRASHED)},
        order=Order.LINK,
        iut="programs",
    )
    return Trace(header, [(at, *row[1:]) for at, row in enumerate(rows)])


def merge(logs: Sequence[Sequence[Row]], by_receiver: bool) -> list[Row]:
    """One sequence: of each process in its order, and a delivery after its beginning where there is one. Where
    deliveries wait for one another in a circle, the first of them comes before its beginning: no merging can mend that.

    by_receiver: messages are counted by receiver, as at level pl.
    """
    names = schema("broadcast")
    kind_at, node_at, number_at = names.index("kind"), names.index("node"), names.index("number")
    sender_at, receiver_at = names.index("sender"), names.index("receiver")

    def message(row: Row) -> tuple[int, int, int]:
        return row[sender_at], row[receiver_at] if by_receiver else EVERYBODY, row[number_at]

    left = {message(row) for log in logs for row in log if row[kind_at] == Kind.BEGUN}  # not merged yet
    rests = [deque(log) for log in logs]
    merged: list[Row] = []

    def take(log: deque[Row]) -> None:
        row = log.popleft()
        merged.append(row)
        if row[kind_at] == Kind.BEGUN:
            left.discard(message(row))

    while any(rests):
        before = len(merged)
        for log in rests:
            while log and not (log[0][kind_at] == Kind.DELIVERED and message(log[0]) in left):
                take(log)
        if len(merged) == before:
            take(min((log for log in rests if log), key=lambda log: log[0][node_at]))
    return merged


def _rows(task: Task, process: NodeId, output: Output) -> Iterator[Row]:
    receiver = task.receiver - 1 if task.level is Level.PL else EVERYBODY
    for piece in output.rows():
        for line in piece.tolist():
            if line[KIND] == MALFORMED:
                raise BadInput(
                    f"{output.path}: line {line[LINE]} is neither `b SEQ` nor `d SENDER SEQ`; judge the files"
                )
            if line[LINE] > MOST_LINES:
                raise BadInput(f"{output.path}: more than {MOST_LINES} lines; give the programs fewer messages")
            if line[KIND] == BEGUN:
                yield _row(Kind.BEGUN, node=process, sender=process, receiver=receiver, number=line[NUMBER], count=1)
            else:
                yield _row(Kind.DELIVERED, node=process, sender=line[SENDER] - 1, receiver=process, number=line[NUMBER])


def _row(kind: Kind, **known: int) -> Row:
    values = {"kind": int(kind), **known}
    return tuple(values.get(name, ABSENT) for name in schema("broadcast").columns)


def _is_whole(outcome: Outcome, output: Output) -> bool:
    """Whether the output shows all that the process did."""
    killed = outcome.ending is not None and outcome.ending.act is Act.KILL
    return not (killed or outcome.crashed or outcome.stubborn or output.flaw or output.rest[1])


def _parameters(task: Task) -> dict[str, Parameter]:
    """A program's own threshold is not known, so that none is exceeded."""
    found: dict[str, Parameter] = {"level": task.level.value, "most_undelivered": task.messages}
    if task.level is Level.LCB:
        found["dependencies"] = ";".join(",".join(str(one - 1) for one in on) for on in task.dependencies[1:])
    return found
