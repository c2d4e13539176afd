"""A counterexample of LossOrder in words."""

from __future__ import annotations

from models.expected import check_model, models_of
from models.totalorder.narration import narrate


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
