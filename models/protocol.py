"""What a protocol gives to `models`, beside the files of its folder under `spec`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

from scatterproof.spec import plugins

if TYPE_CHECKING:
    from scatterproof.models.claim import Claim
    from scatterproof.models.tlc import State, TlcRun
    from scatterproof.models.validation import Reader
    from scatterproof.spec.schedule import Schedule
    from scatterproof.spec.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Narration:
    """How counterexamples are told.

    narrate: a sentence for each step of a run of TLC.
    legend: what its words mean.
    """

    narrate: Callable[[TlcRun], list[str]]
    legend: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """Models whose actions are covered by schedules.

    models: their names in models.toml.
    schedule_of: turns a behaviour of one, and the text of its configuration, into a schedule that repeats it.
    """

    models: tuple[str, ...]
    schedule_of: Callable[[Sequence[State], str], Schedule]


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceModule:
    """The TLA+ module that reads traces.

    reader_of: the run in TLA+; CannotRun for a trace that it does not describe.
    actions: those that it reads rows as.
    left_out: clauses that it does not check, though `conformance` does, each with the reason.
    """

    reader_of: Callable[[Trace], Reader]
    actions: tuple[str, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsPlugin:
    """A protocol's Z3 claims, and how TLC's behaviours and traces are used. Each is loaded when it is needed, as Z3
    need not be installed.

    claims: all Z3 claims.
    narration: a sentence a step; without it a step is its action, and what that changes.
    covered: None where no schedules cover a model.
    traces: None where TLC cannot read the protocol's traces.
    """

    claims: Callable[[], tuple[Claim, ...]] = lambda: ()
    narration: Callable[[], Narration] | None = None
    covered: Callable[[], Covered] | None = None
    traces: Callable[[], TraceModule] | None = None


def claims_beside(plugin: str) -> Callable[[], tuple[Claim, ...]]:
    """The CLAIMS of all modules in the folder of this module, a protocol's plugin."""

    def claims() -> tuple[Claim, ...]:
        from scatterproof.models.z3_claims import claims_in

        return claims_in(import_module(plugin.rpartition(".")[0]))

    return claims


def load(protocol: str) -> ModelsPlugin:
    """BadInput for an unknown protocol, CannotRun for one that has neither claims nor traces in TLA+."""
    return plugins.load("models", ModelsPlugin, protocol, "has no Z3 claims yet; choose another")
