"""What TLC says of traces of the queue otherwise than the checks."""

from __future__ import annotations

from scatterproof.models.trace_validation import Judgement
from scatterproof.spark.tests.agreement import Differences, Otherwise

_REFUSED = "a call is read with its end, so that TLC knows at the hand-out that the put is refused"
_CLOSED = "the group is closed, so that nothing more can have been sent there; checks leave that to the send"

DIFFERENCES = Differences(
    otherwise={
        "Q-AS-PUT.handed-out-and-then-refused": Otherwise(position=2, why=_REFUSED),
        "Q-AS-PUT.refused-and-handed-out-again": Otherwise(position=2, why=_REFUSED),
        "Q-AS-PUT.set-aside-in-another-order": Otherwise(position=8, why=_REFUSED),
        "Q-CALL-ONCE.set-aside-and-read-when-it-is-gone": Otherwise(
            position=11, why="row 11 finishes a group with a message in it, which checks take to be perhaps set aside"
        ),
        "Q-DEDUP.handed-out-before-its-put-ends": Otherwise(
            judgement=Judgement.ACCEPTED,
            why="a call is read with its end, so that the put may come when the window is over",
        ),
        "Q-NEXT.nothing-as-one-that-is-gone-was-closed": Otherwise(
            position=13, why="of a closing and a cancelling that overlap one alone can succeed, which checks leave open"
        ),
        "Q-ORDER-MSG.sent-by-one-meanwhile": Otherwise(position=19, why=_CLOSED),
        "Q-ORDER-MSG.the-third-is-sent-meanwhile": Otherwise(position=12, why=_CLOSED),
    }
)
