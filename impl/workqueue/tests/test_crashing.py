"""Senders and receivers are killed for real, in the middle of their work (Q-DURABLE, Q-ONCE, Q-CRASH-SEND,
Q-CRASH-BOOT); and what judges that is seen red."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from scatterproof.impl.workqueue.stores.tests.cluster import Cluster
from scatterproof.impl.workqueue.tests.crashing import Handed, campaign, wrongs


def test_killed_again_and_again_on_sqlite_nothing_is_lost_and_order_is_kept(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    assert campaign(f"sqlite:{tmp_path / 'queue.db'}", logs, kills=25) == []


def test_killed_again_and_again_on_postgresql_nothing_is_lost_and_order_is_kept(
    tmp_path: Path, postgres_server: Cluster
) -> None:
    assert campaign(postgres_server.queue(), tmp_path, kills=25) == []


@pytest.mark.slow
def test_killed_a_thousand_times_on_sqlite(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    assert campaign(f"sqlite:{tmp_path / 'queue.db'}", logs, kills=1_000, seed=2) == []


@pytest.mark.slow
def test_killed_a_thousand_times_on_postgresql(tmp_path: Path, postgres_server: Cluster) -> None:
    assert campaign(postgres_server.queue(), tmp_path, kills=1_000, seed=2) == []


def handed(*places: tuple[str, int, int, int]) -> list[Handed]:
    """Of groups of two messages: correlation, group, message and token."""
    return [Handed(at, name, group, message, 2, token) for at, (name, group, message, token) in enumerate(places)]


WHOLE = handed(
    ("a", 1, 1, 2), ("a", 1, 2, 2), ("b", 2, 1, 2), ("a", 3, 1, 2), ("b", 2, 1, 3), ("b", 2, 2, 3), ("a", 3, 2, 2)
)
ENDED = {1: 2, 2: 2, 3: 2}


def test_a_message_may_come_again_from_the_next_holder() -> None:
    assert list(wrongs(WHOLE, ENDED, ENDED)) == []
    assert list(wrongs(WHOLE, ENDED, {1: 2})) == []


@pytest.mark.parametrize(
    ("damaged", "ending", "said"),
    [
        ([], ENDED, "nothing happened"),
        (WHOLE, {1: 2, 3: 2}, "Q-LOCK-SEND"),
        ([WHOLE[3], *WHOLE[:3], *WHOLE[4:]], ENDED, "Q-ORDER-CORR"),
        ([WHOLE[1], WHOLE[0], *WHOLE[2:]], ENDED, "Q-ORDER-MSG"),
        ([*WHOLE[:5], replace(WHOLE[5], token=2), WHOLE[6]], ENDED, "Q-ONCE"),
        ([*WHOLE[:4], replace(WHOLE[4], token=2), *WHOLE[5:]], ENDED, "Q-ONCE"),
        (WHOLE[:-1], ENDED, "Q-DURABLE"),
        ([*WHOLE, replace(WHOLE[6], message=3)], ENDED, "Q-ATOMIC"),
    ],
)
def test_what_must_not_be_is_told(damaged: list[Handed], ending: dict[int, int], said: str) -> None:
    assert any(wrong.startswith(said) for wrong in wrongs(damaged, ending, ENDED))
