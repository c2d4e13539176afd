"""The queue on SQLite and PostgreSQL under faults for real, judged by its own checks; and stores that have to be found
out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from scatterproof.commands.workqueue.tests.damaged import again, dated, halfway, unheard, unlocked, unsynced
from scatterproof.commands.workqueue.tests.faults import SCENARIOS, campaign, lost, play
from scatterproof.conformance.network.topologies import served
from scatterproof.impl.workqueue.stores.sql import SqlStore
from scatterproof.impl.workqueue.stores.tests.cluster import Cluster, cluster, why_not
from scatterproof.impl.workqueue.stores.tests.small_disk import why_no_disk
from scatterproof.spec.core import Outcome
from scatterproof.spec.trace import ABSENT, Header, Kind, Order, Trace, schema

NAMES = schema("workqueue")
NOT_HERE = {
    name: reason
    for name, scenario in SCENARIOS.items()
    if scenario.on_postgresql and (reason := why_not() or (why_no_disk() if scenario.disk_mb else None))
}
HERE = set(SCENARIOS) - set(NOT_HERE)
for name, reason in NOT_HERE.items():
    warnings.warn(pytest.PytestWarning(f"not run: faults of {name}: {reason}"), stacklevel=1)


@pytest.fixture(scope="module")
def server() -> Iterator[Cluster | None]:
    if why_not() is not None:
        yield None
        return
    # What was committed and not synced is not saved by who writes the log now and then.
    with cluster(wal_writer_delay="10s") as started:
        yield started


@contextmanager
def server_of(name: str, server: Cluster | None) -> Iterator[Cluster | None]:
    """The server of all tests, or one on a disk of its own."""
    with ExitStack() as opened:
        if SCENARIOS[name].disk_mb:
            yield opened.enter_context(cluster(SCENARIOS[name].disk_mb))
        else:
            yield server if SCENARIOS[name].on_postgresql else None


def test_q_durable_senders_and_workers_are_killed_and_nothing_is_lost(tmp_path: Path) -> None:
    found = play("sqlite-killed", tmp_path, faults=3, seed=1)
    assert list(found.wrongs()) == []
    at_stake = {result.clause for result in found.results if result.held}
    assert at_stake >= {"Q-LOCK-SEND", "Q-ORDER-CORR", "Q-ONCE", "Q-ATOMIC", "Q-ORDER-MSG", "Q-RETRY", "Q-CALL-ONCE"}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(HERE))
def test_faults_for_real_leave_every_clause_whole(name: str, tmp_path: Path, server: Cluster | None) -> None:
    with server_of(name, server) as chosen:
        found = play(name, tmp_path, faults=10, seed=1, server=chosen)
        if SCENARIOS[name].disk_mb:
            assert chosen is not None
            assert "No space left on device" in chosen.log.read_text()
    assert list(found.wrongs()) == []
    assert any(result.clause == "Q-ONCE" and result.held for result in found.results)
    if name in ("sqlite-full", "postgresql-cut", "postgresql-full", "postgresql-server"):
        # It happened: there are calls of which a client that lives does not know what became.
        assert Outcome.UNKNOWN in found.trace.column("outcome")


@pytest.mark.slow
def test_a_hundred_faults_of_clients_on_sqlite() -> None:
    assert [wrong for found in campaign("sqlite-killed", 100, seed=2) for wrong in found.wrongs()] == []


DAMAGED: list[tuple[str, Callable[[SqlStore, int], None], tuple[str, ...]]] = [
    ("sqlite-one-id", unlocked, ("Q-ONCE", "Q-ORDER-CORR")),
    ("sqlite-killed", halfway, ("Q-DURABLE", "Q-NEXT", "Q-PRIORITY")),
    ("sqlite-clock", dated, ("Q-ORDER-CORR",)),
    ("sqlite-full", unheard, ("Q-ATOMIC", "Q-META", "Q-DURABLE", "Q-ORDER-CORR")),
    ("postgresql-cut", again, ("Q-CALL-ONCE", "Q-META", "Q-ORDER-MSG", "Q-ONCE", "Q-ATOMIC")),
    ("postgresql-server", unsynced, ("Q-RETRY", "Q-ONCE", "Q-DURABLE", "Q-CALL-ONCE")),
]


# Two of three rounds show a damage on two idle cores, fewer on busy ones, where clients seldom meet. The first that
# does ends the test.
ROUNDS = 50


@pytest.mark.slow
@pytest.mark.parametrize(("name", "damage", "clauses"), [each for each in DAMAGED if each[0] in HERE])
def test_a_damaged_store_is_found_out(
    name: str,
    damage: Callable[[SqlStore, int], None],
    clauses: tuple[str, ...],
    tmp_path: Path,
    server: Cluster | None,
) -> None:
    for seed in range(ROUNDS):
        with server_of(name, server) as chosen:
            found = play(name, tmp_path / str(seed), 10, seed, chosen, damage)
        if any(wrong.startswith(clauses) for wrong in found.wrongs()):
            return
    raise AssertionError(f"in {ROUNDS} rounds nothing was said of it")


def returned(call: str, message: int = ABSENT) -> tuple[int, ...]:
    told = {"kind": int(Kind.RETURNED), "call": NAMES.calls[call], "outcome": 1, "group": 7, "message": message}
    return tuple(told.get(name, ABSENT) for name in NAMES.columns)


def test_a_message_that_nobody_was_handed_is_lost_once_its_group_was_closed() -> None:
    rows = [returned("send_message", 1), returned("send_message", 2), returned("read_message", 1)]
    header = Header(protocol="workqueue", topology=served(1), parameters={}, complete={}, order=Order.LINK)
    assert list(lost(Trace(header, rows))) == []
    (said,) = lost(Trace(header, [*rows, returned("close_group")]))
    assert said == "Q-DURABLE: messages [2] of group 7 were never handed out"
