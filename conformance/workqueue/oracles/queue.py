"""How each group stands at a row, worked out from all calls before it, anew for each question, however long that takes.
Answers are kept for as long as the trace is judged."""

from __future__ import annotations

from dataclasses import dataclass

from scatterproof.conformance.oracles.whole import once_a_trace, once_asked
from scatterproof.conformance.workqueue.oracles.boxes import Box, Boxes
from scatterproof.spec.core import Outcome
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.trace import Trace
from scatterproof.spec.workqueue.messages import CallName

OPEN, SEND, CLOSE, FLUSH = CallName.OPEN_GROUP, CallName.SEND_MESSAGE, CallName.CLOSE_GROUP, CallName.FLUSH_GROUP
NEXT, READ, POP, POP_GROUP = CallName.NEXT_GROUP, CallName.READ_MESSAGE, CallName.POP_MESSAGE, CallName.POP_GROUP
UNLOCK, CLEAN = CallName.UNLOCK_SERVER_GROUPS, CallName.CLEAN
MOVES = (OPEN, CLOSE, FLUSH, NEXT, POP_GROUP, UNLOCK, CLEAN)
ALL = (1 << 63) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    row: int
    since_ns: int
    how: CallName


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenLock:
    """may: it may be held for receiving.
    known: it is certain whether it is.
    sure: it is held, and nothing that may release it was called.
    freed: the call that surely released it, and when, in ns; None where none did.
    """

    may: bool
    known: bool
    sure: bool
    freed: tuple[CallName | None, int] | None = None


class Queue:
    """The whole trace, and what it shows at a row."""

    def __init__(self, trace: Trace) -> None:
        self.boxes = Boxes(trace)
        self.most_tries = Parameters("workqueue", trace.header.parameters).number("most_tries")

    # ---------------------------------------------------------------- one group

    @once_asked
    def first(self, group: int, row: int) -> Box | None:
        """The call whose return first named the group; None where none did."""
        told = (box for box in self.boxes.done(row, OPEN, NEXT) if box.told["group"] == group >= 1)
        return next(told, None)

    def opened(self, group: int, row: int) -> Box | None:
        """The open_group that first named it; None where another call did."""
        first = self.first(group, row)
        return first if first is not None and first.call is OPEN else None

    def about(self, group: int, row: int, *calls: CallName) -> list[Box]:
        """The calls about it that returned ok since it was first named."""
        first = self.first(group, row)
        if first is None:
            return []
        return [box for box in self.boxes.done(row, *calls) if box.group == group and box.over > first.over]

    def may(self, group: int, row: int, *calls: CallName) -> list[Box]:
        """The calls about it, begun since it was first named, that may have taken effect."""
        first = self.first(group, row)
        if first is None:
            return []
        return [box for box in self.boxes.may(row, *calls) if box.group == group and box.begun > first.over]

    def loose(self, group: int, row: int, call: CallName) -> int:
        return sum(box.ended(row) is Outcome.UNKNOWN for box in self.may(group, row, call))

    @once_asked
    def sent(self, group: int, row: int) -> dict[int, Box]:
        """Its messages whose sends returned, by id; nothing is known from wrong ids."""
        found: dict[int, Box] = {}
        for box in self.about(group, row, SEND):
            if self.may_get(box, found):
                found[box.told["message"]] = box
        return found

    def may_get(self, me: Box, sent: dict[int, Box]) -> bool:
        """Whether a send may get its id: nobody else has, no higher one was given before, and there were as many sends.
        sent: its group's messages before, by id."""
        message, most = me.told["message"], max(sent, default=0) + 1 + self.unheard(me, me.over, SEND)
        higher = [box for other, box in sent.items() if other > message]
        before = any(box.over_ns < me.begun_ns or box.client == me.client for box in higher)
        return 1 <= message <= most and message not in sent and not before

    def may_be_in(self, me: Box, message: int, row: int) -> bool:
        """Whether the message was sent to the call's group, or may have been."""
        sent, sends = self.sent(me.group, row), self.unheard(me, row, SEND)
        return message in sent or (sends > 0 and 1 <= message <= max(sent, default=0) + sends)

    def is_empty(self, group: int, row: int) -> bool:
        """Whether it surely never had a message."""
        sending = [box for box in self.boxes.asked(row, SEND) if box.group == group and box.ended(row) is None]
        return self.opened(group, row) is not None and not (
            sending or self.sent(group, row) or self.loose(group, row, SEND)
        )

    def gone(self, group: int, row: int) -> Gone | None:
        """When and how it was surely removed, other than by cleaning; None where it was not."""
        for box in self.about(group, row, FLUSH, POP_GROUP, CLOSE):
            assert box.call is not None
            if box.call is not CLOSE or self.is_empty(group, box.over):
                return Gone(row=box.over, since_ns=box.over_ns, how=box.call)
        return None

    def is_there(self, group: int, row: int) -> bool:
        return self.first(group, row) is not None and self.gone(group, row) is None

    def closed_ns(self, group: int, row: int) -> int:
        """Since when it surely is closed, in ns; ALL where it may not be."""
        return min((box.over_ns for box in self.about(group, row, CLOSE)), default=ALL)

    def handed(self, group: int, row: int) -> list[Box]:
        """The calls that handed it out."""
        return [box for box in self.boxes.done(row, NEXT) if box.told["group"] == group]

    def pops(self, group: int, message: int, row: int) -> list[Box]:
        """The calls that may have popped the message."""
        return [box for box in self.may(group, row, POP) if box.message == message >= 1]

    def popped(self, group: int, message: int, row: int) -> list[Box]:
        """The calls that surely popped the message."""
        return [box for box in self.about(group, row, POP) if box.message == message >= 1]

    def reads(self, group: int, message: int, row: int) -> list[Box]:
        """The calls that were given the message."""
        return [box for box in self.about(group, row, READ) if box.told["message"] == message >= 1]

    def unheard(self, me: Box, row: int, call: CallName = READ) -> int:
        """How many calls of this name about its group have an unknown outcome, or are calls that others are in."""
        others = [box for box in self.boxes.others(row, me, call) if box.group == me.group]
        return len(others) + self.loose(me.group, row, call)

    def is_left(self, me: Box, below: int, row: int) -> bool:
        """Whether the call's group has a message with an id strictly below this one that nobody asked to pop and that
        surely was not set aside. Where an id was given, those below it were."""
        most = max(self.sent(me.group, row), default=0)
        return any(self._stays(me, message, row) for message in range(1, min(below, most + 1)))

    def _stays(self, me: Box, message: int, row: int) -> bool:
        tries = len(self.reads(me.group, message, row)) + self.unheard(me, row)
        is_there = self.most_tries == 0 or tries < self.most_tries
        return is_there and not self.pops(me.group, message, row)

    # ---------------------------------------------------------------- cleaning and releasing

    @once_asked
    def groups(self, row: int) -> list[int]:
        """The groups that are there, and that cleaning has not surely removed, by number."""
        told = {box.told["group"] for box in self.boxes.done(row, OPEN, NEXT)}
        return sorted(group for group in told if self.is_there(group, row) and self.removed_ns(group, row) is None)

    def undisturbed(self, me: Box, row: int) -> bool:
        """Whether all other calls that move groups are known, and were over when this call began."""
        moves = [box for box in self.boxes.asked(row, *MOVES) if box is not me]
        ends = [box.ended(row) for box in moves]
        if any(end in (None, Outcome.UNKNOWN) and _moves(box, end) for box, end in zip(moves, ends, strict=True)):
            return False
        over = [box for box in moves if box.ended(row) is not Outcome.REFUSED and box.told]
        return all(box.over_ns < me.begun_ns for box in over)

    def counted(self, me: Box, row: int) -> tuple[list[int], list[int], bool]:
        """The groups that may be locked for sending, those that may be held, and whether all of that is known."""
        there = self.groups(row)
        sending = [group for group in there if self.closed_ns(group, row) == ALL]
        held = [group for group in there if self.lock(group, row).may]
        return sending, held, all(self._is_known(group, row) for group in there)

    def _is_known(self, group: int, row: int) -> bool:
        if self.opened(group, row) is None or not self.lock(group, row).known or self.may(group, row, POP_GROUP):
            return False
        closed = self.closed_ns(group, row) < ALL
        return closed or not (self.may(group, row, CLOSE, FLUSH) or self.risk(group, row) > 1)

    @once_asked
    def cleaned(self, clean: Box) -> tuple[bool, bool]:
        """For a cleaning that returned ok: whether it surely removed all groups that were locked for sending, and
        whether it surely released all that were held."""
        sending, held, known = self.counted(clean, clean.over)
        sure = known and self.undisturbed(clean, clean.over)
        all_removed, all_released = clean.told["removed"] == len(sending), clean.told["released"] == len(held)
        return sure and all_removed, sure and all_released

    @once_asked
    def removed_ns(self, group: int, row: int) -> int | None:
        """Since when cleaning has surely removed it, in ns; None where it may not have."""
        first = self.first(group, row)
        assert first is not None
        for clean in self.boxes.done(row, CLEAN):
            if clean.over > first.over and self.cleaned(clean)[0] and self.closed_ns(group, clean.over) == ALL:
                return clean.over_ns
        return None

    def risk(self, group: int, row: int) -> int:
        """Whether cleaning may have removed it: 0 no, as it was closed, or else; 1 the last one alone may have; above
        that, an earlier one."""
        if self.closed_ns(group, row) < ALL:
            return 0
        opened = self.opened(group, row)
        if opened is None:
            return 2
        heard = opened.over
        before = self.boxes.may(heard, CLEAN)
        known = 0 if all(box.was_ok(heard) and box.over_ns < opened.begun_ns for box in before) else 2
        cleans = self.boxes.asked(row, CLEAN)
        events = [(box.begun, box) for box in cleans] + [(box.over, box) for box in cleans if box.was_ok(row)]
        for at, box in sorted((event for event in events if event[0] > heard), key=lambda event: event[0]):
            if at == box.begun:
                known += 1
            if at == box.over and box.told["removed"] == 0 and known == 1:
                known = 0
        return known

    @once_asked
    def lock(self, group: int, row: int) -> SeenLock:
        """Its receive lock, by its last hand-out and what was called since."""
        handed = self.handed(group, row)
        if not handed:
            return SeenLock(may=False, known=True, sure=False)
        hand, known = handed[-1], True
        for box in self.boxes.done(row, UNLOCK, CLEAN):
            if box.over < hand.over:
                continue
            if box.call is UNLOCK and box.given["server"] == hand.given["server"]:
                surely = hand.over_ns < box.begun_ns
            elif box.call is CLEAN and box.told["released"] != 0:
                surely = self.cleaned(box)[1]
            else:
                continue
            if surely:
                return SeenLock(may=False, known=True, sure=False, freed=(box.call, box.over_ns))
            known = False
        return SeenLock(may=True, known=known, sure=self._is_sure(hand, row))

    def _is_sure(self, hand: Box, row: int) -> bool:
        """Whether nothing that may release it was going on at the hand-out, or was called since."""
        for box in self.boxes.asked(row, UNLOCK, CLEAN):
            if box.begun > hand.over:
                if box.call is CLEAN or box.given["server"] == hand.given["server"]:
                    return False
            elif box.ended(hand.over) is not Outcome.REFUSED:
                over = box.ended(hand.over) is Outcome.OK and box.over_ns < hand.begun_ns
                if not over:
                    return False
        return True

    # ---------------------------------------------------------------- who is next

    @once_asked
    def ready(self, me: Box, row: int) -> int:
        """The group that a call of next_group has to hand out, of those that were ready all the while; 0 for none."""
        if self.boxes.loose(row, NEXT) or self.boxes.others(row, me, NEXT):
            return 0
        found = [group for group in self.groups(row) if self._is_ready(group, me, row)]
        return min(found, key=lambda group: self._rank(group, row), default=0)

    def _rank(self, group: int, row: int) -> tuple[int, int]:
        opened = self.opened(group, row)
        assert opened is not None
        return opened.given["priority"], opened.over_ns

    def correlation(self, group: int, row: int) -> int:
        first = self.first(group, row)
        assert first is not None
        return (first.given if first.call is OPEN else first.told)["correlation"]

    def _is_ready(self, group: int, me: Box, row: int) -> bool:
        opened = self.opened(group, row)
        if opened is None or not self._is_closed(group, row):
            return False
        alike = self.correlation(group, row)
        if self._changed_ns(alike, row) >= me.begun_ns:
            return False
        for box in self.boxes.may(row, OPEN):
            end = box.ended(row)
            ahead = end is Outcome.UNKNOWN or (end is None and box.begun_ns <= opened.over_ns)
            if ahead and box.given["correlation"] == alike:
                return False
        for other in self.groups(row):
            if self.correlation(other, row) == alike and (self.lock(other, row).may or self._ahead(other, opened, row)):
                return False
        return opened.given["last"] != 0 or self._last_came(group, row)

    def _is_closed(self, group: int, row: int) -> bool:
        """Whether it was closed with messages, and nothing may have removed it."""
        if self.closed_ns(group, row) == ALL or not self.sent(group, row):
            return False
        return not self.may(group, row, FLUSH, POP_GROUP)

    def _last_came(self, group: int, row: int) -> bool:
        """Whether one that is marked as the last was closed. None of its correlation is there that was begun first."""
        there = self.groups(row)
        return any(other in there and self._is_closed(other, row) for other, _ in self.marked(group, row))

    def marked(self, group: int, row: int) -> list[tuple[int, Box]]:
        """The groups of its correlation that were ever marked as the last, with the calls that began them."""
        opens = [box for box in self.boxes.done(row, OPEN) if box.given["last"] == 1]
        alike = [box for box in opens if box.given["correlation"] == self.correlation(group, row)]
        return [(box.told["group"], box) for box in alike if self.opened(box.told["group"], row) is box]

    def _ahead(self, other: int, opened: Box, row: int) -> bool:
        """Whether the other may have been begun ahead of the group that this call began."""
        its = self.opened(other, row)
        return its is None or (its is not opened and its.begun_ns <= opened.over_ns)

    @once_asked
    def _changed_ns(self, correlation: int, row: int) -> int:
        """Since when the groups of the correlation surely stand as they do."""
        found = {-ALL}
        for group in {box.told["group"] for box in self.boxes.done(row, OPEN, NEXT) if box.told["group"] >= 1}:
            if self.correlation(group, row) != correlation:
                continue
            gone = self.gone(group, row)
            until = row if gone is None else gone.row + 1
            found |= {box.over_ns for box in self.about(group, until, CLOSE, FLUSH, POP_GROUP)}
            removed = self.removed_ns(group, until)
            found |= set() if removed is None else {removed}
            freed = self.lock(group, until).freed  # earlier ones are earlier than what came since
            found |= set() if freed is None else {freed[1]}
        return max(found)


def _moves(box: Box, end: Outcome | None) -> bool:
    """Whether a call that goes on, or has an unknown outcome, leaves open how groups stand."""
    return end is None or box.call in (OPEN, NEXT, UNLOCK, CLEAN)


look = once_a_trace(Queue)
