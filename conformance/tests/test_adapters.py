"""Implementations as processes: the reference core leaves the same trace however it is reached, and a node that hangs,
crashes or lies cuts its run and nothing else."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scatterproof.conformance.adapters.datagram import DatagramIut
from scatterproof.conformance.adapters.log_folder import read_logs
from scatterproof.conformance.adapters.logs import NodeLog, in_flight, merge
from scatterproof.conformance.adapters.stdio import StdioIut
from scatterproof.conformance.case import cases
from scatterproof.conformance.judge import judge
from scatterproof.conformance.network.run import SimulatedIut
from scatterproof.conformance.network.topologies import chain, star
from scatterproof.conformance.supervisor import Limits
from scatterproof.impl.totalorder import make_core
from scatterproof.spec import trace_ndjson
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.schedule import Clock, Delay, Failure, FailureKind, Message, Schedule, Submission, validate
from scatterproof.spec.topology import Role, Topology
from scatterproof.spec.trace import ABSENT, CLEAN, QUIESCENT, Kind, Order, Row, schema

SHORT = Limits(answer_s=1, stop_s=0.3)
PATIENT = Limits(answer_s=120, stop_s=0.3, total_bytes=20_000_000)  # a busy machine takes seconds to start a node
NAMES = schema("totalorder").columns
FLAGS, KIND = NAMES.index("flags"), NAMES.index("kind")


def small(network: Topology, **rest: Any) -> Schedule:
    hosts = network.hosts()
    submissions = tuple(
        Submission(2000 * at, hosts[at % len(hosts)], tuple(Message(host, bytes([at, host])) for host in hosts))
        for at in range(6)
    )
    parameters: dict[str, int | str] = {"environment": "C", "beacon_interval_ns": 5000}
    schedule = Schedule(
        "totalorder", network, tuple(Delay(900, 300) for _ in network.links), submissions, (), parameters
    )
    return validate(msgspec.structs.replace(schedule, **rest))


def driver(name: str) -> list[str]:
    return [sys.executable, "-m", f"scatterproof.impl.drivers.{name}"]


def node(script: str) -> list[str]:
    """A node that behaves as the Python lines say: `say(text)` writes a line, `hear()` reads one."""
    prelude = "import sys, time\ndef say(text): print(text, flush=True)\ndef hear(): return sys.stdin.readline()\n"
    return [sys.executable, "-c", prelude + script]


@pytest.mark.parametrize("network", [star(2), chain(2, 1)])
def test_the_reference_core_leaves_the_same_bytes_in_process_and_over_stdio(network: Topology) -> None:
    clocks = tuple(Clock(700 * at, 90_000 * at) for at in range(len(network.nodes)))
    schedule = small(network, clocks=clocks)
    inside, outside = SimulatedIut("it", make_core).run(schedule), StdioIut("it", driver("stdio")).run(schedule)

    assert trace_ndjson.encode(outside) == trace_ndjson.encode(inside)
    assert inside.column("kind").count(Kind.DELIVERED) == 6 * len(network.hosts())


@pytest.mark.parametrize("protocol", sorted(path.parent.name for path in Path(__file__).parents[1].glob("*/cases")))
def test_every_protocols_core_leaves_the_same_bytes_in_process_and_over_stdio(protocol: str) -> None:
    schedule = cases(protocol)[0].schedule
    core = importlib.import_module(f"scatterproof.impl.{protocol}").make_core
    inside, outside = SimulatedIut("it", core).run(schedule), StdioIut("it", driver("stdio")).run(schedule)

    assert trace_ndjson.encode(outside) == trace_ndjson.encode(inside)
    assert {Kind.DELIVERED, Kind.RETURNED} & set(inside.column("kind"))


READY = 'hear(); say(\'{"type":"ready","deadline":0}\'); hear()\n'


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("time.sleep(60)", "gave no answer for 1 s"),
        ("sys.exit(4)", "ended with exit code 4"),
        ("say('hello')", "wrote 'hello', which is no line of the contract"),
        ('say(\'{"type":"done"}\'); hear(); hear()', "answered with 'done' where 'ready' is due"),
        (READY + "time.sleep(60)", "gave no answer for 1 s"),
        (READY + "raise SystemExit('so long')", "ended with exit code 1; stderr ends: so long"),
        (READY + 'say(\'{"type":"ready"}\'); hear()', "answered with 'ready' where effects and 'done' are due"),
        (READY + 'say(\'{"type":"send","link":0,"packet":{}}\'); hear()', "wrote '{}': Object missing required field"),
        (READY + 'say(\'{"type":"send","link":0}\'); hear()', "is no line of the contract"),
        (READY + 'say(\'{"type":"done"}\\n{"type":"done"}\'); hear()', "wrote more after it was done"),
        (READY + 'say(\'{"type":"begin","message":{}}\'); hear()', "wrote 'begin', which this protocol does not have"),
        (READY + 'while True: say(\'{"type":"log","text":"\' + \'x\' * 999 + \'"}\')', "wrote more than"),
        (READY + 'while True: say(\'{"type":"refuse","link":1,"reason":""}\')', "answered one event with 100000 eff"),
        (READY + 'say(\'{"type":"refuse","link":0,"reason":""}\')', "from link 0, which is no ingress link of it"),
        (
            READY + 'say(\'{"type":"send","link":1,"packet":{"kind":1,"sender":0,"receiver":0,"number":1,"link_seq":0,'
            '"timestamp":1,"barrier":1,"payload":""}}\\n{"type":"done"}\'); hear()',
            "sent on link 1, which is no egress link of it",
        ),
        (
            READY + 'say(\'{"type":"send","link":0,"packet":{"kind":1,"sender":0,"receiver":0,"number":1,"link_seq":0,'
            '"timestamp":9223372036854775808,"barrier":1,"payload":""}}\'); hear()',
            "timestamp does not fit into 64 bits",
        ),
    ],
)
def test_a_stdio_node_that_breaks_the_contract_cuts_the_run_with_the_reason(script: str, sentence: str) -> None:
    limits = SHORT if "gave no answer" in sentence else PATIENT
    trace = StdioIut("bad", node(script), limits=limits).run(small(star(1)))

    assert trace.rows[-1][FLAGS] == 0
    assert sentence in trace.notes[0]


LOOPS = """
hear(); say('{"type":"ready","deadline":0}')
while "stop" not in hear():
    print('{"type":"log","text":"' + "x" * 500 + '"}')
    say('{"type":"done","deadline":0}')
"""


def test_a_node_that_loops_is_named_and_leaves_little_behind(tmp_path: Path) -> None:
    trace = StdioIut("loops", node(LOOPS), tmp_path, Limits(answer_s=60)).run(small(star(1)))

    assert trace.notes[0].startswith("the run does not get past 0 ns: it was cut after ")
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 8 << 20


def test_what_stdio_nodes_wrote_is_kept(tmp_path: Path) -> None:
    StdioIut("bad", node("sys.exit('so long')"), tmp_path, PATIENT).run(small(star(1)))

    assert (tmp_path / "0-h0.stderr").read_text() == "so long\n"
    assert (tmp_path / "1-s0.stdout").is_file()


@pytest.mark.parametrize("adapter", [StdioIut, DatagramIut])
def test_a_command_that_cannot_be_started_cannot_run(adapter: Any) -> None:
    with pytest.raises(CannotRun, match="cannot be started"):
        adapter("none", ["/no/such"]).run(small(star(1)))


@pytest.mark.parametrize("environment", ["B", "C"])
def test_the_reference_core_over_real_sockets_delivers_all_and_ends_clean(tmp_path: Path, environment: str) -> None:
    network = chain(2, 1)
    clocks = (Clock(-3000), Clock(2000), Clock(), Clock(9))
    schedule = small(network, clocks=clocks, parameters={"environment": environment, "beacon_interval_ns": 5000})
    trace = DatagramIut("udp", driver("udp"), tmp_path).run(schedule)

    assert trace.rows[-1][FLAGS] == CLEAN | QUIESCENT
    assert trace.header.order is Order.GLOBAL
    assert trace.header.parameters["beacon_interval_ns"] == 5000 * 8000
    assert trace.column("kind").count(Kind.DELIVERED) == trace.column("kind").count(Kind.SUBMITTED) == 12
    assert all(reading == ABSENT or reading >= 1 for reading in trace.column("clock_ns"))
    assert (tmp_path / "3-s1.log.ndjson").is_file()
    # What it leaves can be judged again, without it.
    again = read_logs(tmp_path, "udp")
    assert again.rows == trace.rows
    assert [one.verdict for one in judge(again)] == [one.verdict for one in judge(trace)]


@pytest.mark.parametrize("role", list(Role))
def test_nodes_of_other_roles_are_not_the_programs(tmp_path: Path, role: Role) -> None:
    """The command plays the nodes of one role; with the core in place of the others the trace is the same."""
    schedule = small(chain(2, 1))
    mixed = StdioIut("it", driver("stdio"), tmp_path, roles={role}, others=make_core).run(schedule)

    started = {path.stem for path in tmp_path.glob("*.stdout")}
    assert started == {Role.HOST: {"0-h0", "1-h1"}, Role.SWITCH: {"2-s0", "3-s1"}, Role.CLIENT: set()}[role]
    assert trace_ndjson.encode(mixed) == trace_ndjson.encode(SimulatedIut("it", make_core).run(schedule))


@pytest.mark.parametrize(("role", "to_blame"), [(Role.HOST, "0-h0"), (Role.SWITCH, "1-s0")])
def test_nodes_of_other_roles_are_other_programs_over_real_sockets(tmp_path: Path, role: Role, to_blame: str) -> None:
    iut = DatagramIut("bad", node("sys.exit(4)"), tmp_path, PATIENT, roles={role}, others=driver("udp"))
    assert iut.run(small(star(1))).notes[0] == f"{to_blame} ended with exit code 4"


LISTEN = "import json\nconfig = json.loads(hear())['config']\n"
PORTS = (
    LISTEN + "say(json.dumps({'type': 'listening', 'ports': {str(link): 9 for link in config['ingress']}}))\nhear()\n"
)


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("time.sleep(60)", "0-h0 gave no answer for 1 s"),
        (
            LISTEN + "say(json.dumps({'type': 'listening', 'ports': {}})); hear()",
            "0-h0 listens for links []; its ingress",
        ),
        (PORTS + "sys.exit(5)", "0-h0 ended with exit code 5"),
        (PORTS + 'say(\'{"type":"ready"}\'); sys.exit(6)', "ended with exit code 6"),
        (PORTS + 'say(\'{"type":"ready"}\'); say(\'{"type":"done"}\'); hear(); hear()', "wrote 'done' unasked"),
    ],
)
def test_a_datagram_node_that_breaks_the_contract_cuts_the_run(script: str, sentence: str) -> None:
    limits = SHORT if "gave no answer" in sentence else PATIENT
    trace = DatagramIut("bad", node(script), limits=limits).run(small(star(1)))

    assert trace.rows[-1][FLAGS] == 0
    assert trace.header.complete == {}
    assert any(sentence in note for note in trace.notes), trace.notes


def test_a_schedule_that_takes_hours_cannot_run_in_real_time() -> None:
    with pytest.raises(CannotRun, match="in real time"):
        DatagramIut("udp", ["cat"]).run(small(star(1), submissions=(Submission(1 << 45, 0, (Message(0),)),)))


def row(kind: Kind, node: int, time: int, link: int = ABSENT, seq: int = ABSENT, number: int = ABSENT) -> Row:
    columns = {"kind": int(kind), "node": node, "time_ns": time, "link": link, "link_seq": seq, "number": number}
    return tuple(columns.get(name, ABSENT) for name in NAMES)


SENT = [row(Kind.SENT, 0, time, 0, seq) for seq, time in enumerate((5, 5, 6))]


@pytest.mark.parametrize("time", [4, 5, 9])
def test_an_arrival_is_merged_behind_its_sending_whatever_the_clocks_say(time: int) -> None:
    arrived = [row(Kind.ARRIVED, 1, time, 0, seq) for seq in range(3)]
    for logs in ([SENT, arrived], [arrived, SENT]):
        rows, notes = merge(logs, "totalorder")

        assert not notes
        assert sorted(rows) == sorted(SENT + arrived)
        for seq in range(3):
            assert rows.index(SENT[seq]) < rows.index(arrived[seq])
        for own in (SENT, arrived):
            assert [one for one in rows if one in own] == own


def test_merging_without_ties_is_sorting_by_time() -> None:
    logs = [[row(Kind.DELIVERED, node, time) for time in range(node, 30, 3)] for node in range(3)]

    assert [one[0] for one in merge(logs, "totalorder")[0]] == list(range(30))


def test_a_packet_that_later_ones_overtook_is_lost_and_the_last_one_is_in_flight() -> None:
    rows, _ = merge([SENT, [row(Kind.ARRIVED, 1, 9, 0, 1)]], "totalorder")

    assert [Kind(one[KIND]).name for one in rows] == ["SENT", "LOST", "SENT", "SENT", "ARRIVED"]
    assert list(in_flight(rows, "totalorder")) == [SENT[2]]


def test_logs_that_contradict_each_other_are_noted() -> None:
    first = [row(Kind.ARRIVED, 0, 1, 1, 0), row(Kind.SENT, 0, 2, 0, 0)]
    second = [row(Kind.ARRIVED, 1, 1, 0, 0), row(Kind.SENT, 1, 2, 1, 0)]
    rows, notes = merge([first, second], "totalorder")

    assert rows == []
    assert notes == ["the logs of nodes [0, 1] contradict each other: packets arrived before they were sent"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"kind":"delivered","node":1}', "node is 1 in the log of node 0"),
        ('{"kind":"ended","node":0}', "cannot know of 'ended'"),
        ('{"kind":"sent","node":0,"link":0,"link_seq":1}', "link_seq is 1 where packet 0 of link 0 was sent"),
        ('{"kind":"sent","node":0,"link":1,"link_seq":0}', "link 1, which is no egress link"),
        ('{"kind":"arrived","node":0,"link":0,"link_seq":0}', "link 0, which is no ingress link"),
        ("junk", "line 2 is not a JSON object"),
    ],
)
def test_a_log_that_lies_is_taken_up_to_there(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "0.log"
    path.write_text(
        f'{{"kind":"delivered","node":0,"time_ns":4,"mood":"good"}}\n{text}\n{{"kind":"delivered","node":0}}\n'
    )
    log = NodeLog(path, 0, "totalorder", star(1))
    log.read_more()

    assert len(log.rows) == log.delivered == 1
    assert log.flaw is not None
    assert sentence in log.flaw


def test_a_log_is_read_as_it_grows_and_half_a_line_waits(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    log = NodeLog(path, 0, "totalorder", star(1))
    counts = []
    for text in ('{"kind":"delivered",', '"node":0}\n{"kind"', ':"delivered","node":0}\n'):
        log.read_more()
        with path.open("a") as file:
            file.write(text)
        log.read_more()
        counts.append(len(log.rows))

    assert counts == [0, 1, 2]


def test_a_stdio_node_that_the_schedule_crashes_is_killed_and_a_new_process_takes_its_place(tmp_path: Path) -> None:
    """Whatever the protocol makes of it: both ways of reaching the core leave the same trace."""
    failures = (Failure(4000, FailureKind.CRASH, node=2), Failure(9000, FailureKind.RESTART, node=2))
    schedule = small(star(2), failures=failures)
    inside = SimulatedIut("it", make_core).run(schedule)
    outside = StdioIut("it", driver("stdio"), tmp_path).run(schedule)

    assert trace_ndjson.encode(outside) == trace_ndjson.encode(inside)
    assert outside.column("kind").count(Kind.RESTARTED) == 1
    assert (tmp_path / "2-s0.1.stdout").stat().st_size > 0
