"""Counterexamples of the work queue in words, checked by hand; and what decides its findings."""

from __future__ import annotations

import pytest

from scatterproof.models.expected import Tier, check_model, models_in, models_of
from scatterproof.models.finding import Finding, findings_of
from scatterproof.models.workqueue.narration import narrate
from scatterproof.models.z3_claims import claims_of


def told(name: str) -> list[str]:
    """The sentences of a listed model, which must find what is expected of it."""
    (model,) = (one for one in models_of("workqueue") if one.name == name)
    found = check_model(model, "workqueue")
    assert found.result.differences == ()
    return narrate(found.run)


def test_q_crash_boot_a_receiver_on_a_sender_s_server_frees_its_group() -> None:
    assert told("boot_frees_send_locks") == [
        "Sender s1 on server a begins group 1 (correlation c, priority 2).",
        "The receiver on server a crashes.",
        "The receiver on server a starts again, and releases the send lock of group 1.",
        "Worker w1 is handed group 1 with token 2.",
    ]


def test_q_crash_send_a_slow_sender_ends_what_is_gone() -> None:
    sentences = told("slow_sender_unfenced")
    assert sentences[-2:] == [
        "Cleaning removes group 1, whose sender is only slow.",
        "Sender s1 ends group 1, which is gone, and is told that it is done.",
    ]


def test_q_priority_a_low_group_sees_high_ones_pass() -> None:
    sentences = told("low_priority_starves")
    assert "The worker takes a group of priority 2." not in sentences
    assert sentences[-1].startswith("It goes on from step")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [one.name for one in models_in("workqueue", Tier.FULL) if one.kind == "finding" and one.violates]
)
def test_every_finding_s_counterexample_is_told_in_sentences(name: str) -> None:
    assert all(sentence.endswith(".") for sentence in told(name))


@pytest.mark.parametrize("finding", findings_of("workqueue"), ids=lambda finding: finding.name)
def test_a_finding_is_decided_by_what_takes_seconds(finding: Finding) -> None:
    assert set(finding.models) <= {model.name for model in models_in("workqueue", Tier.FULL)}
    assert set(finding.claims) <= {claim.name for claim in claims_of("workqueue")}
