"""A schedule in words names what is done to whom, and when."""

from __future__ import annotations

from scatterproof.conformance.network.topologies import star
from scatterproof.conformance.report.schedule_words import LONGEST, words
from scatterproof.spec.schedule import (
    EVERYBODY,
    Clock,
    Delay,
    Failure,
    FailureKind,
    Fault,
    FaultKind,
    Message,
    Schedule,
    Submission,
)

STAR = star(2)


def schedule(submissions: int = 1) -> Schedule:
    return Schedule(
        protocol="totalorder",
        topology=STAR,
        delays=tuple(Delay(5, link) for link in range(len(STAR.links))),
        submissions=tuple(Submission(100 * n, 0, (Message(EVERYBODY), Message(1))) for n in range(1, submissions + 1)),
        clocks=(Clock(7, 2_000), *(Clock() for _ in STAR.nodes[1:])),
        parameters={"environment": "C"},
        faults=(Fault(0, 3, FaultKind.LOSE), Fault(1, 4, FaultKind.DELAY, 9)),
        failures=(Failure(50, FailureKind.CRASH, node=1), Failure(60, FailureKind.CUT, link=0)),
        end_ns=1_000,
    )


def test_everything_that_a_schedule_decides_is_told() -> None:
    told = words(schedule())
    source, target = (STAR.nodes[end].name for end in (STAR.links[0].source, STAR.links[0].target))
    assert f"link {source}->{target} takes 5 ns" in told
    assert f"packet 3 on link {source}->{target} is lost" in told
    assert any(line.startswith("packet 4 on link") and line.endswith("is 9 ns late") for line in told)
    assert f"the clock of {STAR.nodes[0].name} is 7 ns ahead, 2 ppm fast" in told
    assert "with environment = C" in told
    crash, cut = f"at 50 ns {STAR.nodes[1].name} crashes", f"at 60 ns link {source}->{target} is cut"
    sent = f"at 100 ns {STAR.nodes[0].name} submits 2 messages, for everybody, {STAR.nodes[1].name}"
    assert [line for line in told if line.startswith("at ")] == [crash, cut, sent, "at 1000 ns the run ends"]


def test_a_long_one_is_cut_and_says_so() -> None:
    whole, told = words(schedule()), words(schedule(submissions=100))
    assert len(told) == LONGEST
    assert told[-1] == f"and {len(whole) + 99 - LONGEST + 1} lines more"
