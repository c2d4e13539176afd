"""An appliance: carries out its clients' calls, routes messages by the tree of subscriptions, and spreads what is
wanted over its neighbours. Where messages take all paths at once, they go to all neighbours, and nothing is spread.
Where there are several links to one neighbour, they take the best.

Clauses: PS-ROUTE, PS-COVER, PS-NEIGHBOUR, PS-MULTIPATH, PS-ORDER, PS-QOS-LEVEL, PS-ANSWER.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from scatterproof.impl.pubsub.match_rules import MatchRules
from scatterproof.impl.pubsub.rules import Rules
from scatterproof.impl.pubsub.spreading import Spreading
from scatterproof.impl.pubsub.streams import Stream
from scatterproof.impl.pubsub.topic_tree import TopicTree
from scatterproof.impl.pubsub.vocabulary import Vocabulary
from scatterproof.spec.core import (
    ClientEffect,
    ClientEvent,
    LocalProtocolError,
    NodeConfig,
    Outcome,
    PacketArrived,
    Refuse,
    Send,
    TimerFired,
)
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.pubsub.messages import LEVELS, CallName, Delivery, Packet, PacketName
from scatterproof.spec.topology import LinkId, NodeId

Effects = list[ClientEffect[Packet, Delivery]]
_PROBING = (PacketName.PROBE, PacketName.ECHO)
_OF_APPLIANCES = frozenset({PacketName.WANT, PacketName.DROP, PacketName.HAD, PacketName.MESSAGE, *_PROBING})
_OF_PATHS = frozenset({PacketName.MESSAGE})


class Appliance:
    """subscribed: by client, its filters with their levels. begun: by client, the last of its calls that was carried
    out; waiting: of those, a subscribe that is to be answered once it is in force; answered: the last answer. passed:
    by publisher, topic, and whether it is guaranteed, the last message that took all paths."""

    def __init__(self, config: NodeConfig, rules: Rules, match_rules: MatchRules) -> None:
        given = Parameters("pubsub", config.parameters, f"node {config.node}")
        self._me, self._rules, appliances = config.node, rules, given.number("appliances")
        retry_ns, resends = given.number("retry_ns"), given.number("resends")
        links: dict[NodeId, list[LinkId]] = {}
        for node, link in config.next_link:
            links.setdefault(node, []).append(link)
        self._streams = {node: Stream(self._me, to, rules, retry_ns, resends) for node, to in links.items()}
        self._links = dict(config.next_link)
        self._words = Vocabulary(given, rules, match_rules)
        self._neighbours = frozenset(node for node in self._links if node < appliances)
        self._takes_all_paths = given["paths"] == "all"
        spread_to = () if self._takes_all_paths else sorted(self._neighbours)
        self._spreading = Spreading(self._me, spread_to, self._words.covers, rules)
        self._tree: TopicTree[tuple[NodeId, int], int] = TopicTree(self._words.mark, match_rules)
        self._subscribed: dict[NodeId, dict[int, int]] = {}
        self._begun: dict[NodeId, int] = {}
        self._waiting: dict[NodeId, Packet] = {}
        self._answered: dict[NodeId, Packet] = {}
        self._passed: dict[tuple[NodeId, int, bool], int] = {}

    def handle(self, event: ClientEvent[Packet]) -> Sequence[ClientEffect[Packet, Delivery]]:
        effects = self._handle(event)
        return [*effects, *(probe for stream in self._streams.values() for probe in stream.probes(event.now))]

    def _handle(self, event: ClientEvent[Packet]) -> Effects:
        if isinstance(event, TimerFired):
            return [send for stream in self._streams.values() for send in stream.resend(event.now)]
        if not isinstance(event, PacketArrived):
            raise LocalProtocolError(f"host {self._me} is an appliance; clients make calls")
        flaw = self._flaw(event.packet)
        if flaw is not None:
            return [Refuse(event.link, flaw)]
        packet, now = event.packet, event.now
        self._streams[packet.hop].hear(now)
        if packet.kind == PacketName.REQUEST:
            return self._ask(packet, now)
        if packet.kind == PacketName.ACK:
            self._streams[packet.hop].acknowledged(packet.serial)
            return []
        if packet.kind == PacketName.PROBE:
            return [*self._streams[packet.hop].echo(packet)]
        if packet.kind == PacketName.ECHO:
            return [*self._streams[packet.hop].echoed(packet, now)]
        fits, said = self._streams[packet.hop].take(packet)
        return [*said, *(self._take(packet, now) if fits else [])]

    def next_deadline(self) -> int | None:
        deadlines = (stream.deadline for stream in self._streams.values())
        return min((deadline for deadline in deadlines if deadline is not None), default=None)

    def _flaw(self, packet: Packet) -> str | None:
        """Why a packet breaks the protocol; None for one that does not."""
        told = f"a {packet.kind} from {packet.hop}"
        if packet.hop not in self._links or not self._words.has(packet.topic, packet.filter):
            return f"{told} names a node, topic or filter that is not there"
        if packet.kind == PacketName.ACK:
            return None
        if packet.hop in self._neighbours:
            known = _OF_PATHS if self._takes_all_paths else _OF_APPLIANCES
            fits = packet.topic > 0 and packet.level in LEVELS
            if packet.kind in _PROBING:
                fits = packet.number > 0 and packet.serial > 0
            elif packet.kind != PacketName.MESSAGE:
                fits = packet.filter > 0 and packet.serial > 0
            return None if packet.kind in known and fits else f"{told}, an appliance, lacks something"
        fits = packet.topic > 0 if packet.call == CallName.PUBLISH else packet.filter > 0
        fits = fits and packet.level in (LEVELS if packet.call != CallName.UNSUBSCRIBE else (-1,))
        mine = packet.kind == PacketName.REQUEST and packet.sender == packet.hop and packet.call in set(CallName)
        return None if mine and fits else f"{told}, a client, is no request of it, or lacks something"

    # ---------------------------------------------------------------- calls

    def _ask(self, asked: Packet, now: int) -> Effects:
        client = asked.sender
        effects: Effects = []
        if self._rules.is_new(asked.number, self._begun.get(client, 0)):
            self._begun[client] = asked.number
            self._waiting.pop(client, None)  # the client has gone on since
            effects = self._carry_out(asked, now)
        answer = self._answered.get(client)
        if answer is not None and answer.number == asked.number:
            effects.append(Send(self._links[client], answer))
        return [*effects, *self._settle(now)]

    def _carry_out(self, asked: Packet, now: int) -> Effects:
        client = asked.sender
        if asked.call == CallName.PUBLISH:
            self._say(asked, Outcome.OK)
            return self._route(replace(asked, kind=PacketName.MESSAGE, call=""), client, now)
        mine = self._subscribed.setdefault(client, {})
        if asked.call == CallName.SUBSCRIBE:
            mine[asked.filter] = asked.level
            self._tree.put(self._words.filter(asked.filter), (client, asked.filter), asked.level)
            self._waiting[client] = asked
        else:
            known = mine.pop(asked.filter, None) is not None
            self._tree.remove(self._words.filter(asked.filter), (client, asked.filter))
            self._say(asked, Outcome.OK if known else Outcome.REFUSED)
        return self._tell(now)

    def _say(self, asked: Packet, outcome: Outcome) -> None:
        self._answered[asked.sender] = replace(
            asked, kind=PacketName.ANSWER, hop=self._me, outcome=int(outcome), payload=b""
        )

    # ---------------------------------------------------------------- messages

    def _route(self, message: Packet, source: NodeId, now: int) -> Effects:
        """One copy to each subscriber, and to each neighbour that wants it (PS-ROUTE), or, where messages take all
        paths, to each neighbour, of the first copy that comes (PS-MULTIPATH)."""
        levels: dict[NodeId, list[int]] = {}
        if self._takes_all_paths:
            if not self._is_first(message):
                return []
            levels = {node: [] for node in self._neighbours}
        for (node, _), level in self._tree.find(self._words.topic(message.topic)):
            levels.setdefault(node, []).append(level)
        effects: Effects = []
        for node, listed in sorted(levels.items()):
            if node not in self._neighbours:
                level = self._rules.delivered_level(message.level, self._rules.level_of_all(listed))
                effects.append(self._put(node, replace(message, level=level), now))
            elif self._rules.is_passed_on(node, source):
                effects.append(self._put(node, message, now))
        return effects

    def _is_first(self, message: Packet) -> bool:
        of = message.sender, message.topic, self._rules.is_guaranteed(message.level)
        first = self._rules.is_first(message.number, self._passed.get(of, 0))
        if first:
            self._passed[of] = message.number
        return first

    def _put(self, node: NodeId, message: Packet, now: int) -> Send[Packet]:
        message = replace(message, again=False)
        if self._rules.is_guaranteed(message.level):
            return self._streams[node].put(message, now)
        return self._streams[node].put_once(message)

    # ---------------------------------------------------------------- neighbours

    def _take(self, packet: Packet, now: int) -> Effects:
        """Something new from a neighbour."""
        node, filter_ = packet.hop, packet.filter
        effects: Effects = []
        if packet.kind == PacketName.MESSAGE:
            return self._route(packet, node, now)
        if packet.kind == PacketName.WANT:
            self._spreading.want(node, filter_)
            self._tree.put(self._words.filter(filter_), (node, filter_), max(LEVELS))
        elif packet.kind == PacketName.DROP:
            self._tree.remove(self._words.filter(filter_), (node, filter_))
            if self._spreading.drop(node, filter_):
                effects.append(self._streams[node].put(Packet(PacketName.HAD, self._me, filter=filter_), now))
        else:
            self._spreading.had(node, filter_)
        return [*effects, *self._tell(now), *self._settle(now)]

    def _tell(self, now: int) -> Effects:
        own = {filter_ for filters in self._subscribed.values() for filter_ in filters}
        news = self._spreading.news(own).items()
        return [self._streams[node].put(packet, now) for node, packets in news for packet in packets]

    def _settle(self, now: int) -> Effects:
        """Answers to wants and subscribes of which all beyond know by now."""
        effects: Effects = []
        for node, filter_ in self._spreading.answers():
            effects.append(self._streams[node].put(Packet(PacketName.HAD, self._me, filter=filter_), now))
        for client, asked in list(self._waiting.items()):
            if self._spreading.is_in_force(asked.filter):
                del self._waiting[client]
                self._say(asked, Outcome.OK)
                effects.append(Send(self._links[client], self._answered[client]))
        return effects
