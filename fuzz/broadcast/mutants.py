"""Hand-written mutants of the broadcast stack: literal rules of the source document, rules wrong in other ways that no
single change makes, and nodes that spoil what right rules decided. mutants.toml says in a sentence what each does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace as replace_fields
from typing import Any

from msgspec.structs import replace

from scatterproof.fuzz.altered import Alter, Altered, In, Out, Passing, deliveries, each, packets
from scatterproof.fuzz.protocol import HandMutant, changed_rules
from scatterproof.fuzz.tables import tables_of
from scatterproof.impl.broadcast import RULES, AnyCore, Rules, make_core
from scatterproof.impl.broadcast.literal_rules import LITERAL
from scatterproof.impl.broadcast.rules import Heads
from scatterproof.impl.broadcast.runs import Run
from scatterproof.spec.broadcast.messages import Delivery, Level, Packet, PacketKind
from scatterproof.spec.core import Began, Deliver, NodeConfig, PacketArrived, Send, Submitted

DATA, ACK = int(PacketKind.DATA), int(PacketKind.ACK)
_SENTENCES = tables_of("broadcast").sentences


def _by_rules(name: str, sentence: str, rules: Rules) -> HandMutant:
    return HandMutant(name, sentence, lambda config: make_core(config, rules), changed_rules(rules, RULES))


def _altered(alter: Callable[[NodeConfig], Alter]) -> Callable[[NodeConfig], AnyCore]:
    return lambda config: Altered(make_core(config), alter(config))


def _packets(when: Callable[[Packet], bool], change: Callable[[Packet], list[Packet]]) -> Callable[[NodeConfig], Alter]:
    """Change those packets sent for which `when` is true."""
    return lambda config: packets(lambda event, packet: change(packet) if when(packet) else [packet])


def _third(change: Callable[[Delivery], list[Delivery]]) -> Callable[[NodeConfig], Alter]:
    """Each third delivery of a process is changed."""
    return lambda config: deliveries(lambda count, one: change(one) if count % 3 == 0 else [one])


def _is_ack(packet: Packet) -> bool:
    return packet.kind == ACK


def _is_resent(packet: Packet) -> bool:
    return packet.kind == DATA and packet.resent


def _is_forwarded(packet: Packet) -> bool:
    return packet.kind == DATA and packet.source != packet.creator


def _delivers_own_at_once(config: NodeConfig) -> Alter:
    early: set[int] = set()

    def change(event: In, effect: Out) -> Sequence[Out]:
        if isinstance(effect, Deliver) and effect.message.creator == config.node and effect.message.number in early:
            return []
        if not isinstance(effect, Began) or effect.message.receiver >= 0:
            return [effect]
        numbers = range(effect.message.number, effect.message.number + effect.message.count)
        early.update(numbers)
        return [effect, *(Deliver(Delivery(config.node, number, effect.message.payload)) for number in numbers)]

    return each(change)


def _swaps_deliveries(config: NodeConfig) -> Alter:
    """Deliveries of one creator from one event, in reverse order."""

    def alter(event: In, effects: Sequence[Out]) -> Sequence[Out]:
        places = [place for place, effect in enumerate(effects) if isinstance(effect, Deliver)]
        out = list(effects)
        for place, other in zip(places, reversed(places), strict=True):
            out[place] = effects[other]
        return out

    return alter


def _swaps_in_causal_order(config: NodeConfig) -> Alter:
    """As `_swaps_deliveries`, at level lcb alone, where a creator's own messages depend on one another."""
    swaps = _swaps_deliveries(config)
    return swaps if config.parameters["level"] == Level.LCB else lambda event, effects: effects


def _delivers_copies(config: NodeConfig) -> Alter:
    """Whatever comes again is delivered again."""
    seen: set[tuple[int, int]] = set()

    def alter(event: In, effects: Sequence[Out]) -> Sequence[Out]:
        if not isinstance(event, PacketArrived) or event.packet.kind != DATA:
            return effects
        packet = event.packet
        if (packet.source, packet.pseq) not in seen:
            seen.add((packet.source, packet.pseq))
            return effects
        return [*effects, Deliver(Delivery(packet.creator, packet.first, packet.payload))]

    return alter


def _acknowledges_before_storing(config: NodeConfig) -> AnyCore:
    """Acknowledges every packet before it is stored, and then loses each third one."""
    back, come = dict(config.next_link), 0

    def instead(event: In) -> Sequence[Out] | None:
        nonlocal come
        if not isinstance(event, PacketArrived) or event.packet.kind != DATA or event.packet.resent:
            return None
        come += 1
        if come % 3:
            return None
        source, pseq = event.packet.source, event.packet.pseq
        return [Send(back[source], Packet(ACK, config.node, source, config.node, pseq - 1, 1, pseq))]

    return Passing(make_core(config), instead)


def _loses_submissions(config: NodeConfig) -> AnyCore:
    handed = 0

    def instead(event: In) -> Sequence[Out] | None:
        nonlocal handed
        handed += isinstance(event, Submitted)
        return [] if isinstance(event, Submitted) and handed % 2 == 0 else None

    return Passing(make_core(config), instead)


def _acknowledges_once(config: NodeConfig) -> Alter:
    said: set[tuple[int, int]] = set()

    def change(packet: Packet) -> list[Packet]:
        if (packet.receiver, packet.pseq) in said:
            return []
        said.add((packet.receiver, packet.pseq))
        return [packet]

    return _packets(_is_ack, change)(config)


def _one_at_most(heads: Heads, received: int) -> list[Run]:
    run = heads.head(received)
    return [heads.deliver(run)] if run is not None and heads.is_ready(run) else []


def _own_creator_only(heads: Heads, received: int) -> list[Run]:
    found: list[Run] = []
    while (run := heads.head(received)) is not None and heads.is_ready(run):
        found.append(heads.deliver(run))
    return found


def _over_a_gap(prefix: int, beyond: Mapping[int, int]) -> int:
    return max(beyond.values(), default=prefix)


# By rule and how another function in its place is wrong.
_RULES: dict[str, Callable[..., Any]] = {
    "heard_first/own-alone": lambda own, forwarder: own,
    "majority/at-once": lambda heard, processes: True,
    "majority/by-all": lambda heard, count: heard.bit_count() == count,
    "forwards_to/nobody": lambda peer, forwarder, creator: False,
    "forwards_to/not-back": lambda peer, forwarder, _: peer != forwarder,
    "forwards_to/not-to-the-creator": lambda peer, forwarder, creator: peer != creator or forwarder == creator,
    "enters_pending/always": lambda delivered: True,
    "prefix_with/over-a-gap": _over_a_gap,
    "ready/any-entry": lambda clock, delivered: not clock or any(map(int.__le__, clock, delivered)),
    "ready/without-dependencies": lambda clock, delivered: True,
    "attached/own-unset": lambda clock, own, begun: tuple(clock),
    "look/one-at-most": _one_at_most,
    "look/creator-only": _own_creator_only,
}
_NODES: dict[str, Callable[[NodeConfig], AnyCore]] = {
    "link/acknowledges-before-storing": _acknowledges_before_storing,
    "application/loses-submissions": _loses_submissions,
}
# By name, how what right rules decided is spoilt on its way out.
_ALTERED: dict[str, Callable[[NodeConfig], Alter]] = {
    "link/new-number-when-resent": _packets(_is_resent, lambda p: [replace(p, pseq=p.pseq + 1000)]),
    "link/resent-not-said": _packets(_is_resent, lambda p: [replace(p, resent=False)]),
    "link/other-contents-when-resent": _packets(_is_resent, lambda p: [replace(p, payload=b"?", count=1)]),
    "link/never-resends": _packets(_is_resent, lambda p: []),
    "link/never-acknowledges": _packets(_is_ack, lambda p: []),
    "link/acknowledges-once": _acknowledges_once,
    "link/acknowledges-one-more": _packets(_is_ack, lambda p: [replace(p, count=p.count + 1)]),
    "link/prefix-one-further": _packets(_is_ack, lambda p: [replace(p, first=p.first + 1)]),
    "link/delivers-copies": _delivers_copies,
    "uniform/delivers-twice": _third(lambda d: [d, d]),
    "uniform/other-contents": _third(lambda d: [replace(d, payload=b"?")]),
    "uniform/invents": _third(lambda d: [replace(d, number=d.number + 50)]),
    "uniform/drops": _third(lambda d: []),
    "uniform/other-creator": lambda config: deliveries(lambda count, d: [replace(d, creator=1 - min(d.creator, 1))]),
    "uniform/delivers-own-at-once": _delivers_own_at_once,
    "uniform/forwards-other-contents": _packets(_is_forwarded, lambda p: [replace(p, payload=b"?", count=1)]),
    "order/swaps": _swaps_deliveries,
    "order/swaps-in-causal-order": _swaps_in_causal_order,
    "clock/changed-when-forwarded": _packets(
        _is_forwarded, lambda p: [replace(p, clock=(p.clock[0] + 1, *p.clock[1:]) if p.clock else ())]
    ),
    "begun/not-said": lambda config: each(lambda event, effect: [] if isinstance(effect, Began) else [effect]),
}
MUTANTS = (
    *(
        _by_rules(f"literal/{name.replace(' ', '-')}", f"As document 004 has it, or may be read: {name}.", rules)
        for name, rules in LITERAL.items()
    ),
    *(
        _by_rules(name, _SENTENCES[name], replace_fields(RULES, **{name.partition("/")[0]: function}))
        for name, function in _RULES.items()
    ),
    *(HandMutant(name, _SENTENCES[name], make_node) for name, make_node in _NODES.items()),
    *(HandMutant(name, _SENTENCES[name], _altered(alter)) for name, alter in _ALTERED.items()),
)
