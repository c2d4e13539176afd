"""What nearly all checks of the broadcast stack are declared with."""

from __future__ import annotations

from functools import partial

from scatterproof.conformance.broadcast.knowledge import knowledge
from scatterproof.conformance.broadcast.rows import well_formed
from scatterproof.conformance.checks.step import check
from scatterproof.spec.topology import Role
from scatterproof.spec.trace import Order

# All nodes are hosts. Most steps read `knowledge`, and need no more than the order of each node.
check_of_hosts = partial(check, at=Role.HOST, order=Order.NODE, derived=(well_formed, knowledge))
