"""Total order, as the shared fuzzer sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from conformance.network.run import MakeNode
from fuzz.machines.totalorder import machines
from fuzz.protocol import FuzzPlugin
from fuzz.totalorder.equivalences import EQUIVALENCES
from fuzz.totalorder.mutants import MUTANTS
from fuzz.totalorder.on_model import ON_MODEL
from fuzz.totalorder.strategies import FAULT_KINDS, parameters
from impl.totalorder import RULES, make_core, rules


def node_with(functions: Mapping[str, Callable[..., Any]]) -> MakeNode:
    """A factory of reference cores with these functions as rules."""
    chosen = replace(RULES, **functions)
    return lambda config: make_core(config, chosen)


PLUGIN = FuzzPlugin(
    name="totalorder",
    parameters=parameters,
    fault_kinds=FAULT_KINDS,
    rules=rules,
    node_with=node_with,
    mutants=MUTANTS,
    equivalences=EQUIVALENCES,
    machines=machines,
    on_model=ON_MODEL,
)
