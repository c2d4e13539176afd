"""ci/bench: a run of the queue ends when all is processed, and selection is measured with the groups that wait."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ci import bench_procrastinate
from ci.bench_queue import IN_GROUP, Sending, _by_procrastinate, _send, _send_each, plain_seconds, seconds, selection_us
from scatterproof.impl.workqueue.stores.opening import factory
from scatterproof.impl.workqueue.stores.tests.cluster import cluster, why_not


@pytest.mark.parametrize("send", [_send, _send_each])
def test_a_run_is_over_when_all_is_processed(tmp_path: Path, send: Sending) -> None:
    address = f"sqlite:{tmp_path / 'queue.db'}"
    assert seconds(address, workers=2, correlations=3, messages=6 * IN_GROUP, send=send) > 0
    access = factory(address)()
    assert access.contents().messages == 0
    access.close()


@pytest.mark.parametrize("keeps", [False, True])
def test_the_plain_queue_hands_out_all(tmp_path: Path, keeps: bool) -> None:
    assert plain_seconds(f"sqlite:{tmp_path / 'queue.db'}", workers=2, messages=20, keeps=keeps) > 0


def test_procrastinate_is_measured_where_it_is_installed() -> None:
    reason = bench_procrastinate.why_not()
    if reason is not None:
        assert _by_procrastinate("", 1, 1, 1) == f"procrastinate: not run: {reason}"
    elif why_not() is None:
        with cluster(fsync="off") as server:
            assert re.fullmatch(r"[\d,]+ by procrastinate", _by_procrastinate(server.queue(), 2, 3, 20))


def test_selection_is_measured_with_so_many_groups_waiting(tmp_path: Path) -> None:
    address = f"sqlite:{tmp_path / 'queue.db'}"
    assert selection_us(address, groups=50, correlations=10) > 0
    access = factory(address)()
    found = access.contents()
    assert (found.ready, found.waiting) == (10, 40)
    access.close()
