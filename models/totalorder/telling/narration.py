"""Tells a counterexample of any module of totalorder in sentences, each module's by its own words.

A variable that one module alone has tells which module it is; a trace without any of these is one of BarrierOrder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scatterproof.models.tlc import State, TlcRun
from scatterproof.models.totalorder.telling.loss_steps import loss_sentences
from scatterproof.models.totalorder.telling.round_steps import round_sentences
from scatterproof.models.totalorder.telling.variant_steps import variant_sentences

LEGEND = "s@t is the message of host s with timestamp t."

_NARRATORS: dict[str, Callable[[Sequence[State]], list[str]]] = {
    "held": loss_sentences,
    "third": round_sentences,
    "recalled": lambda trace: [f"{state.action}." for state in trace[1:]],
}


def narrate(run: TlcRun) -> list[str]:
    """One sentence a step; for liveness, with what it does for ever after."""
    variables = run.trace[0].variables
    tell = next((tell for name, tell in _NARRATORS.items() if name in variables), variant_sentences)
    return [*tell(run.trace), *run.for_ever]
