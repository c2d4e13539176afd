"""What the shared fuzzer, the kill matrix and `ci/cut` must know of a protocol: a folder here with a `plugin.py`."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from hypothesis.stateful import RuleBasedStateMachine
from hypothesis.strategies import SearchStrategy

from conformance.network.run import MakeNode
from fuzz.strategies import schedules
from models.claim import ClaimResult
from spec.core import Parameter
from spec.errors import BadInput
from spec.schedule import FaultKind, Schedule
from spec.trace import schema


@dataclass(frozen=True, slots=True, kw_only=True)
class HandMutant:
    """A mutant written by hand: other rules, or nodes that do something else with the right ones.

    name: `<what>/<change>`, as of a generated one. rules: the functions that replace rules of the same names, for the
    layers that know rules alone; empty where the change is in a node.
    """

    name: str
    sentence: str
    make_node: MakeNode
    rules: Mapping[str, Callable[..., Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalence:
    """Why a mutant of `rule` may differ from it as a function and yet never show: `prove(rule, mutant)` asks Z3."""

    rule: str
    claim: str
    sentence: str
    prove: Callable[[Callable[..., Any], Callable[..., Any]], ClaimResult]


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzPlugin:
    """rules: the module of rule functions. node_with: a factory of nodes with these functions in place of the rules of
    the same names. machines: the state machines for such a factory. on_model: by mutant name, the operator of the TLA+
    module `Mutants` that says the same, as (constant, operator)."""

    name: str
    parameters: Callable[[], SearchStrategy[dict[str, Parameter]]]
    fault_kinds: tuple[FaultKind, ...]
    rules: ModuleType
    node_with: Callable[[Mapping[str, Callable[..., Any]]], MakeNode]
    mutants: tuple[HandMutant, ...]
    equivalences: tuple[Equivalence, ...]
    machines: Callable[[MakeNode], tuple[type[RuleBasedStateMachine], ...]]
    on_model: Mapping[str, tuple[str, str]]

    def schedules(self) -> SearchStrategy[Schedule]:
        return schedules(self.name, parameters=self.parameters(), fault_kinds=self.fault_kinds)


@cache
def load(protocol: str) -> FuzzPlugin:
    """The plugin of `protocol`; BadInput for an unknown one."""
    schema(protocol)  # its error names the protocols there are
    if importlib.util.find_spec(f"fuzz.{protocol}") is None:
        raise BadInput(f"protocol {protocol!r} has no fuzzing yet")
    plugin: FuzzPlugin = importlib.import_module(f"fuzz.{protocol}.plugin").PLUGIN
    return plugin
