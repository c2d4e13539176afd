"""Total order, as the shared fuzzer sees it."""

from __future__ import annotations

from scatterproof.conformance.network.incidents import failures, outages, stops
from scatterproof.fuzz.protocol import FuzzPlugin, RuleGroup, nodes_with
from scatterproof.fuzz.tables import tables_of
from scatterproof.fuzz.totalorder import loss_mutants, mutants, variant_mutants
from scatterproof.fuzz.totalorder.drawn import drawn_history
from scatterproof.fuzz.totalorder.equivalences import EQUIVALENCES
from scatterproof.fuzz.totalorder.machines import machines
from scatterproof.fuzz.totalorder.strategies import (
    FAULT_KINDS,
    LOSES,
    adjusting_parameters,
    beyond,
    failing_parameters,
    lossy_parameters,
    parameters,
    proxied,
    slow_parameters,
    split_parameters,
)
from scatterproof.impl.totalorder import RULES, adjustment_rules, loss_rules, make_core, rules
from scatterproof.spec.schedule import FaultKind

_TABLES = tables_of("totalorder")

PLUGIN = FuzzPlugin(
    name="totalorder",
    groups=(
        RuleGroup(rules=rules, parameters=parameters, fault_kinds=FAULT_KINDS),
        RuleGroup(rules=loss_rules, parameters=lossy_parameters, fault_kinds=LOSES, often_faulty=True, answered=True),
        RuleGroup(rules=adjustment_rules, parameters=adjusting_parameters, fault_kinds=FAULT_KINDS, answered=True),
        RuleGroup(rules=None, parameters=split_parameters, fault_kinds=LOSES, answered=True),
        RuleGroup(rules=None, parameters=slow_parameters, fault_kinds=FAULT_KINDS, answered=True, spread=20),
        RuleGroup(
            rules=None,
            parameters=failing_parameters,
            fault_kinds=LOSES,
            often_faulty=True,
            tree=True,
            spread=4,
            failures=failures,
            faulty=64,
        ),
        RuleGroup(
            rules=None,
            parameters=lossy_parameters,
            fault_kinds=LOSES,
            answered=True,
            spread=4,
            failures=outages,
            faulty=64,
        ),
        RuleGroup(rules=None, parameters=parameters, fault_kinds=(FaultKind.DELAY,), spread=2, failures=stops),
        RuleGroup(rules=None, draws=proxied),
    ),
    node_with=nodes_with(make_core, RULES),
    mutants=(*mutants.MUTANTS, *loss_mutants.MUTANTS, *variant_mutants.MUTANTS),
    equivalences=EQUIVALENCES,
    machines=machines,
    on_model=_TABLES.on_model,
    beyond=beyond,
    breaks=_TABLES.breaks,
    areas=_TABLES.areas,
    history=drawn_history,
)
