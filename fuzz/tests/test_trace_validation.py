"""TLC as a judge of traces: it accepts what conforms, rejects damage at its row, and agrees with the checks."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scatterproof.conformance.judge import judge
from scatterproof.conformance.network.run import SimulatedIut, simulate
from scatterproof.conformance.network.topologies import second_example, star
from scatterproof.conformance.verdict import Verdict
from scatterproof.fuzz.corpus import drawn_schedules
from scatterproof.fuzz.kill_matrix import subjects_of
from scatterproof.fuzz.protocol import load
from scatterproof.impl.totalorder import RULES, make_core
from scatterproof.models import trace_validation
from scatterproof.models.expected import SPEC_FOLDER
from scatterproof.models.protocol import load as models_of
from scatterproof.models.tlc import TlcRun, run_tlc
from scatterproof.models.trace_validation import Judgement, Validation, uncovered, validate, validate_all
from scatterproof.spec import clauses
from scatterproof.spec.core import Core, NodeConfig, Outcome
from scatterproof.spec.schedule import Clock, Delay, Failure, FailureKind, Message, Schedule, Submission
from scatterproof.spec.schedule import read as read_schedule
from scatterproof.spec.topology import Topology
from scatterproof.spec.totalorder.messages import Delivery, Packet
from scatterproof.spec.trace import Kind, Row, Trace, schema

pytestmark = pytest.mark.slow  # one long preparation, which whatever test comes first pays for

COLUMNS = {name: at for at, name in enumerate(schema("totalorder").columns)}
REFERENCE = SimulatedIut("reference", make_core)
STAR = star(3)
ENVIRONMENTS = ("A", "B", "C", "D5", "D6", "D7", "D8", "D9")


def schedule_in(environment: str, topology: Topology = STAR, **parameters: int) -> Schedule:
    """Two rounds of scatterings of everybody to everybody, with clocks apart and every link slower than the last."""
    hosts = topology.hosts()
    return Schedule(
        protocol="totalorder",
        topology=topology,
        delays=tuple(Delay(base_ns=30 + 7 * link) for link in range(len(topology.links))),
        submissions=tuple(
            Submission(200 * turn + 11 * host, host, tuple(Message(to, bytes([turn, host])) for to in hosts))
            for turn in range(2)
            for host in hosts
        ),
        clocks=tuple(Clock(offset_ns=5 * node) for node in range(len(topology.nodes))),
        parameters={"environment": environment, "beacon_interval_ns": 100, **parameters},
    )


def run_in(environment: str, topology: Topology = STAR, **parameters: int) -> Trace:
    return REFERENCE.run(schedule_in(environment, topology, **parameters))


def waiting_core(config: NodeConfig) -> Core[Packet, Delivery]:
    """Its ack barrier stays what it was while anything is outstanding: no other clause asks for more (TO-ACK-INIT)."""
    said = 0

    def kept(outstanding: int | None, acknowledged: int, next_possible: int) -> int:
        nonlocal said
        said = next_possible - 1 if outstanding is None else said
        return said

    return make_core(config, replace(RULES, ack_barrier=kept))


def run_with_a_crash() -> Trace:
    schedule = schedule_in("D9", failure_timeout_ns=1000)
    return REFERENCE.run(msgspec.structs.replace(schedule, failures=(Failure(150, FailureKind.CRASH, node=0),)))


def broken_first(trace: Trace) -> tuple[int | None, frozenset[str]]:
    """The first row that breaks a clause that TLC is asked for, by the online checks, and the clauses that it
    breaks."""
    traces = models_of(trace.header.protocol).traces
    left_out = traces().left_out if traces is not None else {}
    failed = [one for one in judge(trace, shown=1) if one.verdict is Verdict.FAIL and one.clause not in left_out]
    found = [violation for result in failed for violation in result.violations]
    first = min((one.position for one in found), default=None)
    return first, frozenset(one.clause for one in found if one.position == first)


def where(trace: Trace, kind: Kind, at_switch: bool = False, packet: int | None = None, last: bool = True) -> int:
    """The last row of that kind, at a switch or at a host; or the first."""
    switches = trace.header.topology.switches()
    found = [
        position
        for position, row in enumerate(trace.rows)
        if row[COLUMNS["kind"]] == kind
        and (row[COLUMNS["node"]] in switches) == at_switch
        and packet in (None, row[COLUMNS["packet"]])
    ]
    return found[-1 if last else 0]


def changed(row: Row, column: str, by: int) -> Row:
    return (*row[: COLUMNS[column]], row[COLUMNS[column]] + by, *row[COLUMNS[column] + 1 :])


DATA, BEACON = 1, 2
Damage = Callable[[Trace], tuple[list[Row], int]]


def column_changed(kind: Kind, column: str, by: int, *, at_switch: bool, packet: int | None = None) -> Damage:
    def damage(trace: Trace) -> tuple[list[Row], int]:
        at = where(trace, kind, at_switch, packet)
        return [*trace.rows[:at], changed(trace.rows[at], column, by), *trace.rows[at + 1 :]], at

    return damage


def deliveries_swapped(trace: Trace) -> tuple[list[Row], int]:
    """Two deliveries that follow one another at one receiver change places: the first of them comes too early."""
    rows = list(trace.rows)
    at = next(
        at
        for at in range(len(rows) - 1)
        if all(row[COLUMNS["kind"]] == Kind.DELIVERED for row in rows[at : at + 2])
        and rows[at][COLUMNS["node"]] == rows[at + 1][COLUMNS["node"]]
    )
    rows[at], rows[at + 1] = rows[at + 1], rows[at]
    return rows, at


def delivered_twice(trace: Trace) -> tuple[list[Row], int]:
    at = where(trace, Kind.DELIVERED)
    return [*trace.rows[: at + 1], trace.rows[at], *trace.rows[at + 1 :]], at + 1


def delivered_at_the_barrier(trace: Trace) -> tuple[list[Row], int]:
    """A delivery moves in front of the arrival that raised the barrier above its timestamp."""
    at = where(trace, Kind.DELIVERED, last=False)
    arrived = max(row for row in range(at) if trace.rows[row][COLUMNS["kind"]] == Kind.ARRIVED)
    rows = list(trace.rows)
    rows.insert(arrived, rows.pop(at))
    return rows, arrived


def message_dropped(trace: Trace) -> tuple[list[Row], int]:
    """A data message never arrives at the switch, which forwards it all the same."""
    arrived = where(trace, Kind.ARRIVED, True, DATA)
    rows = [row for at, row in enumerate(trace.rows) if at != arrived]
    return rows, next(at for at in range(arrived, len(rows)) if rows[at][COLUMNS["kind"]] == Kind.SENT)


def delivery_left_out(trace: Trace) -> tuple[list[Row], int]:
    at = where(trace, Kind.DELIVERED)
    rows = [*trace.rows[:at], *trace.rows[at + 1 :]]
    return rows, len(rows) - 1


DAMAGES: dict[str, tuple[Damage, str]] = {
    "a switch's barrier one too high": (
        column_changed(Kind.SENT, "barrier", 1, at_switch=True, packet=BEACON),
        "SwitchBarrierIsMinimum",
    ),
    "a host's barrier one too high": (
        column_changed(Kind.SENT, "barrier", 1, at_switch=False, packet=BEACON),
        "HostBarrierIsItsPromise",
    ),
    "a host's timestamp one too high": (
        column_changed(Kind.SENT, "timestamp", 1, at_switch=False, packet=DATA),
        "OneTimestampPerScattering",
    ),
    "a timestamp changed on the way": (
        column_changed(Kind.SENT, "timestamp", 1, at_switch=True, packet=DATA),
        "SentAsArrived",
    ),
    "a timestamp changed on arrival": (
        column_changed(Kind.ARRIVED, "timestamp", 1, at_switch=False, packet=DATA),
        "ArrivedAsSent",
    ),
    "contents changed at delivery": (
        column_changed(Kind.DELIVERED, "digest", 1, at_switch=False),
        "DeliveredOnceAsSent",
    ),
    "a message dropped": (message_dropped, "SentAsArrived"),
    "two deliveries swapped": (deliveries_swapped, "DeliveredInTotalOrder"),
    "delivered twice": (delivered_twice, "DeliveredOnceAsSent"),
    "delivered at the barrier": (delivered_at_the_barrier, "DeliverBelowBarrier"),
    "a delivery left out": (delivery_left_out, "ArrivedIsDelivered"),
}


LOSS_DAMAGES: dict[str, tuple[Damage, str]] = {
    "a switch's ack barrier one too high": (
        column_changed(Kind.SENT, "ack_barrier", 1, at_switch=True, packet=BEACON),
        "SwitchAckBarrierIsMinimum",
    ),
    "a host's ack barrier one too high": (
        column_changed(Kind.SENT, "ack_barrier", 1, at_switch=False, packet=BEACON),
        "IdleAckBarrierRises",
    ),
    "a host's ack barrier at what is outstanding": (
        column_changed(Kind.SENT, "ack_barrier", 1, at_switch=False, packet=DATA),
        "AckBarrierBelowOutstanding",
    ),
    "a loss record where nothing is lost": (
        column_changed(Kind.SENT, "loss_record", 1, at_switch=True, packet=BEACON),
        "SwitchNoticesLoss",
    ),
    "an acknowledgement of more than there is": (
        column_changed(Kind.SENT, "number", 1, at_switch=False, packet=3),
        "AcknowledgementsCumulative",
    ),
    "greatest below what was put on the link": (
        column_changed(Kind.SENT, "greatest", -1, at_switch=True, packet=BEACON),
        "LossCounterSpansLink",
    ),
    "a message number left out": (
        column_changed(Kind.SENT, "number", 1, at_switch=False, packet=DATA),
        "MessageNumbersConsecutive",
    ),
}


VARIANTS = {
    "adjusted": {"adjustment_interval_ns": 150},
    "causal": {"causal": 1},
    "filled": {"fill_barrier": 1},
    "flagged": {"host_flags": 1},
    "withheld": {"every_beacon": 0},
}
CRASH = "D9, a host crashes"
WAITS = "D9, ack barriers that wait"
VARIED = [f"{environment}, {what}" for what in VARIANTS for environment in ("A", "D9")]


@dataclass(frozen=True)
class Read:
    """One trace, the damage done to it, and what TLC says. position: of the damaged row."""

    trace: Trace
    position: int | None
    clause: str
    found: Validation


@pytest.fixture(scope="module")
def read() -> dict[str, Read]:
    """All of them through one TLC for each module: starting it takes longer than a test."""
    traces: dict[str, tuple[Trace, int | None, str]] = {name: (run_in(name), None, "") for name in ENVIRONMENTS}
    traces["links that do not reach"] = (run_in("C", second_example()), None, "")
    traces[CRASH] = (run_with_a_crash(), None, "")
    traces[WAITS] = (simulate(schedule_in("D9"), waiting_core), None, "")
    for what, parameters in VARIANTS.items():
        traces |= {
            f"{environment}, {what}": (run_in(environment, STAR, **parameters), None, "") for environment in ("A", "D9")
        }
    for environment in ("C", "D9"):
        whole = traces[environment][0]
        for what, (damage, clause) in (DAMAGES if environment == "C" else DAMAGES | LOSS_DAMAGES).items():
            rows, position = damage(whole)
            traces[f"{environment}: {what}"] = (Trace(whole.header, rows), position, clause)
    found = validate_all([trace for trace, _, _ in traces.values()])
    return {name: Read(*made, one) for (name, made), one in zip(traces.items(), found, strict=True)}


@pytest.mark.parametrize("name", [*ENVIRONMENTS, "links that do not reach", *VARIED, CRASH, WAITS])
def test_a_run_that_breaks_nothing_is_accepted(read: dict[str, Read], name: str) -> None:
    assert broken_first(read[name].trace) == (None, frozenset())
    assert (read[name].found.judgement, read[name].found.reason) == (Judgement.ACCEPTED, "")


@pytest.mark.parametrize(
    "name", [*(f"C: {what}" for what in DAMAGES), *(f"D9: {what}" for what in DAMAGES | LOSS_DAMAGES)]
)
def test_a_damaged_trace_is_rejected_at_the_damaged_row_and_by_the_clause(read: dict[str, Read], name: str) -> None:
    one = read[name]
    assert one.found.position == one.position, one.found.reason or "accepted"
    assert one.clause in one.found.broken, one.found.reason


def test_a_trace_that_records_nothing_wholly_cannot_be_judged() -> None:
    trace = run_in("A")
    one = validate(Trace(msgspec.structs.replace(trace.header, complete={}), trace.rows))
    assert one.judgement is Judgement.CANNOT_RUN
    assert "of no node at all" in one.reason


def test_submissions_that_the_recorder_did_not_count_cannot_be_judged() -> None:
    trace = run_in("A")
    rows = [row for at, row in enumerate(trace.rows) if at != where(trace, Kind.SUBMITTED, last=False)]
    one = validate(Trace(trace.header, rows))
    assert (one.judgement, one.clauses) == (Judgement.CANNOT_RUN, ())


def test_what_no_module_describes_cannot_be_judged() -> None:
    trace = run_in("C")
    header = msgspec.structs.replace(trace.header, parameters={**trace.header.parameters, "switch": "two"})
    one = validate(Trace(header, trace.rows))
    assert (one.judgement, "has switch two" in one.reason) == (Judgement.CANNOT_RUN, True)


def test_a_module_that_does_not_parse_is_told_of_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not after a search for the run that is to blame."""
    shutil.copytree(SPEC_FOLDER, tmp_path / "spec", ignore=shutil.ignore_patterns("findings", "*.py"))
    (tmp_path / "spec" / "totalorder" / "modules" / "TraceOrder.tla").write_text("no module\n", encoding="ascii")
    started: list[Path] = []

    def counted(path: Path, *arguments: Any, **named: Any) -> TlcRun:
        started.append(path)
        return run_tlc(path, *arguments, **named)

    monkeypatch.setattr(trace_validation, "SPEC_FOLDER", tmp_path / "spec")
    monkeypatch.setattr(trace_validation, "run_tlc", counted)
    found = validate_all([run_in("A"), run_in("A")])
    assert [one.judgement for one in found] == [Judgement.CANNOT_RUN, Judgement.CANNOT_RUN]
    assert len(started) == 1


def test_actions_that_no_accepted_trace_takes_are_named(read: dict[str, Read]) -> None:
    first, second = read["A"].found, read["C"].found
    assert "HostBeacon" in uncovered("totalorder", [first])
    assert "HostBeacon" not in uncovered("totalorder", [first, second])
    assert ("TakeData", "ForwardData") in first.pairs


def agreement(traces: Sequence[Trace], found: Sequence[Validation]) -> None:
    """TLC rejects what the checks do, no later, and at the same row by one of the same clauses."""
    for trace, one in zip(traces, found, strict=True):
        position, broken = broken_first(trace)
        if position is None or one.judgement is Judgement.CANNOT_RUN:
            continue
        assert one.position is not None, f"{trace.header.iut}: {sorted(broken)} broken at row {position}"
        assert one.position <= position, f"{trace.header.iut}: {one.reason}"
        if one.position == position:
            assert broken & set(one.clauses), f"{trace.header.iut}: {sorted(broken)} and {one.reason}"


def telling_run(schedules: Sequence[Schedule], subject: SimulatedIut, unharmed: Sequence[Trace]) -> Trace | None:
    """The first run of a mutant that the checks fail, or else that differs from the reference's at all, and does not
    flood its network."""
    found: Trace | None = None
    for schedule, reference in zip(schedules, unharmed, strict=True):
        trace = subject.run(schedule)
        if trace.rows == reference.rows or len(trace.rows) >= FLOOD:
            continue
        if broken_first(trace)[0] is not None:
            return trace
        found = found or trace
    return found


SHORT, FLOOD = 300, 3_000  # rows
LOOSE = 9  # calls without a known end: TLC tries whether each had an effect, and when


def is_short(trace: Trace) -> bool:
    calls = "outcome" in schema(trace.header.protocol).columns
    loose = trace.column("outcome").count(Outcome.UNKNOWN) if calls else 0
    return len(trace.rows) < SHORT and loose <= LOOSE


# Every protocol that is fuzzed, with each group of rules that mutants are generated from.
MUTATED = [
    (protocol, group)
    for protocol in clauses.protocols()
    if find_spec(f"scatterproof.fuzz.{protocol}") is not None and models_of(protocol).traces is not None
    for group, one in enumerate(load(protocol).groups)
    if one.rules is not None
]


@pytest.mark.parametrize(("protocol", "group"), MUTATED)
def test_tlc_rejects_the_runs_of_mutants_that_the_checks_fail_and_no_later(protocol: str, group: int) -> None:
    """Of every sixth mutant, and of those that change any run at all more than half; the kill matrix reads them all."""
    plugin = load(protocol)
    reference = SimulatedIut("rules", plugin.node_with({}), plugin.max_events)
    runs = [(schedule, reference.run(schedule)) for schedule in islice(drawn_schedules(protocol, 5, group), 60)]
    short = {tuple(trace.rows): (schedule, trace) for schedule, trace in runs if is_short(trace)}
    schedules, unharmed = [one for one, _ in short.values()], [trace for _, trace in short.values()]
    subjects = [subject for subject in subjects_of(plugin) if subject.group == group][::6]
    made = [telling_run(schedules, subject.iut, unharmed) for subject in subjects]
    traces = [*unharmed, *(trace for trace in made if trace is not None)]
    found = validate_all(traces)
    agreement(traces, found)
    assert all(one.judgement is Judgement.ACCEPTED for one in found[: len(unharmed)])
    assert 2 * sum(one.judgement is Judgement.REJECTED for one in found) > len(traces) - len(unharmed)


KEPT = sorted((Path(trace_validation.__file__).parents[1] / "conformance/tests/schedules").glob("*.json"))
FAILING = [group for group, one in enumerate(load("totalorder").groups) if one.failures is not None]


def test_tlc_accepts_the_runs_that_once_went_wrong() -> None:
    found = validate_all([REFERENCE.run(read_schedule(path)) for path in KEPT])
    assert [one.reason for one in found if one.judgement is not Judgement.ACCEPTED] == []


@pytest.mark.parametrize("group", FAILING)
def test_tlc_accepts_what_the_reference_does_where_nodes_and_links_fail(group: int) -> None:
    failing = (schedule for schedule in drawn_schedules("totalorder", 5, group) if schedule.failures)
    traces = (REFERENCE.run(schedule) for schedule in failing)
    found = validate_all(list(islice((trace for trace in traces if 60 < len(trace.rows) < 2 * SHORT), 10)))
    assert [one.reason for one in found if one.judgement is Judgement.REJECTED] == []
    assert 2 * sum(one.judgement is Judgement.ACCEPTED for one in found) > len(found)
