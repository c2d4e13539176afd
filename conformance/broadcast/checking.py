"""What nearly all checks of the broadcast stack are declared with."""

from __future__ import annotations

from collections.abc import Callable

from scatterproof.conformance.broadcast.knowledge import knowledge
from scatterproof.conformance.checks.step import Check, Derived, Outcome, StateKind, check
from scatterproof.spec.topology import Role
from scatterproof.spec.trace import Kind, Order


def check_of_hosts(
    clause: str,
    *,
    kinds: tuple[Kind, ...],
    ways: tuple[str, ...],
    order: Order = Order.NODE,
    derived: tuple[Derived, ...] = (knowledge,),
    **state: StateKind,
) -> Callable[[Callable[..., Outcome]], Check]:
    """As `check`: all nodes are hosts. Most steps read `knowledge`, and need no more than the order of each node."""
    return check(
        clause,
        kinds=kinds,
        at=Role.HOST,
        order=order,
        ways=ways,
        derived=derived,
        despite_gaps=False,
        doubt=False,
        **state,
    )
