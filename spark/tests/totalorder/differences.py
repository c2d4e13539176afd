"""What TLC says of traces of total order otherwise than the checks."""

from __future__ import annotations

from scatterproof.models.trace_validation import Judgement
from scatterproof.spark.tests.agreement import Differences, Otherwise

_UNRECORDED = "submissions are not recorded, without which no check judges TO-BAR-HOST; TLC does, and row 0 breaks it"
_ANEW = "of a node that has begun anew nothing is asked but that what it promises does not fall"
_GIVEN_UP = (
    "whom a switch has given up is in no row, so that nothing is asked of what it combines but that no barrier falls"
)
_PROXY = "switches with a proxy host are in no module for traces"

DIFFERENCES = Differences(
    otherwise={
        "TO-ACK-INIT.falls": Otherwise(
            position=3, why="TLC refuses the same row because an ack barrier falls, and names no clause for that"
        ),
        "TO-ACK-INIT.timestamp-at-the-ack-barrier": Otherwise(position=0, why=_UNRECORDED),
        "TO-ACK-MEAN.sent-after-its-ack-barrier": Otherwise(position=0, why=_UNRECORDED),
        "TO-ACK-MEAN.sent-after-the-higher-of-two": Otherwise(position=0, why=_UNRECORDED),
        "TO-ACK-MIN.minimum-of-before-the-restart": Otherwise(judgement=Judgement.ACCEPTED, why=_ANEW),
        "TO-BAR-HOST.said-to-be-sent-again": Otherwise(
            position=2, why="TLC refuses the same row because nothing is sent again without loss, and names no clause"
        ),
        "TO-BAR-MIN.hosts-that-begin-anew-may-be-given-up": Otherwise(position=8, why=_GIVEN_UP),
        "TO-BAR-MIN.minimum-of-before-the-restart": Otherwise(judgement=Judgement.ACCEPTED, why=_ANEW),
        "TO-BAR-MIN.silent-not-for-long-enough": Otherwise(position=13, why=_GIVEN_UP),
        "TO-BAR-PART.timestamp-for-an-empty-barrier": Otherwise(judgement=Judgement.ACCEPTED, why=_GIVEN_UP),
        "TO-COMPLETE.a-recall-where-nothing-is-recalled": Otherwise(
            position=10, why="TLC refuses the recall, which is no packet of this environment, and names no clause"
        ),
        "TO-COMPLETE.gap-ahead-of-what-is-for-a-switch": Otherwise(judgement=Judgement.CANNOT_RUN, why=_PROXY),
        "TO-COMPLETE.gap-seen-with-the-next-packet": Otherwise(judgement=Judgement.CANNOT_RUN, why=_PROXY),
        "TO-COMPLETE.kept-after-the-switch-began-anew": Otherwise(judgement=Judgement.ACCEPTED, why=_ANEW),
        "TO-COMPLETE.kept-though-the-switch-came-back": Otherwise(judgement=Judgement.ACCEPTED, why=_ANEW),
        "TO-COMPLETE.no-way-of-data-leads-to-the-receiver": Otherwise(
            position=5, why="the switch forwards in row 5 what never arrived there, which no check asks"
        ),
        "TO-DELIVER.no-way-of-data-leads-there": Otherwise(
            position=5, why="the switch forwards in row 5 what never arrived there, which no check asks"
        ),
        "TO-FAIL.barriers-held-down": Otherwise(
            judgement=Judgement.ACCEPTED, why="that barriers must rise again at some time is no invariant of a trace"
        ),
        "TO-LOSS-SAFE.late": Otherwise(
            position=4, why="row 4 is delivered past a message that is held back, which comes late in row 5"
        ),
        "TO-LOSS-SAFE.over-before-anybody-is-given-up": Otherwise(
            judgement=Judgement.ACCEPTED,
            why="who may have been given up is in no row, nor what is lost for ever by that",
        ),
        "TO-LOSS-SAFE.over-by-a-time-that-falls": Otherwise(
            judgement=Judgement.ACCEPTED,
            why="who may have been given up is in no row, nor what is lost for ever by that",
        ),
        "TO-LOSSCTR.another-node-begins-anew": Otherwise(
            position=0, why="the switch forwards in row 0 what never arrived there, which no check asks"
        ),
        "TO-LOSSCTR.switch-that-begins-anew-knows-no-number": Otherwise(judgement=Judgement.ACCEPTED, why=_ANEW),
        "TO-SW-PATH.beacon-overtakes": Otherwise(
            judgement=Judgement.CANNOT_RUN, why="switches of two processors are in no module for traces"
        ),
        "TO-SW-PATH.overtakes-three": Otherwise(
            judgement=Judgement.CANNOT_RUN, why="switches of two processors are in no module for traces"
        ),
        "TO-SWLOSS.told-until-the-link-may-be-given-up": Otherwise(judgement=Judgement.ACCEPTED, why=_GIVEN_UP),
    },
)
