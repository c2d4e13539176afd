"""What befell a run with real sockets: what was lost where nodes crashed, and what keeps a run from counting."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from scatterproof.conformance.adapters.befalling import Befalling
from scatterproof.conformance.adapters.logs import NodeLog
from scatterproof.conformance.network.delays import delays_of
from scatterproof.conformance.network.topologies import star
from scatterproof.conformance.relay.links import LinkRelay
from scatterproof.conformance.tests.test_links import carry, receiver, send
from scatterproof.spec.schedule import Delay, Failure, FailureKind, Fault, FaultKind, Schedule
from scatterproof.spec.trace import Kind, Row, schema

NAMES = schema("totalorder").columns
# A star's link 0 leads from host 0 to the switch, link 1 back.
SCHEDULE = Schedule("totalorder", star(2), (Delay(0),) * 4, ())
SWITCH = 2


@pytest.fixture
def relay() -> Iterator[LinkRelay]:
    with LinkRelay([0, 1], delays_of(SCHEDULE), (Fault(0, 7, FaultKind.LOSE),)) as opened:
        opened.begin()
        yield opened


def log(folder: Path, node: int, life: int, kind: str, link: int, count: int) -> NodeLog:
    """A log of this many packets of one link."""
    path = folder / f"{node}.{life}"
    rows = [{"kind": kind, "time_ns": 1, "node": node, "link": link, "link_seq": seq} for seq in range(count)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = NodeLog(path, node, "totalorder", SCHEDULE.topology)
    found.read_more()
    assert found.flaw is None
    return found


def told(rows: list[Row], kind: Kind) -> list[tuple[int, int, int]]:
    """Node, link and number of the rows of this kind."""
    columns = [NAMES.index(name) for name in ("node", "link", "link_seq")]
    found = [tuple(row[at] for at in columns) for row in rows if row[NAMES.index("kind")] == kind]
    return sorted((node, link, number) for node, link, number in found)


def test_what_a_crashed_node_had_logged_and_not_sent_is_lost_and_its_next_life_counts_on(
    tmp_path: Path, relay: LinkRelay
) -> None:
    lives = [[log(tmp_path, 0, 0, "sent", 0, 3), log(tmp_path, 0, 1, "sent", 0, 2)], [], []]
    lives[SWITCH] = [log(tmp_path, SWITCH, 0, "arrived", 0, 2)]
    befalling = Befalling(SCHEDULE, relay, lives)
    with receiver() as switch:
        relay.lead(0, switch.getsockname()[1])
        send(relay, 0, b"0")
        carry(relay, 0, 1)
        send(relay, 0, b"1")  # on its way when the node crashes; the third stays behind
        befalling.crash(0)
        carry(relay, 0, 2)
        befalling.restart(0)
        relay.cut(0)
        send(relay, 0, b"0 again")
        relay.drain(0)
        relay.mend(0)
        send(relay, 0, b"1 again")
        carry(relay, 0, 4)
    rows = befalling.rows()
    assert told(rows, Kind.LOST) == [(0, 0, 2), (0, 0, 3)]
    assert told(rows, Kind.CRASHED) == told(rows, Kind.RESTARTED) == [(0, -1, -1)]


def test_what_a_crashed_node_had_not_read_is_lost_and_what_its_next_life_reads_is_not(
    tmp_path: Path, relay: LinkRelay
) -> None:
    lives = [[log(tmp_path, 0, 0, "sent", 0, 4)], [], []]
    lives[SWITCH] = [log(tmp_path, SWITCH, 0, "arrived", 0, 1), log(tmp_path, SWITCH, 1, "arrived", 0, 1)]
    befalling = Befalling(SCHEDULE, relay, lives)
    with receiver() as switch:
        relay.lead(0, switch.getsockname()[1])
        send(relay, 0, b"read", b"not read")
        carry(relay, 0, 2)
        befalling.crash(SWITCH)
        send(relay, 0, b"nobody is there")
        carry(relay, 0, 3)
        befalling.restart(SWITCH)
        relay.lead(0, switch.getsockname()[1])
        send(relay, 0, b"read again")
        carry(relay, 0, 4)
    assert told(befalling.rows(), Kind.LOST) == [(0, 0, 1), (0, 0, 2)]


def test_a_link_is_cut_and_mended_at_its_source(relay: LinkRelay) -> None:
    befalling = Befalling(SCHEDULE, relay, [[], [], []])
    befalling.strike(Failure(5, FailureKind.CUT, link=1))
    befalling.strike(Failure(9, FailureKind.MEND, link=1))
    assert told(befalling.rows(), Kind.CRASHED) == told(befalling.rows(), Kind.RESTARTED) == [(SWITCH, 1, -1)]
    assert not relay.links[1].cut


def test_a_fault_that_befell_nobody_is_told(relay: LinkRelay) -> None:
    befalling = Befalling(SCHEDULE, relay, [[], [], []])
    assert befalling.missing([]) == ["packet 7 of link 0 was never sent, so that the schedule could not lose it"]
    assert befalling.notes() == []
