"""Localized causal broadcast, event by event. Process 0 depends on 1, process 1 on none, process 2 on 0."""

from __future__ import annotations

import pytest

from scatterproof.impl.broadcast import RULES, Rules, Stack
from scatterproof.impl.broadcast.literal_rules import LITERAL
from scatterproof.impl.broadcast.rules import ready
from scatterproof.impl.broadcast.tests.nodes import arrive, data, delivered, hand, process, refusals, sent
from scatterproof.spec.topology import NodeId

DEPENDENCIES = "1;;0"


def causal(node: NodeId, rules: Rules = RULES, dependencies: str = DEPENDENCIES) -> Stack:
    return process(node, 3, rules, level="lcb", dependencies=dependencies)


def clock_of_next(core: Stack, now: int = 0) -> tuple[int, ...]:
    return sent(hand(core, b"next", now=now))[0].clock


def test_bc_lcb_clocks_a_message_carries_what_was_delivered_of_dependencies_and_begun_before() -> None:
    core = causal(0)
    assert clock_of_next(core) == (0, 0, 0)
    assert clock_of_next(core) == (1, 0, 0)
    arrive(core, data(1, 0, 1, 1, 1, count=2, clock=(0, 0, 0)))
    arrive(core, data(1, 0, 2, 1, 2, clock=(0, 0, 0)))

    assert clock_of_next(core) == (2, 2, 0)


def test_bc_lcb_clocks_oneself_among_the_dependencies_counts_once() -> None:
    core = causal(0, dependencies="0,1;;0")
    hand(core, b"x")
    arrive(core, data(1, 0, 0, 1, 1, payload=b"x", clock=(0, 0, 0)))

    assert clock_of_next(core) == (1, 0, 0)


def test_bc_lcb_clocks_lit_after_a_message_waits_for_itself() -> None:
    core = causal(0, LITERAL["BC-LCB-CLOCKS lit-after"])
    (packet, _) = sent(hand(core, b"x"))
    assert packet.clock == (1, 0, 0)

    assert delivered(arrive(core, data(1, 0, 0, 1, 1, payload=b"x", clock=(1, 0, 0)))) == []


def test_bc_lcb_causal_a_message_waits_for_its_dependencies() -> None:
    core = causal(2)
    assert delivered(arrive(core, data(0, 2, 0, 1, 1, clock=(0, 1, 0)))) == []
    assert delivered(arrive(core, data(1, 2, 1, 1, 1, clock=(0, 0, 0)))) == [(1, 1), (0, 1)]


def test_bc_lcb_local_others_delay_nothing() -> None:
    core = causal(0)
    arrive(core, data(1, 0, 2, 1, 1, clock=(0, 0, 0)))
    assert clock_of_next(core) == (0, 0, 0)

    literal = causal(0, LITERAL["BC-LCB-LOCAL lit-1"])
    arrive(literal, data(1, 0, 2, 1, 1, clock=(0, 0, 0)))
    assert clock_of_next(literal) == (0, 0, 1)


def test_bc_lcb_fifo_without_dependencies_the_order_of_each_creator_stays() -> None:
    core = causal(2)
    assert delivered(arrive(core, data(0, 2, 1, 2, 1, clock=(0, 1, 0)))) == []
    assert delivered(arrive(core, data(0, 2, 1, 1, 2, clock=(0, 0, 0)))) == [(1, 1), (1, 2)]


def test_bc_lcb_check_what_waits_is_looked_at_again_whoever_created_it() -> None:
    for rules, found in ((RULES, [(1, 1), (0, 1)]), (LITERAL["BC-LCB-CHECK lit-1"], [(1, 1)])):
        core = causal(2, rules)
        arrive(core, data(0, 2, 0, 1, 1, clock=(0, 1, 0)))
        assert delivered(arrive(core, data(1, 2, 1, 1, 1, clock=(0, 0, 0)))) == found


def test_bc_lcb_check_nothing_is_forgotten_while_several_wait() -> None:
    # Of 2, messages 1 and 2 wait for 1; of 0, message 2 waits for 2. When 0's first comes, all looks are due at once.
    core = causal(1, dependencies="1,2;;0,1")
    arrive(core, data(0, 1, 0, 3, 1, clock=(2, 0, 0)))
    arrive(core, data(0, 1, 0, 2, 2, clock=(1, 0, 1)))
    arrive(core, data(0, 1, 2, 1, 3, clock=(1, 0, 0)))
    arrive(core, data(0, 1, 2, 2, 4, clock=(3, 0, 1)))

    assert delivered(arrive(core, data(0, 1, 0, 1, 5, clock=(0, 0, 0)))) == [(0, 1), (2, 1), (0, 2), (0, 3), (2, 2)]


def test_a_run_that_is_cut_carries_the_clocks_of_its_parts() -> None:
    core = process(0, 5, level="lcb", dependencies="1;;;;")
    hand(core, b"", b"", b"")
    # Process 1 forwards the first two only; each part is delivered in its turn.
    assert delivered(arrive(core, data(1, 0, 0, 1, 1, count=2, clock=(0,) * 5))) == []
    assert delivered(arrive(core, data(2, 0, 0, 1, 1, count=3, clock=(0,) * 5))) == [(0, 1), (0, 2)]
    assert delivered(arrive(core, data(3, 0, 0, 3, 1, clock=(2, 0, 0, 0, 0)))) == [(0, 3)]


def test_a_clock_of_another_length_is_refused() -> None:
    (reason,) = refusals(arrive(causal(2), data(0, 2, 0, 1, 1, clock=(0, 1))))

    assert "2 entries" in reason


def test_clocks_are_compared_entry_by_entry() -> None:
    assert ready((1, 0, 2), (1, 0, 2))
    assert ready((0, 0, 0), (1, 5, 2))
    assert not ready((0, 1, 0), (9, 0, 9))


@pytest.mark.parametrize("dependencies", ["", ";;", " 1 ; ; 0 "])
def test_dependencies_may_be_none_and_spaces_are_nothing(dependencies: str) -> None:
    assert causal(2, dependencies=dependencies)
