"""Clauses that output files do not show, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping

from scatterproof.conformance.broadcast.parameters import not_applicable
from scatterproof.spec import clauses
from scatterproof.spec.broadcast.messages import Level

_PACKETS = "only packets show it, and those that the relay carries are in the program's own format"
_ABOVE = "above level pl nobody outside sees what a link hands on"
_WHO_HAS = "output files do not show who has a message; packets would, and they are in the program's own format"
_WAITS = "what waits for ever is told as BC-URB-VALID's or BC-URB-AGREE's; output files do not show for what it waits"
_LATE = "output files have neither times nor packets: they do not show that a message waited, nor for what"

_LINKS = {"BC-PL-PSEQ": _PACKETS, "BC-PL-RESEND": _PACKETS, "BC-PL-MEMORY": _PACKETS}
_URB = {
    **dict.fromkeys(("BC-PL-RELIABLE", "BC-PL-ONCE", "BC-PL-REAL"), _ABOVE),
    **_LINKS,
    "BC-URB-SELF": _WAITS,
    "BC-URB-MAJ": _WHO_HAS,
    "BC-URB-GC": _WHO_HAS,
}
UNSEEN: Mapping[Level, Mapping[str, str]] = {
    Level.PL: _LINKS,
    Level.URB: _URB,
    Level.FIFO: _URB,
    Level.LCB: {
        **_URB,
        "BC-FIFO-ORDER": "the same lines break BC-LCB-FIFO",
        "BC-LCB-LOCAL": _LATE,
        "BC-LCB-CLOCKS": _PACKETS,
        "BC-LCB-CHECK": _WAITS,
    },
}


def seen_at(level: Level) -> tuple[str, ...]:
    """The clauses of the level that output files show, in the order of the catalogue."""
    ids = (clause.id for clause in clauses.load("broadcast").clauses)
    return tuple(one for one in ids if not_applicable(one, {"level": level.value}) is None and one not in UNSEEN[level])
