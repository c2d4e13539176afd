"""What is known of a queue with leases at any row of a trace, worked out anew each time: its calls, puts, hand-outs and
uses, and until when leases last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from scatterproof.conformance.oracles.whole import once_a_trace
from scatterproof.conformance.workqueue.oracles.boxes import CALLS, NAMES, NEVER
from scatterproof.spec.core import Outcome
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.trace import ABSENT, Kind, Trace
from scatterproof.spec.workqueue.messages import MOST_ENTRIES, CallName

PUT, RECEIVE, DELETE = CallName.PUT_MESSAGE, CallName.RECEIVE, CallName.DELETE
EXTEND, GIVE_BACK, CANCEL = CallName.EXTEND, CallName.GIVE_BACK, CallName.CANCEL
RECEIVE_ASIDE = CallName.RECEIVE_ASIDE
LEAST, MOST = -(1 << 63), (1 << 63) - 1
# A message: the client that put it, the number of that call, and its entry there, from 1.
Name = tuple[int, int, int]


@dataclass(slots=True, kw_only=True, eq=False)
class LeaseCall:
    """One call.

    row, over: the positions of its row `called`, and of its return or its client's crash; NEVER where there is neither.
    ns, over_ns: the times of these rows.
    about: for a call about messages, the hand-outs whose receipts it has, in order.
    done: the entries that were carried out, as bits; negative where `outcome` is that of all.
    got: the hand-outs of a receive.
    """

    client: int
    call: CallName | None
    row: int
    ns: int
    given: dict[str, int]
    about: list[HandOut] = field(default_factory=list)
    over: int = NEVER
    over_ns: int = 0
    outcome: Outcome | None = None
    done: int = ABSENT
    got: list[HandOut] = field(default_factory=list)

    def end(self, row: int, entry: int = 0) -> Outcome | None:
        """How this entry, from 0, ended, as far as the rows before this one show; None while it goes on."""
        if self.over >= row:
            return None
        if self.outcome is Outcome.UNKNOWN or self.done < 0:
            return self.outcome
        return Outcome.OK if self.done >> entry & 1 else Outcome.REFUSED

    def is_nothing(self) -> bool:
        """Whether it asked for messages and returned ok without one."""
        return self.outcome is Outcome.OK and self.given["most"] >= 1 and not self.got

    def entries(self) -> int:
        """How many messages it is about, or puts."""
        return len(self.about) if self.call is not PUT else min(max(1, self.given["most"]), MOST_ENTRIES)


@dataclass(slots=True, kw_only=True, eq=False)
class HandOut:
    """given: the columns of its row."""

    name: Name
    receipt: int
    row: int
    ns: int
    call: LeaseCall
    given: dict[str, int]


@dataclass(slots=True, kw_only=True, eq=False)
class Put:
    """One message of a put. entry: from 1."""

    call: LeaseCall
    entry: int

    @property
    def ns(self) -> int:
        return self.call.ns

    @property
    def over_ns(self) -> int:
        return self.call.over_ns

    def end(self, row: int) -> Outcome | None:
        return self.call.end(row, self.entry - 1)

    @property
    def dedup(self) -> int:
        first = self.call.given["dedup"]
        return first + self.entry - 1 if 0 < first <= MOST - self.entry + 1 else 0


@dataclass(slots=True, kw_only=True, eq=False)
class Use:
    """One message of a call about messages. entry: from 0."""

    call: LeaseCall
    entry: int
    about: HandOut

    def end(self, row: int) -> Outcome | None:
        return self.call.end(row, self.entry)


class LeaseQueue:
    def __init__(self, trace: Trace) -> None:
        given = Parameters("workqueue", trace.header.parameters)
        self.window, self.by_group = given.number("window_ns"), given.number("by_group") == 1
        self.margin, self.back_order = given.number("margin_ns"), given.number("back_order")
        self.one_consumer, self.batches = given.number("one_consumer") == 1, given.number("batches")
        self.most_tries = given.number("most_tries")
        self.calls: list[LeaseCall] = []
        self.handed: list[HandOut] = []
        self.ended: dict[int, LeaseCall] = {}
        self.crashes: list[tuple[int, int]] = []
        self._hands: dict[int, list[HandOut]] = {}
        self._in: dict[int, LeaseCall] = {}
        for position, row in enumerate(trace.rows):
            columns = dict(zip(NAMES.columns, row, strict=True))
            self._take(position, columns)
        self.puts: dict[Name, Put] = {}
        for one in self.calls:
            for entry in range(1, one.entries() + 1 if one.call is PUT else 1):
                self.puts.setdefault((one.client, one.given["operation"], entry), Put(call=one, entry=entry))

    def _take(self, position: int, row: dict[str, int]) -> None:
        node, kind, now = row["node"], row["kind"], row["time_ns"]
        if kind == Kind.CALLED:
            call = LeaseCall(client=node, call=CALLS.get(row["call"]), row=position, ns=now, given=row)
            hand = self._hands.setdefault(node, [])
            if call.call in (DELETE, EXTEND, GIVE_BACK):
                most = min(max(1, row["most"]), MOST_ENTRIES) if call.call is DELETE else 1
                call.about = hand[: -most - 1 : -1] if row["newest"] == 1 else hand[:most]
                if call.call is not EXTEND:
                    self._hands[node] = hand[:-most] if row["newest"] == 1 else hand[most:]
            elif call.call is CANCEL:
                call.about, self._hands[node] = hand, []
            self._in[node] = call
            self.calls.append(call)
        elif kind == Kind.RETURNED and node in self._in:
            call = self._in.pop(node)
            call.over, call.over_ns, call.outcome = position, now, Outcome(row["outcome"])
            call.done = row["carried"] if call.call is not CANCEL else ABSENT  # it has no entries
            self.ended[position] = call
        elif kind == Kind.DELIVERED and node in self._in and self._in[node].call in (RECEIVE, RECEIVE_ASIDE):
            name = (row["sender"], row["number"], max(1, row["message"]))
            one = HandOut(name=name, receipt=row["receipt"], row=position, ns=now, call=self._in[node], given=row)
            self._hands[node].append(one)
            self._in[node].got.append(one)
            self.handed.append(one)
        elif kind == Kind.CRASHED and row["link"] == ABSENT and node in self._hands:
            self._hands[node] = []
            self.crashes.append((position, node))
            if node in self._in:
                call = self._in.pop(node)
                call.over, call.over_ns, call.outcome = position, now, Outcome.UNKNOWN

    @property
    def received(self) -> list[HandOut]:
        """The hand-outs of messages that are not set aside."""
        return [one for one in self.handed if one.call.call is RECEIVE]

    # ---------------------------------------------------------------- messages

    def is_known(self, name: Name, row: int) -> bool:
        """Whether, before this row, its put was called and not refused."""
        put = self.puts.get(name)
        return put is not None and put.call.row < row and put.end(row) is not Outcome.REFUSED

    def known(self, row: int) -> list[Name]:
        """The messages known at this row, in the order in which a witness is chosen."""
        names = [name for name in self.puts if self.is_known(name, row)]
        return sorted(names, key=lambda name: (self.puts[name].ns, name))

    def group(self, name: Name) -> int:
        return self.puts[name].call.given["group"]

    def same_id(self, name: Name, other: Name) -> bool:
        one, two = self.puts[name], self.puts[other]
        return one.dedup == two.dedup > 0 and (not self.by_group or self.group(name) == self.group(other))

    def is_taken(self, name: Name, row: int) -> bool:
        """Whether the store surely took it, and not as a copy."""
        put = self.puts[name]
        if put.end(row) is not Outcome.OK:
            return False
        others = (other for other in self.known(put.call.over) if other != name and self.same_id(name, other))
        return all(self._is_past(self.puts[other], put) for other in others)

    def _is_past(self, earlier: Put, put: Put) -> bool:
        is_over = earlier.end(put.call.over) is Outcome.OK
        return is_over and add_ns(add_ns(earlier.over_ns, self.window), self.margin) < put.ns

    def of(self, name: Name, row: int) -> list[HandOut]:
        """Its hand-outs before this row, of when it was known."""
        return [one for one in self.handed if one.name == name and one.row < row and self.is_known(name, one.row)]

    def latest(self, name: Name, row: int) -> HandOut | None:
        return next(reversed(self.of(name, row)), None)

    def uses(self, name: Name, row: int) -> Iterator[Use]:
        """The calls before this row about what was handed out of it when it was known."""
        for call in self.calls:
            for entry, about in enumerate(call.about if call.row < row else ()):
                if about.name == name and self.is_known(name, about.row):
                    yield Use(call=call, entry=entry, about=about)

    # ---------------------------------------------------------------- leases

    def ends_from(self, name: Name, row: int) -> int:
        """Strictly below this, in ns, the lease of its latest hand-out surely lasts. There must be one."""
        latest = self.latest(name, row)
        assert latest is not None
        found = self.least(latest.call)
        for use in self.uses(name, row):
            if use.about is not latest or use.end(row) is Outcome.REFUSED:
                continue
            if use.call.call is not EXTEND:
                found = LEAST
            elif use.end(row) is Outcome.OK and found > use.call.over_ns:
                found = self.least(use.call)
            else:
                found = min(found, self.least(use.call))
        return found

    def least(self, call: LeaseCall) -> int:
        """Strictly below this, in ns, a lease that the call grants surely lasts."""
        return max(LEAST, add_ns(call.ns, call.given["lease_ns"]) - self.margin)

    def most(self, ns: int, call: LeaseCall) -> int:
        """Strictly above this, in ns, a lease that the call granted at `ns`, or earlier, surely has ended."""
        return add_ns(add_ns(ns, call.given["lease_ns"]), self.margin)

    def lasted(self, use: Use) -> bool:
        """Whether the lease of its receipt surely lasted from the beginning of the call to its end."""
        name = use.about.name
        return self.latest(name, use.call.over) is use.about and self.ends_from(name, use.call.row) > use.call.over_ns

    def is_fenced(self, use: Use) -> bool:
        """Whether the lease of a later hand-out surely lasted from the beginning of the call to its end."""
        name = use.about.name
        holds = self.latest(name, use.call.row)
        if holds is not self.latest(name, use.call.over):
            return False
        return self.ends_from(name, use.call.over) > use.call.over_ns

    def ends_by(self, name: Name, row: int) -> int:
        """Strictly above this, in ns, surely nobody holds it; LEAST where nobody ever did."""
        found, before = LEAST, None
        uses = list(self.uses(name, row))
        if any(use.call.call is EXTEND and use.end(row) in (None, Outcome.UNKNOWN) for use in uses):
            return MOST
        ended = [(use.call.over, use) for use in uses if use.end(row) is Outcome.OK]
        did: list[tuple[int, HandOut | Use]] = [*ended, *((hand.row, hand) for hand in self.of(name, row))]
        for _, one in sorted(did, key=_at):
            if isinstance(one, HandOut):
                overlaps = before is not None and before.ns >= one.call.ns
                found, before = max(found if overlaps else LEAST, self.most(one.ns, one.call)), one
            elif one.call.call is EXTEND:
                if self.lasted(one):
                    found = self.most(one.call.over_ns, one.call)
                elif not self.is_fenced(one):
                    found = max(found, self.most(one.call.over_ns, one.call))
            elif self.lasted(one) or (one.call.call is CANCEL and before is one.about):
                found = min(found, one.call.over_ns)
        return found

    def came_back(self, name: Name, row: int) -> LeaseCall | None:
        """The call that surely gave it back from its latest hand-out; None where none did."""
        latest = self.latest(name, row)
        for use in self.uses(name, row):
            gives = use.call.call in (GIVE_BACK, CANCEL) and use.about is latest
            if gives and use.end(row) is Outcome.OK and self.lasted(use):
                return use.call
        return None

    def may_be_deleted(self, name: Name, row: int) -> bool:
        uses = [use for use in self.uses(name, row) if use.call.call is DELETE]
        deletes = [use for use in uses if use.end(row) is not Outcome.REFUSED]
        return any(use.end(row) is not Outcome.OK or not self.is_fenced(use) for use in deletes)

    def deleted_ns(self, name: Name, row: int) -> int:
        """Since when it surely is deleted, in ns; MOST where it may not be."""
        deletes = (use for use in self.uses(name, row) if use.call.call is DELETE and use.end(row) is Outcome.OK)
        return min((use.call.over_ns for use in deletes if self.lasted(use)), default=MOST)

    def is_before(self, name: Name, other: Name) -> bool:
        """Whether the put of one, if it returned ok, surely took effect before that of the other."""
        one, two = self.puts[name], self.puts[other]
        return one.over_ns < two.ns or (name[0] == other[0] and name < other)

    def is_owed(self, name: Name, row: int) -> bool:
        return self.is_taken(name, row) and not self.may_be_deleted(name, row)

    def is_due(self, name: Name, row: int, client: int) -> bool:
        """Whether it is owed to a receive of this client, and surely not set aside."""
        if self.first_aside(name, row) is not None:
            return False
        return self.is_owed(name, row) and not 0 < self.most_tries <= self.tries(name, row, client)

    def tries(self, name: Name, row: int, client: int) -> int:
        """How often it was handed out at most, apart from the receive that this client is in."""
        return self.tried(name, row) + len(self.unheard(RECEIVE, row, client))

    def tried(self, name: Name, row: int) -> int:
        """How often it was handed out as not set aside."""
        return sum(one.call.call is RECEIVE for one in self.of(name, row))

    def unheard(self, kind: CallName, row: int, client: int) -> list[LeaseCall]:
        """The calls of this kind that have an unknown outcome, or that other clients are in."""
        return [
            call
            for call in self.calls
            if call.row < row
            and call.call is kind
            and (call.end(row) is Outcome.UNKNOWN or (call.client != client and call.over >= row))
        ]

    def first_aside(self, name: Name, row: int) -> HandOut | None:
        """Its first hand-out as set aside; None where there is none."""
        return next((one for one in self.of(name, row) if one.call.call is RECEIVE_ASIDE), None)

    def aside_ns(self, name: Name, row: int) -> int:
        """Since when it surely is set aside, in ns: it was handed out as that, or a receive that was alone got nothing
        though it had all its tries. MOST where it may not be."""
        first = self.first_aside(name, row)
        found = [MOST if first is None else first.ns]
        for at, call in self.ended.items() if not self.one_consumer else ():
            nothing = call.call is RECEIVE and call.is_nothing() and not self.unheard(RECEIVE, at, call.client)
            tried = self.tried(name, at) >= self.most_tries
            if nothing and tried and not self.held_in_group(name, at, call.ns):
                found.append(call.over_ns)
        return min(found)

    def held_in_group(self, name: Name, row: int, since: int) -> list[Name]:
        """The messages of its group that somebody may have held since then, before they were set aside."""
        return [
            other
            for other in self._may_be_held(name, row, since)
            if (shown := self.first_aside(other, row)) is None or shown.ns >= since
        ]

    def held_aside(self, name: Name, row: int, since: int, until: int) -> list[Name]:
        """The messages of its group that may have been held since then, but those held surely as not set aside."""
        return [
            other
            for other in self._may_be_held(name, row, since)
            if self.first_aside(other, row) is not None or self.ends_from(other, row) <= until
        ]

    def _may_be_held(self, name: Name, row: int, since: int) -> list[Name]:
        group = [other for other in self.known(row) if self.group(other) == self.group(name)]
        return [other for other in group if self.ends_by(other, row) >= since]


def _at(pair: tuple[int, object]) -> int:
    return pair[0]


def add_ns(time_ns: int, by_ns: int) -> int:
    return min(MOST, time_ns + max(0, by_ns))


look = once_a_trace(LeaseQueue)
