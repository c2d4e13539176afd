"""Small runs of publish and subscribe, by number, of which judges have to say the same, whatever they are: of a broker
with sessions that does all right, makes one mistake, or makes them all; and, one in four, of packets of appliances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random

from scatterproof.conformance.network.topologies import attached
from scatterproof.conformance.pubsub.cases.building import WORDS, words
from scatterproof.conformance.pubsub.vocabulary import Vocabulary
from scatterproof.fuzz.loose_runs import LooseRun
from scatterproof.fuzz.pubsub.drawn_packets import PacketRun
from scatterproof.spec.core import Outcome
from scatterproof.spec.pubsub.messages import CallName
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Kind, Trace, schema

_CALLS = schema("pubsub").calls
_STEPS = (30, 60, 90, 120)
_BROKER: NodeId = 0
_FOREVER, _SECOND_NS = 1 << 62, 1_000_000_000
Share = tuple[int, int]  # a filter and a group

# What the broker may do wrong.
_MISTAKES = (
    "loses", "loses", "doubles", "takes another level", "leaves out the mark", "marks", "marks as kept",
    "sends to strangers", "sends to all members", "disorders", "disorders", "mixes up", "mixes up",
    "forgets the session", "keeps the session", "sends again", "sends again", "keeps what expired",
    "refuses what it does", "does what it refuses", "forgets as it is killed",
)  # fmt: skip


@dataclass(slots=True)
class _Copy:
    """told: what a row `delivered` says. over_ns: when it expires. share: of which shared subscription it is."""

    told: dict[str, int]
    over_ns: int
    share: Share | None = None


@dataclass(slots=True)
class _Session:
    """connects: whether the client ever does, as others are always connected. filters: by filter, level and group.
    waiting: what is to be sent. unacknowledged: what was, at level 1. inside: the steps of the call that it is in."""

    connects: bool
    is_present: bool
    lasts: bool = True
    operation: int = 0
    filters: dict[int, tuple[int, int]] = field(default_factory=dict)
    waiting: list[_Copy] = field(default_factory=list)
    unacknowledged: list[_Copy] = field(default_factory=list)
    inside: list[Callable[[], None]] = field(default_factory=list)


class _Run(LooseRun):
    """A broker, and clients that call it, each step at a moment of its own."""

    def __init__(self, draw: Random) -> None:
        hosts, clients = draw.choice((1, 1, 3)), draw.choice((2, 3, 3, 4))
        joined = [(0, host) for host in range(1, hosts)]
        super().__init__("pubsub", attached(hosts, joined, (0,) * clients), draw, is_fifo=False)
        grammar = draw.choice(sorted(WORDS))
        topics, filters = WORDS[grammar]
        self.parameters = {**words(grammar), "appliances": hosts, "sessions": 1}
        self.words = Vocabulary(grammar, topics, filters)
        self.topics = draw.sample(range(1, len(topics) + 1), draw.choice((1, 1, 2)))
        able = [
            one for one in range(1, len(filters) + 1) if any(self.words.matches(one - 1, at - 1) for at in self.topics)
        ]
        self.filters = draw.sample(able, min(len(able), draw.choice((1, 2, 3))))
        self.levels = draw.choice(((0, 1, 2), (1,), (1, 2), (1, 1, 1, 0, 2), (-1, 0, 1, 1)))
        self.groups = draw.choice(((0,), (0,), (0,), (0, 0, 1), (1, 2), (1,)))
        self.retains = draw.choice(((0,), (0,), (0, 0, 1), (0, 1, 2)))
        self.expiries, self.lasting = draw.choice(((0,), (0,), (0, 0, 1, 2, _SECOND_NS))), draw.choice((1.0, 1.0, 0.7))
        self.mistakes = draw.choice(((), (draw.choice(_MISTAKES),), (draw.choice(_MISTAKES),), _MISTAKES))
        if self.expiries != (0,) and draw.random() < 0.3:
            self.mistakes = ("keeps what expired",)
        self.often = 0.5 if len(self.mistakes) == 1 else 0.06
        self.paces = draw.choice(((0, 0, 1, 1, 3), (0, 0, 0, 0, 1)))
        self.leaves = draw.choice((0, 0, 1, 2))  # how often clients unsubscribe
        self.kills = draw.choice((0.0, 0.0, 0.04, 0.1))  # how often nodes are
        self.trouble = draw.choice((0.0, 0.03, 0.1))  # how often a call is refused, or of unknown outcome
        come = draw.choice((0.0, 0.5, 1.0))
        made = [draw.random() < come for _ in self.topology.clients()]
        self.publisher = draw.choice(self.topology.clients())
        self.sessions = {
            node: _Session(connects, not connects) for node, connects in zip(self.topology.clients(), made, strict=True)
        }
        self.kept: dict[int, _Copy] = {}
        self.published: list[_Copy] = []

    def slips(self, mistake: str) -> bool:
        return mistake in self.mistakes and self.draw.random() < self.often

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.now += self.draw.choice(self.paces)
            self.draw.choice((self.step, self.step, self.step, self.deliver, self.deliver, self.seldom))()
        if self.draw.random() < 0.8:
            for node, session in self.sessions.items():
                self._go_on(session)
                if not session.is_present and self.draw.random() < 0.9:
                    self.call(node, CallName.CONNECT)
                    self._go_on(session)
        for _ in range(4 * steps):
            self.deliver()

    def step(self) -> None:
        """A client goes on with its call, or begins one."""
        node = self.draw.choice((*self.sessions, self.publisher))
        session = self.sessions[node]
        if session.inside:
            session.inside.pop(0)()
            return
        if not session.is_present and self.draw.random() < 0.7:
            if self.draw.random() < 0.5:
                return
            self.call(node, CallName.CONNECT)
            return
        calls = [CallName.PUBLISH] * (8 if node == self.publisher else 1)
        calls += [CallName.SUBSCRIBE] * (1 if session.filters else 4) + [CallName.UNSUBSCRIBE] * self.leaves
        calls += [CallName.ACKNOWLEDGE] * (3 if session.unacknowledged else 0)
        calls += [CallName.DISCONNECT, CallName.DISCONNECT, CallName.CONNECT] * session.connects
        self.call(node, self.draw.choice(calls))

    def call(self, node: NodeId, call: CallName) -> None:
        draw, session = self.draw, self.sessions[node]
        session.operation += 1
        given: dict[str, int] = {}
        match call:
            case CallName.PUBLISH:
                retain = draw.choice(self.retains)
                given = {"topic": draw.choice(self.topics), "level": draw.choice(self.levels), "retain": retain}
                given |= {"digest": draw.choice((7, 7, 8)), "expiry_ns": draw.choice(self.expiries)}
            case CallName.SUBSCRIBE:
                filter_ = draw.choice(self.filters)
                group = session.filters.get(filter_, (0, draw.choice(self.groups)))[1]
                group = draw.choice(self.groups) if draw.random() < 0.1 else group
                given = {"filter": filter_, "level": draw.choice(self.levels), "group": group}
            case CallName.UNSUBSCRIBE:
                given = {"filter": draw.choice(list(session.filters) or self.filters)}
            case CallName.CONNECT:
                given = {"session": int(draw.random() < self.lasting)}
                self._come_late()
        number = session.operation
        self.write(Kind.CALLED, node, call=_CALLS[call], operation=number, **given)
        ok, later = Outcome.OK, partial(self.take_effect, node, call, number, given, self.now)
        what, fate = [later], draw.random()
        if fate < self.trouble:
            ok, what = Outcome.REFUSED, [later] if self.slips("does what it refuses") else []
        elif fate < 2 * self.trouble:
            ok = Outcome.UNKNOWN
            what = draw.choice(([], [later], [later]))
        returns = partial(self.returns, node, call, number, ok)
        if draw.random() < 0.1 and ok is Outcome.UNKNOWN:
            session.inside = [returns, *what]
        else:
            session.inside = [*what, returns]
        if draw.random() < 0.5:
            self._go_on(session)

    def _go_on(self, session: _Session) -> None:
        """To the end of the call."""
        while session.inside:
            session.inside.pop(0)()

    def _come_late(self) -> None:
        """About a second after a message's time is over."""
        ends = [one.over_ns + _SECOND_NS for one in self.published if one.over_ns < _FOREVER]
        if ends and self.draw.random() < 0.5:
            self.now = max(self.now, self.draw.choice(ends) + self.draw.choice((-1, 0, 1, 1, 2)))

    def returns(self, node: NodeId, call: CallName, number: int, outcome: Outcome) -> None:
        if self.slips("refuses what it does"):
            outcome = Outcome.REFUSED
        self.write(Kind.RETURNED, node, call=_CALLS[call], operation=number, outcome=int(outcome))

    def take_effect(self, node: NodeId, call: CallName, number: int, given: dict[str, int], called_ns: int) -> None:
        session = self.sessions[node]
        match call:
            case CallName.PUBLISH:
                over_ns = self.now + given["expiry_ns"] if given["expiry_ns"] > 0 else _FOREVER
                told = {name: given[name] for name in ("topic", "level", "digest")}
                self.publish(_Copy({**told, "sender": node, "number": number}, over_ns), given["retain"])
            case CallName.SUBSCRIBE:
                session.filters[given["filter"]] = given["level"], given["group"]
                for topic, copy in self.kept.items():
                    shares = given["group"] > 0 and not self.slips("marks as kept")
                    if self.words.matches(given["filter"] - 1, topic - 1) and not shares:
                        self._queue(node, copy, given["level"], retain=1)
            case CallName.UNSUBSCRIBE:
                session.filters.pop(given["filter"], None)
            case CallName.CONNECT:
                self._leave(node)
                session.is_present = True
                if given["session"] != 1 and not self.slips("keeps the session"):
                    self._end_session(node)
                session.lasts = given["session"] == 1
            case CallName.DISCONNECT:
                self._leave(node)
                session.is_present = False
            case CallName.ACKNOWLEDGE:
                if not self.slips("sends again"):
                    session.unacknowledged.clear()

    def _leave(self, node: NodeId) -> None:
        """The connection ends: what was not acknowledged waits again, with a mark."""
        session = self.sessions[node]
        again = [_saying(one, again=0 if self.slips("leaves out the mark") else 1) for one in session.unacknowledged]
        session.unacknowledged.clear()
        session.waiting = [*again, *session.waiting]
        if self.slips("forgets the session") or not (session.lasts or self.slips("keeps the session")):
            self._end_session(node)

    def _end_session(self, node: NodeId) -> None:
        session = self.sessions[node]
        waiting, session.waiting = session.waiting, []
        session.filters.clear()
        for one in waiting:
            if one.share is not None and not self.slips("loses"):
                self._to_a_member(one, one.share)

    def publish(self, copy: _Copy, retain: int) -> None:
        topic = copy.told["topic"]
        self.published.append(copy)
        if retain > 0:
            self.kept.pop(topic, None)
        if retain == 1:
            self.kept[topic] = copy
        if retain == 2:
            return
        shares = set[Share]()
        for node, session in self.sessions.items():
            mine = [
                (filter_, *had)
                for filter_, had in session.filters.items()
                if self.words.matches(filter_ - 1, topic - 1)
            ]
            plain = [level for _, level, group in mine if group == 0]
            shares |= {(filter_, group) for filter_, _, group in mine if group > 0}
            if plain or self.slips("sends to strangers"):
                self._queue(node, copy, max(plain, default=1))
        for share in sorted(shares):
            self._to_a_member(copy, share)

    def _to_a_member(self, copy: _Copy, share: Share) -> None:
        filter_, group = share
        members = [
            node for node, one in self.sessions.items() if one.filters.get(filter_, (0, 0))[1] == group
            if one.is_present or one.lasts
        ]  # fmt: skip
        if members and not self.slips("sends to all members"):
            members = [self.draw.choice([node for node in members if self.sessions[node].is_present] or members)]
        for node in members:
            self._queue(node, copy, self.sessions[node].filters[filter_][0], share=share)

    def _queue(self, node: NodeId, copy: _Copy, level: int, *, retain: int = 0, share: Share | None = None) -> None:
        lower = max if self.slips("takes another level") else min
        level = lower(level, copy.told["level"])
        session = self.sessions[node]
        if self.slips("loses") or (level == 0 and not session.is_present):
            return
        if self.slips("marks as kept"):
            retain = 1 - retain
        new = _Copy({"again": 0, **copy.told, "level": level, "retain": retain}, copy.over_ns, share)
        session.waiting += [new] * (2 if self.slips("doubles") else 1)

    def deliver(self) -> None:
        node = self.draw.choice(list(self.sessions))
        session = self.sessions[node]
        if not session.is_present or not session.waiting:
            return
        last = len(session.waiting) - 1
        at = self.draw.randint(0, last) if self.slips("disorders") or self.draw.random() < 0.03 else 0
        copy = session.waiting.pop(at)
        if self.now > copy.over_ns and not self.slips("keeps what expired"):
            return
        told = dict(copy.told)
        if self.slips("mixes up"):
            told[self.draw.choice(list(told))] = self.draw.randint(0, 3)
        if self.slips("marks"):
            told["again"] = 1
        if self.slips("sends again"):
            session.waiting.insert(0, _saying(copy, again=self.draw.choice((0, 1, 1))))
        self.write(Kind.DELIVERED, node, **told)
        if copy.told["level"] == 1:
            session.unacknowledged.append(copy)

    def seldom(self) -> None:
        """Nodes are killed, and time goes by."""
        fate = self.draw.random()
        if fate < self.kills:
            self._restart(_BROKER)
            for session in self.sessions.values():
                if self.slips("forgets as it is killed"):
                    session.waiting.clear()
        elif fate < 1.5 * self.kills:
            node = self.draw.choice(list(self.sessions))
            self._restart(node)
            self.sessions[node].inside.clear()
        elif fate < 0.2:
            link = self.draw.randrange(len(self.topology.links))
            self.write(Kind.CRASHED, self.topology.links[link].source, link=link)
        elif fate < 0.3:
            self.now += self.draw.choice((10, _SECOND_NS, 2 * _SECOND_NS))

    def _restart(self, node: NodeId) -> None:
        self.write(Kind.CRASHED, node)
        self.write(Kind.RESTARTED, node)


def _saying(copy: _Copy, **said: int) -> _Copy:
    return _Copy({**copy.told, **said}, copy.over_ns, copy.share)


def drawn_history(number: int) -> Trace:
    draw = Random(number)
    run = PacketRun(draw) if number % 4 == 0 else _Run(draw)
    run.run(draw.choice(_STEPS))
    return run.trace(run.parameters)
