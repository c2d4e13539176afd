"""Hand-written mutants of publish and subscribe: literal rules of the source document, rules wrong in other ways than a
single change makes, and appliances that spoil what right rules decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from msgspec.structs import replace as replace_packet

from scatterproof.fuzz.protocol import HandMutant
from scatterproof.impl.pubsub import MATCH_RULES, RULES, Appliance, Rules, make_core
from scatterproof.impl.pubsub.appliance import Effects
from scatterproof.impl.pubsub.literal_rules import LITERAL
from scatterproof.spec.core import Send
from scatterproof.spec.pubsub.messages import CallName, Packet, PacketName
from scatterproof.spec.topology import NodeId, Role


def _by_rules(name: str, sentence: str, rules: Rules) -> HandMutant:
    named = [field.name for field in fields(Rules)]
    changed = {rule: getattr(rules, rule) for rule in named if getattr(rules, rule) is not getattr(RULES, rule)}
    return HandMutant(name=name, sentence=sentence, make_node=lambda config: make_core(config, rules), rules=changed)


def _rule(name: str, sentence: str, function: Callable[..., Any]) -> HandMutant:
    """name: the rule, and how the function in its place is wrong."""
    return _by_rules(name, sentence, replace(RULES, **{name.partition("/")[0]: function}))


def _appliance(name: str, sentence: str, kind: type[Appliance]) -> HandMutant:
    """Another appliance."""

    def make_node(config: Any) -> Any:
        return kind(config, RULES, MATCH_RULES) if config.role is Role.HOST else make_core(config)

    return HandMutant(name=name, sentence=sentence, make_node=make_node, rules={})


class _CopyForEach(Appliance):
    """A client gets a copy for each of its filters that match."""

    def _route(self, message: Packet, source: NodeId, now: int) -> Effects:
        effects = super()._route(message, source, now)
        mine = self._tree.find(self._words.topic(message.topic))
        counts = {node: sum(other == node for (other, _), _ in mine) for (node, _), _ in mine}
        more = [
            self._put(node, message, now)
            for node, count in counts.items()
            for _ in range(count - 1)
            if node not in self._spreading.near
        ]
        return [*effects, *more]


class _CopyForAnybody(Appliance):
    """A client with any subscription gets whatever comes to its appliance."""

    def _route(self, message: Packet, source: NodeId, now: int) -> Effects:
        effects = super()._route(message, source, now)
        served = {one.link for one in effects if isinstance(one, Send)}
        others = (node for node, filters in self._subscribed.items() if filters and self._links[node] not in served)
        return [*effects, *(self._put(node, message, now) for node in others)]


class _OtherPayload(Appliance):
    """What is delivered is not what was published."""

    def _put(self, node: NodeId, message: Packet, now: int) -> Send[Packet]:
        return super()._put(node, replace_packet(message, payload=b"?"), now)


class _MarksAll(Appliance):
    """Everything is marked as a repeat."""

    def _put(self, node: NodeId, message: Packet, now: int) -> Send[Packet]:
        sent = super()._put(node, message, now)
        return Send(sent.link, replace_packet(sent.packet, again=True))


class _EndsThePath(Appliance):
    """Where messages take all paths, what comes from a neighbour goes to none."""

    def _route(self, message: Packet, source: NodeId, now: int) -> Effects:
        near = self._neighbours
        self._neighbours = frozenset() if self._takes_all_paths and source in near else near
        effects = super()._route(message, source, now)
        self._neighbours = near
        return effects


class _Keeps(Appliance):
    """Nobody is ever unsubscribed."""

    def _carry_out(self, asked: Packet, now: int) -> Effects:
        tree, self._tree = self._tree, type(self._tree)() if asked.call == CallName.UNSUBSCRIBE else self._tree
        effects = super()._carry_out(asked, now)
        self._tree = tree
        return effects


class _Mute(Appliance):
    """It answers no client."""

    def handle(self, event: Any) -> list[Any]:
        return [one for one in super().handle(event) if not _is_answer(one)]


def _is_answer(effect: object) -> bool:
    return isinstance(effect, Send) and effect.packet.kind == PacketName.ANSWER


def _drops_first(wants: tuple[Packet, ...], drops: tuple[Packet, ...]) -> tuple[Packet, ...]:
    return drops + wants


MUTANTS: tuple[HandMutant, ...] = (
    *(_by_rules(f"literal/{name}", f"The document's own rule: {name}.", rules) for name, rules in LITERAL.items()),
    _rule("in_order/drops-first", "The wider filter is withdrawn ahead of the narrower ones.", _drops_first),
    _rule("stays_home/never", "What is covered is propagated, too.", lambda covered, covers, came_first: False),
    _rule("is_next/any", "Whatever comes is taken.", lambda serial, taken: True),
    _rule(
        "is_late/never",
        "Best-effort messages are taken in any order, as often as they come.",
        lambda number, last: False,
    ),
    _rule("sent_again/nothing", "Where the way changes, what is sent from then on goes there.", lambda unheard: ()),
    _rule("sent_again/the-last", "Where the way changes, the last message alone goes again.", lambda one: one[-1:]),
    _rule("is_first/any", "On all paths each copy is passed on.", lambda number, passed: True),
    _rule("is_first/not-the-last", "All but the last is taken for new.", lambda number, passed: number != passed),
    _appliance("appliance/ends-the-path", "On all paths what comes from a neighbour goes to none.", _EndsThePath),
    _rule("is_guaranteed/never", "Everything is sent once.", lambda level: False),
    _rule("delivered_level/published", "A message keeps its level.", lambda published, subscribed: published),
    _rule("level_of_all/last", "Of several subscriptions the last one's level counts.", lambda levels: levels[-1]),
    _appliance("appliance/copy-for-each-filter", "A client gets a copy for each filter that matches.", _CopyForEach),
    _appliance("appliance/copy-for-anybody", "A subscriber gets whatever comes to its appliance.", _CopyForAnybody),
    _appliance("appliance/other-payload", "Payloads are changed.", _OtherPayload),
    _appliance("appliance/marks-all", "Everything is marked as a repeat.", _MarksAll),
    _appliance("appliance/keeps-subscriptions", "Nobody is ever unsubscribed.", _Keeps),
    _appliance("appliance/mute", "Clients get no answers.", _Mute),
)
