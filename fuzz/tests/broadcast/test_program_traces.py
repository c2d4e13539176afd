"""TLC reads what the outputs of programs over UDP show: the reference's are accepted, by the command, too."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from scatterproof.conformance.broadcast import programs
from scatterproof.conformance.broadcast.programs.tracing import trace_of
from scatterproof.conformance.broadcast.programs.workload import LEVELS, Task
from scatterproof.conformance.relay.faults import Faults
from scatterproof.conformance.stress.contract import Course, EndedProcess, Workload
from scatterproof.conformance.stress.plan import Act, PlannedStep
from scatterproof.conformance.stress.run import Stress, fresh_folders, run
from scatterproof.models.trace_validation import Judgement, validate_all
from scatterproof.spec import trace_ndjson
from scatterproof.spec.broadcast.messages import Level
from scatterproof.spec.trace import Kind, Row, Trace, schema

MS = 1_000_000
FAULTS = Faults(loss=0.3, duplicate=0.1, reorder=0.1, delay_ns=2 * MS, jitter_ns=2 * MS, hold_ns=20 * MS)
PLACES = "--id {id} --hosts {hosts} --output {output} {config}"
REFERENCE = f"{sys.executable} -m scatterproof.impl.broadcast.program {PLACES}"
AT = {name: at for at, name in enumerate(schema("broadcast").columns)}


def judged(folder: Path, given: Task, outputs: Sequence[str], most_rows: int = 1_000) -> Trace:
    """The trace of these outputs, of a run in which everything was there in the end."""
    paths = [folder / f"output-{process}" for process in range(len(outputs))]
    for path, text in zip(paths, outputs, strict=True):
        path.write_text(text.replace(", ", "\n") + "\n" if text else "", encoding="ascii")
    outcomes = tuple(EndedProcess(process=process) for process in range(len(outputs)))
    course = Course(
        outcomes=outcomes, seconds=5.0, still_s=1.0, window_s=1.0, quiet_s=0.0, complete=True, busy_s=4.0, woke_s=0.0,
        faults={},
    )  # fmt: skip
    return trace_of(given, paths, course, most_rows).trace


PL = Task(level=Level.PL, processes=3, messages=2, receiver=3)
URB = Task(level=Level.URB, processes=3, messages=2)
FIFO = Task(level=Level.FIFO, processes=3, messages=2)
# Of process 2's messages all wait for what it delivered of 1; 3 depends on nobody.
LCB = Task(level=Level.LCB, processes=3, messages=1, dependencies=((), (), (1,), ()))
ALL = "d 1 1, d 1 2"
# What three outputs are, and the line (process, place among its rows) and clause that are broken, if any.
OUTPUTS: dict[str, tuple[Task, tuple[str, str, str], tuple[int, int], str]] = {
    "pl": (PL, ("b 1, b 2", "", "d 1 2, d 1 1"), (0, 0), ""),
    "pl, twice": (PL, ("b 1, b 2", "", "d 1 2, d 1 2, d 1 1"), (3, 2), "LinkDeliversOnce"),
    "pl, invented": (PL, ("b 1, b 2", "", "d 1 2, d 1 1, d 2 1"), (3, 3), "LinkDeliversSent"),
    "pl, lost": (PL, ("b 1, b 2", "", "d 1 2"), (0, 1), "SentIsDelivered"),
    "urb": (URB, ("b 1, b 2, d 1 2, d 1 1", "d 1 1, d 1 2", ALL), (0, 0), ""),
    "urb, twice": (URB, ("b 1, b 2, d 1 2, d 1 1, d 1 2", ALL, ALL), (1, 5), "DeliveredOnce"),
    "urb, invented": (URB, ("b 1, b 2, d 1 2, d 1 1", "d 1 1, d 1 3, d 1 2", ALL), (2, 2), "DeliveredWasBegun"),
    "urb, in a circle": (URB, ("d 2 1, b 1, d 1 1", "d 1 1, b 1, d 2 1", ""), (1, 1), "DeliveredWasBegun"),
    "urb, one lacks": (URB, ("b 1, b 2, d 1 2, d 1 1", ALL, "d 1 1"), (0, 1), "UniformAgreement"),
    "urb, its own lacks": (URB, ("b 1, b 2, d 1 2", "d 1 2", "d 1 2"), (0, 1), "OwnIsDelivered"),
    "fifo": (FIFO, (f"b 1, b 2, {ALL}", ALL, ALL), (0, 0), ""),
    "fifo, out of order": (FIFO, (f"b 1, b 2, {ALL}", "d 1 2, d 1 1", ALL), (2, 1), "DeliveredInSendingOrder"),
    "fifo, a gap": (FIFO, (f"b 1, b 2, {ALL}", ALL, "d 1 2"), (3, 1), "DeliveredInSendingOrder"),
    "lcb": (LCB, ("b 1, d 1 1, d 3 1, d 2 1", "d 1 1, d 3 1, b 1, d 2 1", "b 1, d 1 1, d 2 1, d 3 1"), (0, 0), ""),
    "lcb, too early": (
        LCB, ("b 1, d 1 1, d 2 1", "d 1 1, b 1, d 2 1", "d 2 1, d 1 1"), (3, 1), "DependenciesFirst",
    ),
    "lcb, began before": (LCB, ("b 1, d 1 1, d 2 1", "b 1, d 1 1, d 2 1", "d 2 1, d 1 1"), (0, 0), ""),
}  # fmt: skip


def position_of(trace: Trace, process: int, place: int) -> int:
    """The row of that process at that place; of process 0, of the end."""

    def is_its(row: Row) -> bool:
        return row[AT["kind"]] == Kind.ENDED if process == 0 else row[AT["node"]] == process - 1

    return [position for position, row in enumerate(trace.rows) if is_its(row)][place - 1]


def test_outputs_are_accepted_or_rejected_at_the_line_and_by_the_clause(tmp_path: Path) -> None:
    traces = {name: judged(tmp_path, given, outputs) for name, (given, outputs, _, _) in OUTPUTS.items()}
    found = validate_all(list(traces.values()))
    for (name, (_, _, place, clause)), one in zip(OUTPUTS.items(), found, strict=True):
        if clause:
            assert one.position == position_of(traces[name], *place), f"{name}: {one.reason or 'accepted'}"
            assert clause in one.broken, f"{name}: {one.reason}"
        else:
            assert (one.judgement, one.reason) == (Judgement.ACCEPTED, ""), name


def test_nothing_is_asked_of_those_whose_output_is_not_whole(tmp_path: Path) -> None:
    trace = judged(tmp_path, FIFO, ("b 1, b 2", "d 1 2, d 1 2, b 2", ""))
    header = msgspec.structs.replace(trace.header, complete={"begun": (2,), "delivered": (2,)})
    rows = [row for row in trace.rows if row[AT["kind"]] != Kind.ENDED]
    assert validate_all([Trace(header, rows)])[0].judgement is Judgement.ACCEPTED


def test_what_is_cut_off_is_held_against_nobody(tmp_path: Path) -> None:
    """Of each process some 99 lines, in which process 2 delivers more of process 1 than that begins with in its own."""
    begins, *deliveries = ([f"{word} {number}" for number in range(1, 201)] for word in ("b", "d 1", "d 2", "d 3"))
    slow = [line for pair in zip(begins, deliveries[0], strict=True) for line in pair]
    first = [*slow, *deliveries[1], *deliveries[2]]
    second = [*deliveries[0], *begins, *deliveries[1], *deliveries[2]]
    third = [*begins, *deliveries[0], *deliveries[1], *deliveries[2]]
    outputs = [", ".join(lines) for lines in (first, second, third)]
    given = Task(level=Level.FIFO, processes=3, messages=200)
    (full, cut) = (judged(tmp_path, given, outputs, most_rows) for most_rows in (60_000, 300))
    spoilt = Trace(cut.header, [*cut.rows[:-1], cut.rows[-2], cut.rows[-1]])
    assert (len(full.rows), 100 < len(cut.rows) < 280) == (2401, True)
    found = validate_all([full, cut, spoilt])
    assert [one.judgement for one in found] == [Judgement.ACCEPTED, Judgement.ACCEPTED, Judgement.REJECTED]


def run_reference(level: str, folder: Path, steps: tuple[PlannedStep, ...] = ()) -> Trace:
    workload = Workload(level=level, processes=5, messages=20, seed=1)
    folders = fresh_folders(folder / level, workload.processes)
    judge = programs.tester(workload, folders)
    course = run(shlex.split(REFERENCE), judge, workload, Stress(faults=FAULTS, steps=steps, seconds=240), folders)
    return judge.trace(course).trace


@pytest.mark.slow
def test_the_reference_program_s_runs_are_accepted(tmp_path: Path) -> None:
    """Five processes, of which one is killed and one asked to end; 30 % of the datagrams are lost."""
    steps = (
        PlannedStep(0.2, Act.PAUSE, 0),
        PlannedStep(0.4, Act.RESUME, 0),
        PlannedStep(0.5, Act.TERMINATE, 1),
        PlannedStep(0.6, Act.KILL, 2),
    )
    traces = [run_reference(level, tmp_path, () if level == "pl" else steps) for level in LEVELS]
    paths = []
    for level, trace in zip(LEVELS, traces, strict=True):
        assert len(trace.rows) > 100
        paths.append(tmp_path / f"{level}.ndjson")
        trace_ndjson.write(paths[-1], trace)
    damaged = traces[-1]
    last = max(at for at, row in enumerate(damaged.rows) if row[AT["kind"]] == Kind.DELIVERED and row[AT["node"]] == 0)
    trace_ndjson.write(
        tmp_path / "damaged.ndjson", Trace(damaged.header, [*damaged.rows[: last + 1], *damaged.rows[last:]])
    )
    command = [str(Path(sys.executable).with_name("scatterproof")), "validate", "--json"]
    validated = subprocess.run(
        [*command, *map(str, paths), str(tmp_path / "damaged.ndjson")], capture_output=True, text=True, check=False
    )
    assert validated.returncode == 1, validated.stderr
    told = msgspec.json.decode(validated.stdout)
    assert [one["verdict"] for one in told["traces"]] == [*["accepted"] * len(paths), "rejected"], validated.stdout
    assert (told["traces"][-1]["row"], told["traces"][-1]["clauses"]) == (last + 1, ["BC-URB-ONCE"])
    assert {"Begin", "Deliver", "Crash", "Settle"}.isdisjoint(told["actions_not_taken"]["broadcast"])
