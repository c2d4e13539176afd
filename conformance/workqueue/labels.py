"""What a row of the queue is called in a diagram."""

from __future__ import annotations

from collections.abc import Mapping

from scatterproof.conformance.workqueue.recording import NAMES
from scatterproof.spec.trace import ABSENT

_CALLS = {code: name for name, code in NAMES.calls.items()}
_ENDS = {code: name for name, code in NAMES.outcomes.items()}
_SHOWN = ("group", "message", "token", "priority", "correlation", "server", "last")


def label(row: Mapping[str, int]) -> str:
    """The call with its number, what it is about, and how it ended."""
    about = " ".join(f"{name} {row[name]}" for name in _SHOWN if row[name] != ABSENT)
    told = f"{_CALLS.get(row['call'], '?')} {row['operation']}" + (f" ({about})" if about else "")
    return told if row["outcome"] == ABSENT else f"{told}: {_ENDS[row['outcome']]}"
