"""Faults and failures over real sockets: the schedule's, at the relay and to the processes; and what logs of several
lives are put together to."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scatterproof.conformance.adapters import datagram
from scatterproof.conformance.adapters.datagram import DatagramIut
from scatterproof.conformance.adapters.lives import joined
from scatterproof.conformance.adapters.log_folder import BEFELL_FILE, read_logs
from scatterproof.conformance.adapters.logs import merge
from scatterproof.conformance.adapters.real_time import round_ns, stretch_of, stretched
from scatterproof.conformance.case import CaseResult, ended_as_planned, run_case, select
from scatterproof.conformance.network.topologies import mesh, star
from scatterproof.conformance.protocol import load
from scatterproof.conformance.tests import mutants_udp
from scatterproof.conformance.verdict import Verdict
from scatterproof.spec.errors import BadInput, CannotRun, MachineBusy
from scatterproof.spec.schedule import (
    Delay,
    Failure,
    FailureKind,
    Fault,
    FaultKind,
    Message,
    Schedule,
    Submission,
    validate,
)
from scatterproof.spec.topology import Topology
from scatterproof.spec.trace import ABSENT, Kind, Row, schema

DRIVER = [sys.executable, "-m", "scatterproof.impl.drivers.udp"]
NAMES = schema("totalorder").columns
STAR = star(2)


def small(network: Topology = STAR, protocol: str = "totalorder", **rest: Any) -> Schedule:
    parameters: dict[str, int | str] = {"environment": "D8", "beacon_interval_ns": 10_000}
    if protocol == "broadcast":
        parameters = {"level": "pl"}
    submissions = (Submission(1_000, 0, (Message(1),)),)
    schedule = Schedule(protocol, network, tuple(Delay(900) for _ in network.links), submissions, parameters=parameters)
    return validate(msgspec.structs.replace(schedule, **rest))


def row(kind: Kind, node: int, time: int = 0, link: int = ABSENT, seq: int = ABSENT, barrier: int = ABSENT) -> Row:
    columns = {"kind": int(kind), "node": node, "time_ns": time, "link": link, "link_seq": seq, "barrier": barrier}
    return tuple(columns.get(name, ABSENT) for name in NAMES)


def column(rows: list[Row], name: str) -> list[int]:
    return [one[NAMES.index(name)] for one in rows]


@pytest.mark.parametrize(
    ("parameters", "failures", "factor"),
    [
        ({"beacon_interval_ns": 5_000}, (), 8_000),
        ({"beacon_interval_ns": 39_999_999}, (), 2),
        ({"beacon_interval_ns": 40_000_000, "processor_delay_ns": 3}, (), 1),
        ({"beacon_interval_ns": 10_000, "retransmit_timeout_ns": 100}, (), 4_000),
        (
            {"beacon_interval_ns": 10_000, "retransmit_timeout_ns": 30_000},
            (Failure(5, FailureKind.CUT, link=0),),
            10_000,
        ),
    ],
)
def test_times_are_stretched_until_processes_can_keep_them(
    parameters: dict[str, int], failures: tuple[Failure, ...], factor: int
) -> None:
    assert stretch_of(small(parameters={"environment": "C", **parameters}, failures=failures)) == factor


def test_a_schedule_begins_where_all_intervals_do() -> None:
    assert round_ns(small(parameters={"beacon_interval_ns": 40, "retransmit_timeout_ns": 60})) == 120
    assert round_ns(small(parameters={"beacon_interval_ns": 999_999_937, "retransmit_timeout_ns": 999_999_929})) == 1


@pytest.mark.parametrize(
    ("schedule", "sentence"),
    [
        (
            small(failures=(Failure(5, FailureKind.CRASH, node=0), Failure(9, FailureKind.RESTART, node=0))),
            "udp: the schedule has a host begin anew; it would count what is handed over anew, too; run it in stdio",
        ),
        (small(mesh(2), "broadcast"), "udp: packets of broadcast have no number on their link"),
    ],
)
def test_what_real_sockets_cannot_imitate_is_not_run(schedule: Schedule, sentence: str) -> None:
    with pytest.raises(CannotRun, match=sentence):
        DatagramIut("udp", DRIVER).run(schedule)


def test_faults_that_the_links_of_a_protocol_never_have_are_refused() -> None:
    with pytest.raises(BadInput, match="is duplicate, which links of totalorder never do"):
        DatagramIut("udp", DRIVER).run(small(faults=(Fault(0, 0, FaultKind.DUPLICATE),)))


def test_what_a_busy_machine_kept_waiting_is_played_again_and_slower_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine counts as too busy here as often as the test says."""
    patience = iter([-1, -1, 1 << 62])
    monkeypatch.setattr(datagram, "patience_ns", lambda schedule: next(patience))
    trace = DatagramIut("udp", DRIVER).run(small(submissions=()))

    assert trace.notes[-1] == f"all times of the schedule were stretched by {4_000 * 16}"


def test_on_a_machine_that_is_too_busy_in_the_end_it_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datagram, "patience_ns", lambda schedule: -1)
    monkeypatch.setattr(datagram, "SLOWER", (1,))
    with pytest.raises(MachineBusy, match=r"^udp: this machine kept a node waiting for .* run it on a quieter one$"):
        DatagramIut("udp", DRIVER).run(small(submissions=()))


def two_lives() -> tuple[list[list[list[Row]]], list[Row]]:
    """Switch 2 of a star sends two packets on link 1, crashes, and begins anew with packets 0, 1 and 2; the second
    packet of its first life and the first of its second are lost."""
    first = [row(Kind.SENT, 2, time, 1, seq, barrier) for time, seq, barrier in ((1, 0, 10), (2, 1, 11))]
    second = [row(Kind.SENT, 2, time, 1, seq, 20 + seq) for time, seq in ((6, 0), (7, 1), (8, 2))]
    arrived = [row(Kind.ARRIVED, 0, time, 1, seq, bar) for time, seq, bar in ((3, 0, 10), (8, 1, 21), (9, 2, 22))]
    befell = [row(Kind.CRASHED, 2, 4), row(Kind.RESTARTED, 2, 5), row(Kind.CRASHED, 0, 7, link=0)]
    return [[arrived], [[]], [first, second]], befell


@pytest.mark.slow
def test_a_run_with_a_failure_ends_when_nothing_but_beacons_moves_any_more(tmp_path: Path) -> None:
    """What is for the dead is never delivered; how long that could take at most is no reason to wait."""
    parameters = {**small().parameters, "failure_timeout_ns": 60_000}
    for_the_dead = tuple(Submission(20_000 + 100 * number, 0, (Message(2),)) for number in range(20))
    schedule = small(
        star(3),
        parameters=parameters,
        submissions=for_the_dead,
        failures=(Failure(15_000, FailureKind.CRASH, node=2),),
    )
    trace = DatagramIut("reference", DRIVER, tmp_path).run(schedule)

    (factor,) = (int(note.split()[-1]) for note in trace.header.notes if "stretched by" in note)
    times = trace.column("time_ns")
    assert ended_as_planned(trace)
    assert 2 * (max(times) - min(times)) < load("totalorder").horizon_ns(stretched(schedule, factor))


def test_the_packets_of_several_lives_are_counted_on_where_they_are_sent_and_where_they_arrive() -> None:
    lives, befell = two_lives()
    host, _, switch, links = joined(lives, befell, "totalorder", star(2))

    assert column(switch, "kind") == [Kind.SENT] * 2 + [Kind.CRASHED, Kind.RESTARTED] + [Kind.SENT] * 3
    assert column(switch, "link_seq") == [0, 1, ABSENT, ABSENT, 2, 3, 4]
    # Number 1 arrived from the second life: so its contents say.
    assert column(host, "link_seq") == [0, 3, 4]
    assert column(links, "link") == [0]


def test_what_is_known_to_be_lost_follows_its_sending() -> None:
    lives, befell = two_lives()
    rows, notes = merge(joined(lives, befell, "totalorder", star(2)), "totalorder", {(1, 4)})

    assert not notes
    lost = [(one[NAMES.index("link")], one[NAMES.index("link_seq")]) for one in rows if one[3] == Kind.LOST]
    assert lost == [(1, 1), (1, 2), (1, 4)]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            '{"kind":"delivered","node":0}',
            "line 1 does not befall anything of the run; give rows of crashed, restarted",
        ),
        ('{"kind":"lost","node":0}', "line 1 does not befall anything"),
        ('{"kind":"crashed","node":7}', "line 1 does not befall anything"),
        ("junk", "line 1 is not a JSON object"),
    ],
)
def test_a_record_of_what_befell_that_is_none_is_refused(tmp_path: Path, line: str, sentence: str) -> None:
    (tmp_path / "run.json").write_text(
        '{"protocol":"totalorder","topology":{"nodes":[{"name":"a","role":"host"}],"links":[]},'
        '"parameters":{"environment":"C","beacon_interval_ns":10}}'
    )
    (tmp_path / BEFELL_FILE).write_text(line + "\n")
    with pytest.raises(BadInput, match=sentence):
        read_logs(tmp_path, "it")


def run(name: str, folder: Path, command: list[str]) -> CaseResult:
    """The case over real sockets; where the machine is too busy for it the test says so, and ends."""
    (case,) = select("totalorder", [name])
    found = run_case(case, DatagramIut("udp", command, folder))
    if found.trace is None:
        warnings.warn(pytest.PytestWarning(f"not run: {found.reason}"), stacklevel=2)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["TO-RETX/time-out", "TO-RESTART/switch"])
def test_the_reference_survives_what_befalls_it_over_real_sockets(tmp_path: Path, name: str) -> None:
    found = run(name, tmp_path, DRIVER)
    if found.trace is None:
        return
    schedule, kinds = found.case.schedule, found.trace.column("kind")
    assert not [result for result in found.results if result.verdict is Verdict.FAIL], found.reason
    assert kinds.count(Kind.LOST) >= len(schedule.faults) or "was never sent" in found.reason
    assert kinds.count(Kind.CRASHED) == kinds.count(Kind.RESTARTED) == len(schedule.failures) / 2
    # The folder it leaves tells the same story.
    assert read_logs(tmp_path, "udp").rows == found.trace.rows


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mutant", "name", "clause"),
    [
        ("max-for-min", "TO-BAR-MIN/example-1", "TO-BAR-MIN"),
        ("loss-ignored", "TO-LASTHOP/last-link", "TO-LASTHOP"),
        ("resent-with-its-old-barrier", "TO-RETX-BAR/behind-beacons", "TO-RETX-BAR"),
        ("speaks-at-once", "TO-RESTART/switch", "TO-RESTART"),
    ],
)
def test_a_damaged_rule_is_caught_over_real_sockets(tmp_path: Path, mutant: str, name: str, clause: str) -> None:
    found = run(name, tmp_path, [sys.executable, "-m", mutants_udp.__name__, mutant])
    if found.trace is not None:
        assert clause in {result.clause for result in found.results if result.verdict is Verdict.FAIL}, found.reason
