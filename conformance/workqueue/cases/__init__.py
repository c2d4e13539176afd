"""The conformance cases of the queue: at least one a clause, with what an implementation with that mistake gets
wrong."""

from __future__ import annotations

from scatterproof.conformance.workqueue.cases import crashes, lease_promises, leases, order

CASES = (*order.CASES, *crashes.CASES, *leases.CASES, *lease_promises.CASES)
