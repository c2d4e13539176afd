"""The broadcast stack, as the shared fuzzer sees it."""

from __future__ import annotations

from scatterproof.fuzz.broadcast.drawn import drawn_history
from scatterproof.fuzz.broadcast.equivalences import EQUIVALENCES, ON_CLAIMS
from scatterproof.fuzz.broadcast.mutants import MUTANTS
from scatterproof.fuzz.broadcast.strategies import schedules
from scatterproof.fuzz.protocol import FuzzPlugin, RuleGroup, nodes_with
from scatterproof.fuzz.tables import tables_of
from scatterproof.impl.broadcast import RULES, make_core, rules

_TABLES = tables_of("broadcast")
_PACE = "it says how soon, not whether: runs become faster or slower, and no clause speaks of that"
PACE = ("is_sample", "smoothed", "time_out", "resent_at_once", "tries_after", "in_flight_next")

PLUGIN = FuzzPlugin(
    name="broadcast",
    groups=(RuleGroup(rules=rules, draws=schedules, left_out=dict.fromkeys(PACE, _PACE)),),
    node_with=nodes_with(make_core, RULES),
    mutants=MUTANTS,
    equivalences=EQUIVALENCES,
    on_model=_TABLES.on_model,
    on_claims=ON_CLAIMS,
    # There are many mutants, and schedules are small as they are drawn.
    shrinking=30,
    # Runs of the rules themselves have up to a thousand events.
    max_events=5_000,
    breaks=_TABLES.breaks,
    areas=_TABLES.areas,
    history=drawn_history,
)
