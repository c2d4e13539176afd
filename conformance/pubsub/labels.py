"""Labels of the rows of publish and subscribe in diagrams."""

from __future__ import annotations

from collections.abc import Mapping

from scatterproof.conformance.pubsub.recording import NAMES
from scatterproof.spec.trace import ABSENT

_CALLS = {code: name for name, code in NAMES.calls.items()}
_PACKETS = {code: name for name, code in NAMES.packets.items()}
_ENDS = {code: name for name, code in NAMES.outcomes.items()}
_SHOWN = ("topic", "filter", "level")


def label(row: Mapping[str, int]) -> str:
    """A call with its number and outcome, or a packet or delivery with its number and, of a message, its publisher."""
    about = " ".join(f"{name} {row[name]}" for name in _SHOWN if row[name] != ABSENT)
    if row["call"] != ABSENT:
        told = f"{_CALLS[row['call']]} {row['operation']}"
        ended = "" if row["outcome"] == ABSENT else f": {_ENDS[row['outcome']]}"
    else:
        what = _PACKETS.get(row["packet"], "message")
        which = f" {row['number']}" if row["number"] != ABSENT else ""
        of = f" of {row['sender']}" if which and row["sender"] != ABSENT else ""
        told, ended = f"{what}{which}{of}", " again" if row["again"] == 1 else ""
    return told + (f" ({about})" if about else "") + ended
