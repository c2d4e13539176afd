"""Kinds of rows as plain integers, for steps of checks: numba compiles them as constants."""

from __future__ import annotations

from scatterproof.spec.trace import Kind

SUBMITTED, BEGUN, SENT = int(Kind.SUBMITTED), int(Kind.BEGUN), int(Kind.SENT)
ARRIVED, DELIVERED, REFUSED = int(Kind.ARRIVED), int(Kind.DELIVERED), int(Kind.REFUSED)
LOST, ENDED = int(Kind.LOST), int(Kind.ENDED)
CRASHED, RESTARTED = int(Kind.CRASHED), int(Kind.RESTARTED)
PAUSED, RESUMED = int(Kind.PAUSED), int(Kind.RESUMED)
CALLED, RETURNED = int(Kind.CALLED), int(Kind.RETURNED)
