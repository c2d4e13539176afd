"""The calls of a trace as boxes: what each is about, when it began, and what was known of its end at any row."""

from __future__ import annotations

from dataclasses import dataclass, field

from scatterproof.spec.core import Outcome
from scatterproof.spec.trace import ABSENT, Kind, Trace, schema
from scatterproof.spec.workqueue.messages import GIVEN, CallName

NAMES = schema("workqueue")
CALLS = {code: CallName(name) for name, code in NAMES.calls.items()}
NEVER = 1 << 63  # behind all rows


@dataclass(slots=True, kw_only=True, eq=False)
class Box:
    """One call.

    given, told: the columns of its rows `called` and `returned`.
    group, message, token: what it is about.
    hand, hand_token: what its client had in hand as it called.
    left: what its last read of that group gave, 0 where no message is left; ABSENT for none.
    over: the row of its return, or of its client's crash; NEVER where there is neither, and `outcome` is None.
    """

    client: int
    call: CallName | None
    begun: int
    begun_ns: int
    given: dict[str, int]
    group: int
    message: int
    token: int
    hand: int
    hand_token: int
    left: int
    over: int = NEVER
    over_ns: int = 0
    outcome: Outcome | None = None
    told: dict[str, int] = field(default_factory=dict)

    def ended(self, row: int) -> Outcome | None:
        """How it ended, as far as the rows before this one show; None while it goes on."""
        return self.outcome if self.over < row else None

    def was_ok(self, row: int) -> bool:
        return self.ended(row) is Outcome.OK


@dataclass(slots=True)
class Hand:
    group: int = 0
    token: int = 0
    reading: int = 0
    left: int = ABSENT


class Boxes:
    """The calls of a trace.

    all: the calls, in the order of their rows `called`.
    returned: by position, the call that a row ends.
    store_down: positions and times, in ns, of the store's crashes.
    """

    def __init__(self, trace: Trace) -> None:
        self.all: list[Box] = []
        self.returned: dict[int, Box] = {}
        self.store_down: list[tuple[int, int]] = []
        self._open: dict[int, Box] = {}
        self._hands: dict[int, Hand] = {}
        clients = set(trace.header.topology.clients())
        for position, row in enumerate(trace.rows):
            columns = dict(zip(NAMES.columns, row, strict=True))
            node, kind = columns["node"], columns["kind"]
            if kind == Kind.CALLED:
                self._call(position, columns)
            elif kind == Kind.RETURNED and node in self._open:
                self._return(position, columns)
            elif kind == Kind.CRASHED and columns["link"] == ABSENT:
                self._crash(position, columns)
                if node not in clients:
                    self.store_down.append((position, columns["time_ns"]))

    def _call(self, position: int, given: dict[str, int]) -> None:
        node, call = given["node"], CALLS.get(given["call"])
        hand = self._hands.setdefault(node, Hand())
        group = 0 if call in GIVEN else given["group"] if given["group"] != ABSENT else hand.group
        box = Box(
            client=node,
            call=call,
            begun=position,
            begun_ns=given["time_ns"],
            given=given,
            group=group,
            message=given["message"] if given["message"] != ABSENT else hand.reading,
            token=given["token"] if given["token"] != ABSENT else hand.token,
            hand=hand.group,
            hand_token=hand.token,
            left=hand.left,
        )
        self.all.append(box)
        self._open[node] = box

    def _return(self, position: int, told: dict[str, int]) -> None:
        box = self._open.pop(told["node"])
        box.over, box.over_ns, box.told = position, told["time_ns"], told
        box.outcome = Outcome(told["outcome"])
        if told["call"] == box.given["call"]:
            self.returned[position] = box
        if box.outcome is not Outcome.OK:
            return
        if box.call in (CallName.OPEN_GROUP, CallName.NEXT_GROUP):
            self._hands[box.client] = Hand(told["group"], told["token"])
        elif box.call is CallName.READ_MESSAGE:
            hand = self._hands[box.client]
            hand.reading = told["message"]
            hand.left = told["message"] if box.hand == box.group else hand.left

    def _crash(self, position: int, columns: dict[str, int]) -> None:
        box = self._open.pop(columns["node"], None)
        if box is not None:
            box.over, box.over_ns, box.outcome = position, columns["time_ns"], Outcome.UNKNOWN
        self._hands[columns["node"]] = Hand()

    def asked(self, row: int, *calls: CallName) -> list[Box]:
        """The calls that began before this row."""
        return [box for box in self.all if box.begun < row and box.call in calls]

    def done(self, row: int, *calls: CallName) -> list[Box]:
        """The calls that returned ok before this row, in the order of their ends."""
        found = [box for box in self.asked(row, *calls) if box.was_ok(row)]
        return sorted(found, key=lambda box: box.over)

    def may(self, row: int, *calls: CallName) -> list[Box]:
        """The calls that may have taken effect, for all that was known at this row."""
        return [box for box in self.asked(row, *calls) if box.ended(row) is not Outcome.REFUSED]

    def loose(self, row: int, *calls: CallName) -> list[Box]:
        """The calls of unknown outcome, as known at this row."""
        return [box for box in self.asked(row, *calls) if box.ended(row) is Outcome.UNKNOWN]

    def others(self, row: int, me: Box, *calls: CallName) -> list[Box]:
        """The calls that other clients are in at this row."""
        return [box for box in self.asked(row, *calls) if box.client != me.client and box.ended(row) is None]
