"""What the parts of the broadcast stack are there for: the areas by which core mutants are counted."""

from __future__ import annotations

_CORE = "scatterproof.impl.broadcast"
LEFT_OUT = ""  # what refuses packets and calls that cannot be, as of `scatterproof.fuzz.edits.MISUSE`
LINKS = "broadcast: links"
UNIFORM = "broadcast: urb"
FIFO = "broadcast: fifo"
CAUSAL = "broadcast: lcb"

_AREAS = {
    "link": LINKS,
    "link:Links.check_data": LEFT_OUT,
    "link:Links.check_ack": LEFT_OUT,
    "rules": LINKS,
    "rules:heard_first": UNIFORM,
    "rules:majority": UNIFORM,
    "rules:forwards_to": UNIFORM,
    "rules:enters_pending": UNIFORM,
    "rules:in_turn": FIFO,
    "rules:may_begin": FIFO,
    "rules:attached": CAUSAL,
    "rules:ready": CAUSAL,
    "rules:look": CAUSAL,
    "rules:counts_as_dependency": CAUSAL,
    "runs": UNIFORM,
    "runs:Waiting": LINKS,
    "runs:Run.part": UNIFORM,
    "stack": LINKS,
    "stack:Stack._check_handed": LEFT_OUT,
    "stack:Stack._may_be_for": LEFT_OUT,
    "stack:LinkProcess._may_be_for": LEFT_OUT,
    "stack:LinkProcess._check_run": LEFT_OUT,
    "stack:UniformProcess._check_run": LEFT_OUT,
    "stack:UniformProcess": UNIFORM,
    "stack:FifoProcess": FIFO,
    "stack:CausalProcess": CAUSAL,
    "uniform": UNIFORM,
    "uniform:Uniform.check": LEFT_OUT,
    "fifo": FIFO,
    "causal": CAUSAL,
}
AREAS = {f"{_CORE}.{place}": area for place, area in _AREAS.items()}
