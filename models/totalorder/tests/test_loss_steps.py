"""A counterexample of LossOrder in words."""

from __future__ import annotations

from scatterproof.models.expected import check_model, models_of
from scatterproof.models.totalorder.telling.narration import narrate


def test_a_counterexample_under_loss_is_told_with_what_was_lost_and_received() -> None:
    (held_back,) = (one for one in models_of("totalorder") if one.name == "reach_held_back")
    found = check_model(held_back, "totalorder")
    assert found.result.differences == ()

    sentences = narrate(found.run)
    assert len(sentences) == len(found.run.trace) - 1
    told = " ".join(sentences)
    assert "The packet is lost on link " in told
    assert "is sent again. Host 3 receives " in told
    assert "Link 11-3: " in sentences[-1]


def test_an_acknowledgement_that_travels_is_told_with_the_step_that_brought_it() -> None:
    name = "switch_notices_loss_in_acks_travel_where_acks_tell_is_no"
    (model,) = (one for one in models_of("totalorder") if one.name == name)
    sentences = narrate(check_model(model, "totalorder").run)
    assert sentences[-1].endswith("Host 2 gets acknowledgement 1 of host 1.")
