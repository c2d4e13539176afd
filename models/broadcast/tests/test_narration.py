"""Counterexamples of the modules of the broadcast stack in words, checked by hand; and what decides its findings."""

from __future__ import annotations

import pytest

from scatterproof.models.broadcast.narration import narrate
from scatterproof.models.expected import Tier, check_model, models_in, models_of
from scatterproof.models.finding import Finding, findings_of
from scatterproof.models.z3_claims import claims_of


def told(name: str) -> list[str]:
    """The sentences of a listed model, which must find what is expected of it."""
    (model,) = (one for one in models_of("broadcast") if one.name == name)
    found = check_model(model, "broadcast")
    assert found.result.differences == ()
    return narrate(found.run)


def test_bc_pl_resend_a_message_refused_after_its_acknowledgement_is_told() -> None:
    assert told("acknowledged_before_stored") == [
        "Process 1 sends message 1 to 2 as packet 1 from 1 to 2.",
        "Process 2 acknowledges packet 1 from 1 to 2, and does not store it.",
        "The acknowledgement of packet 1 by process 2 arrives: process 1 removes message 1.",
    ]


def test_bc_urb_self_the_process_that_waits_for_ever_counts_one_sender() -> None:
    assert told("senders_only") == [
        "Process a broadcasts a#1.",
        "Process b receives a#1 from a, forwards it, and counts a.",
        "Process c receives a#1 from b, forwards it, and counts b.",
        "Process b receives a#1 from c and counts a and c.",
        "Process b delivers a#1, which a and c have.",
        "Process a crashes.",
    ]


@pytest.mark.slow
def test_bc_lcb_check_the_waiting_message_is_told_to_wait() -> None:
    sentences = told("only_its_creator")
    assert sentences[-1] == "Process 1 finds nothing to deliver. 2#1 waits."
    assert "Process 1 delivers 1#1." in sentences


def test_bc_fifo_flow_the_pause_is_told() -> None:
    assert told("above_the_threshold") == ["Process 1 broadcasts 1#1.", "Process 1 broadcasts 1#2, and pauses."]


@pytest.mark.slow
def test_bc_pl_resend_a_copy_that_is_not_acknowledged_is_told_with_its_cycle() -> None:
    assert told("copies_unanswered")[-1].endswith("for ever.")


@pytest.mark.parametrize("finding", findings_of("broadcast"), ids=lambda finding: finding.name)
def test_a_finding_is_decided_by_what_takes_seconds(finding: Finding) -> None:
    assert set(finding.models) <= {model.name for model in models_in("broadcast", Tier.FULL)}
    assert set(finding.claims) <= {claim.name for claim in claims_of("broadcast")}
