"""Messages that a host sent and that are not acknowledged: by receiver, and by the link that they left on.

Clauses: TO-SEQ, TO-DUPACK, TO-RETX, TO-ACK-INIT, TO-FLAG-HOST, TO-FAIL.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from heapq import heappop, heappush

from scatterproof.impl.totalorder.carrier import Carrier
from scatterproof.impl.totalorder.link_state import Values
from scatterproof.spec.topology import NodeId
from scatterproof.spec.totalorder.messages import NO_LOSS, NOT_SPOKEN, Packet


class SendingLink:
    """One egress link of a host.

    greatest: the greatest timestamp put on it. record: the greatest that is known to be lost (TO-FLAG-HOST).
    acknowledged: the greatest that some receiver has acknowledged. values: what the next packet says.
    """

    __slots__ = ("_sent", "acknowledged", "carrier", "greatest", "record", "values")

    def __init__(self, carrier: Carrier) -> None:
        self.carrier = carrier
        self.greatest = NOT_SPOKEN
        self.record = NO_LOSS
        self.acknowledged = NOT_SPOKEN
        self.values = Values()
        self._sent: list[tuple[int, NodeId, int]] = []  # heap of (timestamp, receiver, number), some acknowledged

    def add(self, message: Packet) -> None:
        heappush(self._sent, (message.timestamp, message.receiver, message.number))

    def least(self, pairs: Mapping[NodeId, Pair]) -> int | None:
        """The least timestamp that one of its receivers has not acknowledged; None when all are."""
        sent = self._sent
        while sent and sent[0][2] <= pairs[sent[0][1]].acknowledged:
            heappop(sent)
        return sent[0][0] if sent else None


class Pair:
    """A host's messages to one receiver, numbered from 1.

    number: that of the last message sent. acknowledged: the number up to which the receiver has all. waiting: the
    messages above that, oldest first, as they are sent again. due: when the oldest is sent again. hastened: the number
    of the last message that was sent again because of equal acknowledgements.
    """

    __slots__ = (
        "_first_timeout",
        "_longest_timeout",
        "_timeout",
        "acknowledged",
        "due",
        "hastened",
        "link",
        "number",
        "waiting",
    )

    def __init__(self, link: SendingLink, timeout: int, doublings: int) -> None:
        self.link = link
        self.number = 0
        self.acknowledged = 0
        self.waiting: deque[Packet] = deque()
        self.due = 0
        self.hastened = 0
        self._first_timeout = self._timeout = timeout
        self._longest_timeout = timeout << doublings

    def add(self, now: int, message: Packet) -> None:
        if not self.waiting:
            self._restart(now)
        self.waiting.append(message)
        self.link.add(message)

    def acknowledge(self, now: int, number: int) -> None:
        """The receiver has all messages up to this number, which is above what was acknowledged until now."""
        self.acknowledged = number
        while self.waiting and self.waiting[0].number <= number:
            message = self.waiting.popleft()
            self.link.acknowledged = max(self.link.acknowledged, message.timestamp)
        self._restart(now)

    def give_up(self) -> None:
        """Wait for this receiver no more, whatever is or will be sent to it (TO-FAIL)."""
        self.acknowledged = self.number
        self.waiting.clear()

    def resend(self, now: int, *, timed_out: bool) -> Packet:
        """The oldest message, to be sent again now."""
        if timed_out:
            self._timeout = min(2 * self._timeout, self._longest_timeout)
        self.due = now + self._timeout
        return self.waiting[0]

    def _restart(self, now: int) -> None:
        self._timeout = self._first_timeout
        self.due = now + self._timeout
