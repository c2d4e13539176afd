"""What TLC says of traces of total order otherwise than the checks."""

from __future__ import annotations

from models.trace_validation import Judgement
from spark.tests.agreement import Differences, Otherwise

_SUMS = "it is about sums and differences of times, and the module has times by rank alone"
_UNRECORDED = "submissions are not recorded, without which no check judges TO-BAR-HOST; TLC does, and row 0 breaks it"

DIFFERENCES = Differences(
    left_out={"TO-ADJ-1": _SUMS, "TO-ADJ-2": _SUMS, "TO-ADJ-ROUNDS": _SUMS, "TO-ADJ-SAFE": _SUMS},
    otherwise={
        "TO-ACK-INIT.timestamp-at-the-ack-barrier": Otherwise(position=0, why=_UNRECORDED),
        "TO-ACK-MEAN.sent-after-its-ack-barrier": Otherwise(position=0, why=_UNRECORDED),
        "TO-LOSS-SAFE.late": Otherwise(
            position=4, why="row 4 is delivered past a message that is held back, which comes late in row 5"
        ),
        "TO-LOSSCTR.another-node-begins-anew": Otherwise(
            position=0, why="the switch forwards in row 0 what never arrived there, which no check asks"
        ),
        "TO-RETX.two-equal-acknowledgements-unheard": Otherwise(
            judgement=Judgement.ACCEPTED, why="how soon something is sent again is in no module"
        ),
        "TO-SW-PATH.beacon-overtakes": Otherwise(
            judgement=Judgement.CANNOT_RUN, why="switches of two processors are in no module for traces"
        ),
    },
)
