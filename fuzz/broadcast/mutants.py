"""Hand-written mutants of the broadcast stack: literal rules of the source document, rules wrong in other ways that no
single change makes, and nodes that spoil what right rules decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from dataclasses import replace as replace_fields
from typing import Any

from msgspec.structs import replace

from fuzz.altered import Alter, Altered
from fuzz.protocol import HandMutant
from impl.broadcast import RULES, AnyCore, Rules, make_core
from impl.broadcast.literal_rules import LITERAL
from impl.broadcast.runs import Run
from spec.broadcast.messages import Delivery, Level, Packet, PacketKind
from spec.core import Began, Deliver, Effect, Event, NodeConfig, PacketArrived, Send, Submitted

Effects = Sequence[Effect[Any, Any]]
DATA, ACK = int(PacketKind.DATA), int(PacketKind.ACK)


def _by_rules(name: str, sentence: str, rules: Rules) -> HandMutant:
    def make_node(config: NodeConfig) -> AnyCore:
        return make_core(config, rules)

    named = [field.name for field in fields(Rules)]
    changed = {rule: getattr(rules, rule) for rule in named if getattr(rules, rule) is not getattr(RULES, rule)}
    return HandMutant(name=name, sentence=sentence, make_node=make_node, rules=changed)


def _altered(name: str, sentence: str, alter: Callable[[NodeConfig], Alter]) -> HandMutant:
    def make_node(config: NodeConfig) -> AnyCore:
        return Altered(make_core(config), alter(config))

    return HandMutant(name=name, sentence=sentence, make_node=make_node, rules={})


def _packets(change: Callable[[Packet], list[Packet]]) -> Callable[[NodeConfig], Alter]:
    """Every packet that is sent, changed, left out or made more of."""

    def alter(event: Event[Packet], effects: Effects) -> Effects:
        out: list[Effect[Any, Any]] = []
        for effect in effects:
            if isinstance(effect, Send):
                out += [Send(effect.link, packet) for packet in change(effect.packet)]
            else:
                out.append(effect)
        return out

    return lambda config: alter


def _data(change: Callable[[Packet], Packet], when: Callable[[Packet], bool]) -> Callable[[NodeConfig], Alter]:
    return _packets(lambda packet: [change(packet) if packet.kind == DATA and when(packet) else packet])


def _acks(change: Callable[[Packet], list[Packet]]) -> Callable[[NodeConfig], Alter]:
    return _packets(lambda packet: change(packet) if packet.kind == ACK else [packet])


def _deliveries(change: Callable[[int, Delivery], list[Delivery]]) -> Callable[[NodeConfig], Alter]:
    """Every delivery, counted from 1 at each process, changed."""

    def made(config: NodeConfig) -> Alter:
        count = [0]

        def alter(event: Event[Packet], effects: Effects) -> Effects:
            out: list[Effect[Any, Any]] = []
            for effect in effects:
                if isinstance(effect, Deliver):
                    count[0] += 1
                    out += [Deliver(message) for message in change(count[0], effect.message)]
                else:
                    out.append(effect)
            return out

        return alter

    return made


def _delivers_own_at_once(config: NodeConfig) -> Alter:
    early: set[int] = set()

    def alter(event: Event[Packet], effects: Effects) -> Effects:
        out: list[Effect[Any, Any]] = []
        for effect in effects:
            if isinstance(effect, Deliver) and effect.message.creator == config.node and effect.message.number in early:
                continue
            out.append(effect)
            if isinstance(effect, Began) and effect.message.receiver < 0:
                numbers = range(effect.message.number, effect.message.number + effect.message.count)
                early.update(numbers)
                out += [Deliver(Delivery(config.node, number, effect.message.payload)) for number in numbers]
        return out

    return alter


def _swaps_deliveries(config: NodeConfig) -> Alter:
    """Deliveries of one creator that come in one handling, the last of them first."""

    def alter(event: Event[Packet], effects: Effects) -> Effects:
        places = [place for place, effect in enumerate(effects) if isinstance(effect, Deliver)]
        out = list(effects)
        for place, other in zip(places, reversed(places), strict=True):
            out[place] = effects[other]
        return out

    return alter


def _swaps_in_causal_order(config: NodeConfig) -> Alter:
    """The same at level lcb alone, where a creator's own messages depend on one another."""
    swaps = _swaps_deliveries(config)
    return swaps if config.parameters["level"] == Level.LCB else lambda event, effects: effects


def _delivers_copies(config: NodeConfig) -> Alter:
    """Whatever comes again is delivered again."""
    seen: set[tuple[int, int]] = set()

    def alter(event: Event[Packet], effects: Effects) -> Effects:
        if not isinstance(event, PacketArrived) or event.packet.kind != DATA:
            return effects
        packet = event.packet
        if (packet.source, packet.pseq) not in seen:
            seen.add((packet.source, packet.pseq))
            return effects
        return [*effects, Deliver(Delivery(packet.creator, packet.first, packet.payload))]

    return alter


class _Answering:
    """Acknowledges every packet before it is stored, and then loses each third one."""

    def __init__(self, config: NodeConfig) -> None:
        self._core: AnyCore = make_core(config)
        self._me = config.node
        self._back = dict(config.next_link)
        self._come = 0

    def handle(self, event: Event[Packet]) -> Effects:
        if isinstance(event, PacketArrived) and event.packet.kind == DATA and not event.packet.resent:
            self._come += 1
            if self._come % 3 == 0:
                source, pseq = event.packet.source, event.packet.pseq
                return [Send(self._back[source], Packet(ACK, self._me, source, self._me, pseq - 1, 1, pseq))]
        return self._core.handle(event)

    def next_deadline(self) -> int | None:
        return self._core.next_deadline()


class _Forgetful:
    """Loses each second submission."""

    def __init__(self, config: NodeConfig) -> None:
        self._core: AnyCore = make_core(config)
        self._handed = 0

    def handle(self, event: Event[Packet]) -> Effects:
        if isinstance(event, Submitted):
            self._handed += 1
            if self._handed % 2 == 0:
                return []
        return self._core.handle(event)

    def next_deadline(self) -> int | None:
        return self._core.next_deadline()


def _answered_once(config: NodeConfig) -> Alter:
    """No packet is acknowledged a second time."""
    said: set[tuple[int, int]] = set()

    def alter(event: Event[Packet], effects: Effects) -> Effects:
        out: list[Effect[Any, Any]] = []
        for effect in effects:
            if isinstance(effect, Send) and effect.packet.kind == ACK:
                if (effect.link, effect.packet.pseq) in said:
                    continue
                said.add((effect.link, effect.packet.pseq))
            out.append(effect)
        return out

    return alter


def _new_number(config: NodeConfig) -> Alter:
    """What is sent again gets a number far above."""
    return _data(lambda packet: replace(packet, pseq=packet.pseq + 1000), lambda packet: packet.resent)(config)


def _own_alone(own: int, forwarder: int) -> int:
    return own


def _at_once(heard: int, processes: int) -> bool:
    return True


def _by_all(heard: int, processes: int) -> bool:
    return heard.bit_count() == processes


def _to_nobody(peer: int, forwarder: int, creator: int) -> bool:
    return False


def _not_back(peer: int, forwarder: int, creator: int) -> bool:
    return peer != forwarder


def _not_to_the_creator(peer: int, forwarder: int, creator: int) -> bool:
    return peer != creator or forwarder == creator


def _always(delivered: bool) -> bool:
    return True


def _over_a_gap(prefix: int, beyond: Mapping[int, int]) -> int:
    return max(beyond.values(), default=prefix)


def _any_entry(clock: Sequence[int], delivered: Sequence[int]) -> bool:
    return not clock or any(map(int.__le__, clock, delivered))


def _no_dependency(clock: Sequence[int], delivered: Sequence[int]) -> bool:
    return True


def _own_unset(dependency_clock: Sequence[int], own: int, begun: int) -> tuple[int, ...]:
    return tuple(dependency_clock)


def _one_at_most(heads: Any, received: int) -> list[Run]:
    run = heads.head(received)
    return [heads.deliver(run)] if run is not None and heads.is_ready(run) else []


def _own_creator_only(heads: Any, received: int) -> list[Run]:
    found: list[Run] = []
    while (run := heads.head(received)) is not None and heads.is_ready(run):
        found.append(heads.deliver(run))
    return found


_LITERAL = tuple(
    _by_rules(f"literal/{name.replace(' ', '-')}", f"As document 004 has it, or may be read: {name}.", rules)
    for name, rules in LITERAL.items()
)
_RULES = (
    _by_rules(
        "heard_first/own-alone", "The first forwarder does not count.", replace_fields(RULES, heard_first=_own_alone)
    ),
    _by_rules("majority/at-once", "A message is delivered when it comes.", replace_fields(RULES, majority=_at_once)),
    _by_rules("majority/by-all", "All processes must have a message.", replace_fields(RULES, majority=_by_all)),
    _by_rules("forwards_to/nobody", "Nothing is sent or forwarded.", replace_fields(RULES, forwards_to=_to_nobody)),
    _by_rules(
        "forwards_to/not-back", "Nothing goes back to the forwarder.", replace_fields(RULES, forwards_to=_not_back)
    ),
    _by_rules(
        "forwards_to/not-to-the-creator",
        "What another forwarded does not go to the creator.",
        replace_fields(RULES, forwards_to=_not_to_the_creator),
    ),
    _by_rules("enters_pending/always", "A late copy is pending again.", replace_fields(RULES, enters_pending=_always)),
    _by_rules(
        "prefix_with/over-a-gap",
        "The prefix passes over what is missing.",
        replace_fields(RULES, prefix_with=_over_a_gap),
    ),
    _by_rules("ready/any-entry", "One dependency is enough.", replace_fields(RULES, ready=_any_entry)),
    _by_rules("ready/without-dependencies", "Nothing waits for others.", replace_fields(RULES, ready=_no_dependency)),
    _by_rules("attached/own-unset", "Own messages are not counted.", replace_fields(RULES, attached=_own_unset)),
    _by_rules(
        "look/one-at-most", "One message is delivered for each reception.", replace_fields(RULES, look=_one_at_most)
    ),
    _by_rules(
        "look/creator-only",
        "Only the creator's own messages are looked at.",
        replace_fields(RULES, look=_own_creator_only),
    ),
)
_NODES = (
    HandMutant(
        name="link/acknowledges-before-storing",
        sentence="Each third packet is lost after its acknowledgement.",
        make_node=_Answering,
        rules={},
    ),
    HandMutant(
        name="application/loses-submissions",
        sentence="Each second submission is forgotten.",
        make_node=_Forgetful,
        rules={},
    ),
    _altered("link/new-number-when-resent", "What is sent again gets a new number.", _new_number),
    _altered(
        "link/resent-not-said",
        "What is sent again looks new.",
        _data(lambda p: replace(p, resent=False), lambda p: p.resent),
    ),
    _altered(
        "link/other-contents-when-resent",
        "What is sent again has other contents.",
        _data(lambda p: replace(p, payload=b"?", count=1), lambda p: p.resent),
    ),
    _altered(
        "link/never-resends", "Nothing is sent again.", _packets(lambda p: [] if p.kind == DATA and p.resent else [p])
    ),
    _altered("link/never-acknowledges", "Nothing is acknowledged.", _acks(lambda p: [])),
    _altered("link/acknowledges-once", "No packet is acknowledged a second time.", _answered_once),
    _altered(
        "link/acknowledges-one-more",
        "The packet after the last is acknowledged, too.",
        _acks(lambda p: [replace(p, count=p.count + 1)]),
    ),
    _altered(
        "link/prefix-one-further",
        "One packet more is said to have come.",
        _acks(lambda p: [replace(p, first=p.first + 1)]),
    ),
    _altered("link/delivers-copies", "What comes again is delivered again.", _delivers_copies),
    _altered(
        "uniform/delivers-twice",
        "Each third delivery is repeated.",
        _deliveries(lambda k, d: [d, d] if k % 3 == 0 else [d]),
    ),
    _altered(
        "uniform/other-contents",
        "Each third delivery has other contents.",
        _deliveries(lambda k, d: [replace(d, payload=b"?")] if k % 3 == 0 else [d]),
    ),
    _altered(
        "uniform/invents",
        "Each third delivery has a number that is none.",
        _deliveries(lambda k, d: [replace(d, number=d.number + 50)] if k % 3 == 0 else [d]),
    ),
    _altered("uniform/drops", "Each third delivery is left out.", _deliveries(lambda k, d: [] if k % 3 == 0 else [d])),
    _altered(
        "uniform/other-creator",
        "Deliveries name the next process.",
        _deliveries(lambda k, d: [replace(d, creator=1 - min(d.creator, 1))]),
    ),
    _altered(
        "uniform/delivers-own-at-once",
        "One's own messages are delivered when they are begun with.",
        _delivers_own_at_once,
    ),
    _altered(
        "uniform/forwards-other-contents",
        "What is forwarded has other contents.",
        _data(lambda p: replace(p, payload=b"?", count=1), lambda p: p.source != p.creator),
    ),
    _altered("order/swaps", "What is delivered at once comes in reverse.", _swaps_deliveries),
    _altered(
        "order/swaps-in-causal-order",
        "What is delivered at once in causal order comes in reverse.",
        _swaps_in_causal_order,
    ),
    _altered(
        "clock/changed-when-forwarded",
        "A forwarded clock has its first entry raised.",
        _data(
            lambda p: replace(p, clock=(p.clock[0] + 1, *p.clock[1:]) if p.clock else ()),
            lambda p: p.source != p.creator,
        ),
    ),
    _altered(
        "begun/not-said",
        "Beginnings are not told.",
        lambda config: lambda event, effects: [effect for effect in effects if not isinstance(effect, Began)],
    ),
)
MUTANTS = (*_LITERAL, *_RULES, *_NODES)
