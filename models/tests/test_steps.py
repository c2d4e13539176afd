"""Steps without sentences: what changed, by its place, and no more."""

from __future__ import annotations

from scatterproof.models.steps import steps
from scatterproof.models.tla_values import Value, parse_state
from scatterproof.models.tlc import State, TlcOutcome, TlcRun


def state(action: str, way: str, of: str, faults: str) -> State:
    variables: dict[str, Value] = parse_state(f"/\\ way = {way}\n/\\ of = {of}\n/\\ faults = {faults}\n")
    return State(action, variables)


def test_what_changed_is_told_by_its_place() -> None:
    trace = (
        state("Initial", "<<>>", '(1 :> {} @@ 2 :> {"a"})', "[number |-> 0, left |-> FALSE]"),
        state("Send", "<<1>>", '(1 :> {} @@ 2 :> {"a", "b"})', "[number |-> 0, left |-> FALSE]"),
        state("Leave", "<<>>", '(1 :> {} @@ 2 :> {"a", "b"})', "[number |-> 1, left |-> TRUE]"),
        state("Idle", "<<>>", '(1 :> {} @@ 2 :> {"a", "b"})', "[number |-> 1, left |-> TRUE]"),
    )
    run = TlcRun(outcome=TlcOutcome.VIOLATED, seconds=0, trace=trace, back_to=3)
    assert steps(run) == [
        'Send: `of[2] = {"a", "b"}`, `way = <<1>>`',
        "Leave: `faults.left = TRUE`, `faults.number = 1`, `way = <<>>`",
        "Idle",
        "Nothing happens any more.",
    ]
