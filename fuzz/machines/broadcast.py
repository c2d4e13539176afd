"""The broadcast stack, one small step at a time."""

from __future__ import annotations

from hypothesis.stateful import RuleBasedStateMachine

from conformance.network.run import MakeNode


def machines(make_node: MakeNode) -> tuple[type[RuleBasedStateMachine], ...]:
    return ()
