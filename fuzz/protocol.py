"""What a protocol gives to `fuzz`: what the fuzzer draws, and what mutants are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from types import ModuleType
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine
from hypothesis.strategies import SearchStrategy

from scatterproof.conformance.network.run import MakeNode
from scatterproof.conformance.network.simulator import MAX_EVENTS
from scatterproof.fuzz.mutations import Rule, rules_of_module
from scatterproof.fuzz.strategies import FAULTY, Failures, schedules
from scatterproof.models.claim import ClaimResult
from scatterproof.spec import plugins
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import FaultKind, Schedule
from scatterproof.spec.trace import Trace


@dataclass(frozen=True, slots=True)
class HandMutant:
    """A mutant written by hand: other rules, or nodes that do something else with the right ones.

    name: `<what>/<change>`, as of a generated one.
    rules: the functions that replace rules of the same names, for the layers that know rules alone; empty where the
        change is in a node.
    group: the rules that it belongs to.
    """

    name: str
    sentence: str
    make_node: MakeNode
    rules: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    group: int = 0


def changed_rules(rules: Any, usual: Any) -> dict[str, Callable[..., Any]]:
    """By name, the functions that a record of rules has in place of the usual ones."""
    names = [one.name for one in fields(usual)]
    return {name: getattr(rules, name) for name in names if getattr(rules, name) is not getattr(usual, name)}


def nodes_with(make_core: Callable[..., Any], usual: Any) -> Callable[[Mapping[str, Callable[..., Any]]], MakeNode]:
    """A factory of reference cores with functions in place of the usual rules of the same names."""

    def node_with(functions: Mapping[str, Callable[..., Any]]) -> MakeNode:
        chosen = replace(usual, **functions)
        return lambda config: make_core(config, chosen)

    return node_with


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalence:
    """Why a mutant of `rule` may differ from it as a function and yet never show: `prove(rule, mutant)` asks Z3."""

    rule: str
    claim: str
    sentence: str
    prove: Callable[[Callable[..., Any], Callable[..., Any]], ClaimResult]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleGroup:
    """Rules that one kind of run puts at stake.

    rules: their module; None for a form of node, which has hand-written mutants alone.
    parameters, fault_kinds: what such runs are set to.
    often_faulty, answered, tree, spread, failures, faulty: as of `scatterproof.fuzz.strategies.schedules`.
    draws: such runs, where that does not draw them.
    left_out: rules without mutants, by name, with the reason why they break no clause.
    """

    rules: ModuleType | None
    parameters: Callable[[], SearchStrategy[dict[str, Parameter]]] = st.nothing
    fault_kinds: tuple[FaultKind, ...] = ()
    often_faulty: bool = False
    answered: bool = False
    tree: bool = False
    spread: int = 1
    failures: Failures | None = None
    faulty: int = FAULTY
    draws: Callable[[], SearchStrategy[Schedule]] | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def functions(self) -> tuple[Rule, ...]:
        """The rules that have mutants."""
        found = rules_of_module(self.rules) if self.rules is not None else ()
        return tuple(rule for rule in found if rule.__name__ not in self.left_out)


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzPlugin:
    """groups: the rules, by the runs in which they are at stake.
    node_with: a factory of nodes with these functions in place of the rules of the same names.
    machines: state machines of such nodes, if any.
    on_model: by mutant name, the operator of the TLA+ modules that says the same, as (constant, operator).
    on_claims: for rules that the Z3 claims have in other terms, the functions that replace the claims' own for such a
        rule, or a mutant of it.
    shrinking: how many runs may be spent on shrinking a mutant's failing schedule; the default makes most 1-minimal.
    max_events: after how many events a run in the kill matrix is cut, which counts as a failure: many mutants of rules
        that resend flood their network without end.
    beyond: how a drawn schedule goes beyond what its parameters provide for, or None: only an implementation that
        claims everything gets such a schedule.
    breaks: for each clause the name of a mutant that breaks it in one of the cases that are about it.
    areas: where core mutants are made, module or module:function, and what each belongs to, as of
        `scatterproof.fuzz.core_mutants`.
    names: the columns whose numbers are names, as of `scatterproof.fuzz.damages.renamed`.
    history: a small run by its number, right or wrong, that judges are tried on; None where the labelled traces,
        damaged, are all.
    """

    name: str
    groups: tuple[RuleGroup, ...]
    node_with: Callable[[Mapping[str, Callable[..., Any]]], MakeNode]
    mutants: tuple[HandMutant, ...] = ()
    equivalences: tuple[Equivalence, ...] = ()
    on_model: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    machines: Callable[[MakeNode], tuple[type[RuleBasedStateMachine], ...]] = lambda make_node: ()
    on_claims: Mapping[str, Callable[[Rule], Mapping[str, Rule]]] = field(default_factory=dict)
    shrinking: int = 600
    max_events: int = MAX_EVENTS
    beyond: Callable[[Schedule], str | None] = lambda schedule: None
    breaks: Mapping[str, str] = field(default_factory=dict)
    areas: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    history: Callable[[int], Trace] | None = None

    def schedules(self, group: int | None = None) -> SearchStrategy[Schedule]:
        """Schedules that put the rules of this group at stake; of all groups in turn for None."""
        if group is None:
            return st.one_of([self.schedules(number) for number in range(len(self.groups))])
        chosen = self.groups[group]
        if chosen.draws is not None:
            return chosen.draws()
        return schedules(
            self.name,
            parameters=chosen.parameters(),
            fault_kinds=chosen.fault_kinds,
            often_faulty=chosen.often_faulty,
            answered=chosen.answered,
            tree=chosen.tree,
            spread=chosen.spread,
            failures=chosen.failures,
            faulty=chosen.faulty,
        )

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(chain.from_iterable(group.functions for group in self.groups))

    def as_claimed(self, functions: Mapping[str, Rule]) -> dict[str, Rule]:
        """Functions in place of rules, as the Z3 claims name them."""
        found = dict(functions)
        for name, function in functions.items():
            if name in self.on_claims:
                found |= self.on_claims[name](function)
        return found

    def group_of(self, rule: str) -> int:
        """The group in whose module the rule of that name is."""
        return next(number for number, group in enumerate(self.groups) if hasattr(group.rules, rule))


def load(protocol: str) -> FuzzPlugin:
    """The protocol's record. Raises BadInput for an unknown protocol, CannotRun for one without fuzzing."""
    return plugins.load("fuzz", FuzzPlugin, protocol, "has no fuzzing yet")
