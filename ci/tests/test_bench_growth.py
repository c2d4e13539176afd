"""ci/bench: a cost that grows with the held messages is told from one that grows with their logarithm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import log2

import pytest

from ci.bench import lossy_schedule, run_once
from ci.bench_growth import SIZES, GrowthRow, comparisons, growth, rows
from ci.bench_hosts import RELIABLE, UNDER_LOSS, HostWork, Recalling, Receiving, Sending
from scatterproof.impl.totalorder import RULES
from scatterproof.spec.schedule import FaultKind
from scatterproof.spec.trace import Kind


def row(costs: tuple[float, ...]) -> GrowthRow:
    return GrowthRow(what="deliver", sizes=SIZES, costs=costs)


@pytest.mark.parametrize("base", [0.0, 1e-6, 1e-4])
def test_logarithmic_costs_are_no_scan(base: float) -> None:
    found = row(tuple(base + 1e-7 * log2(size) for size in SIZES))
    assert "below the square root" in found.statement()
    assert "R2 1.00" in found.statement()


@pytest.mark.parametrize(("part", "below_root"), [(1e-13, True), (1e-11, False), (1e-9, False)])
def test_a_linear_part_shows_where_it_is_most_of_the_cost(part: float, below_root: bool) -> None:
    found = row(tuple(1e-6 + part * size for size in SIZES))
    assert found.below_root == below_root
    assert ("A SCAN" in found.statement()) != below_root


def test_costs_that_do_not_grow_are_no_scan() -> None:
    found = row((1e-6,) * len(SIZES)).statement()
    assert "times 1.00 a doubling: below the square root" in found


@pytest.mark.slow
def test_every_kind_of_work_is_measured() -> None:
    found = [measured.what for measured in growth((100, 200), (100, 200), turns=1, cores=1)]
    assert len(found) == len(set(found)) == 4 + 4 + 5 + 4 + 4 + 3


class Scanning(Receiving):
    """For each message that arrives it looks at as many things as it holds."""

    def work(self) -> Sequence[HostWork]:
        return [HostWork(kind.what, partial(self._scan, kind)) for kind in super().work()]

    def _scan(self, kind: HostWork) -> float:
        handle = self._host.handle

        def scanning(events):  # type: ignore[no-untyped-def]
            seconds, sent, timestamps = handle(events)
            return seconds + 1e-7 * self._size * len(events), sent, timestamps

        self._host.handle = scanning  # type: ignore[method-assign]
        return kind.seconds()


def test_a_receiver_that_scans_its_buffer_is_found_out() -> None:
    found = list(rows("scans", partial(Scanning, UNDER_LOSS, RULES), (100, 1_000, 10_000), 1, 1))
    # The last one is a scan or two for all messages together.
    assert [measured.below_root for measured in found] == [False, False, False, True]


def test_a_receiver_compares_as_often_as_the_logarithm_says() -> None:
    sizes = (100, 1_000, 10_000)
    counts = comparisons(sizes)
    # A heap compares at most twice a level when it takes one out, and once when it takes one in.
    assert all(1 < count <= 3 * log2(size) for count, size in zip(counts, sizes, strict=True))
    per_doubling = [(counts[k + 1] - counts[k]) / log2(10) for k in (0, 1)]
    assert per_doubling == pytest.approx([1, 1], abs=0.3)


def test_a_core_that_delivers_in_a_wrong_order_is_not_measured() -> None:
    wrong = replace(RULES, precedence=lambda timestamp, sender: (-timestamp, sender))
    fill, *_, deliver_all = Receiving(UNDER_LOSS, wrong, 100).work()
    fill.seconds()
    with pytest.raises(SystemExit, match="wrong order"):
        deliver_all.seconds()


def test_a_core_that_keeps_back_messages_is_not_measured() -> None:
    never = replace(RULES, deliverable_under_loss=lambda timestamp, barrier, ack, record: False)
    fill, *_, deliver_all = Receiving(UNDER_LOSS, never, 100).work()
    fill.seconds()
    with pytest.raises(SystemExit, match="delivered nothing"):
        deliver_all.seconds()


def test_recalled_messages_are_left_out_and_all_others_delivered() -> None:
    receiver = Receiving(RELIABLE, RULES, 1_000)
    fill, _, _, recall, deliver_all = receiver.work()
    fill.seconds()
    recall.seconds()
    assert receiver._held == 800
    deliver_all.seconds()  # ends the process where more, or fewer, are delivered
    assert receiver._held == 0


def test_a_sender_recalls_what_is_outstanding_of_all_but_the_failed_one() -> None:
    sender = Recalling(RELIABLE, RULES, 800)
    fill, fail, _ = sender.work()
    fill.seconds()
    fail.seconds()
    assert len(sender._recalled) == 700


def test_a_sender_gets_all_acknowledgements_in_the_end() -> None:
    sender = Sending(UNDER_LOSS, RULES, 800)
    for work in sender.work():
        work.seconds()
    assert sender._acknowledged[-1] == sender._sent - 1  # but that of the last scattering, which closes the row


def test_lost_packets_are_packets_that_the_run_has() -> None:
    schedule = lossy_schedule(4, 100, "D9", 1e-2)
    assert schedule.faults
    assert {fault.kind for fault in schedule.faults} == {FaultKind.LOSE}
    kinds = [row[3] for row in run_once(schedule)[0]]
    assert kinds.count(Kind.LOST) > len(schedule.faults) / 2
