"""What an appliance tells its neighbours that it wants, and what it waits for (spec/pubsub/modules/Propagation.tla).

Clauses: PS-COVER, PS-ROUTE. TLA+: `Kept`, `InOrder`, `Answers`, `Missing`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from scatterproof.impl.pubsub.rules import Rules
from scatterproof.spec.pubsub.messages import Packet, PacketName
from scatterproof.spec.topology import NodeId

Covers = Callable[[int, int], bool]


@dataclass(slots=True)
class Near:
    """A neighbour. told: the filters that it was told of and not told to drop, in their order; unheard: how many wants
    of each it has not answered; wanted: all that is wanted of it. wants: what it wants from here; due: those of it that
    are to be answered."""

    told: dict[int, None] = field(default_factory=dict)
    unheard: Counter[int] = field(default_factory=Counter)
    wanted: set[int] = field(default_factory=set)
    wants: set[int] = field(default_factory=set)
    due: set[int] = field(default_factory=set)


class Spreading:
    """near: by node."""

    def __init__(self, me: NodeId, neighbours: Iterable[NodeId], covers: Covers, rules: Rules) -> None:
        self._me, self._covers, self._rules = me, covers, rules
        self.near = {node: Near() for node in neighbours}

    def news(self, own: Collection[int]) -> dict[NodeId, tuple[Packet, ...]]:
        """What each neighbour is told now; own: the filters that clients have subscribed to."""
        found: dict[NodeId, tuple[Packet, ...]] = {}
        for node, near in self.near.items():
            others = (one.wants for other, one in self.near.items() if other != node)
            before, near.wanted = near.wanted, set(own).union(*others)
            kept = self._kept(near.wanted, near.told)
            new = (filter_ for filter_ in kept if filter_ not in near.told)
            wants = [filter_ for filter_ in new if self._rules.is_told(filter_ not in before, filter_ in before)]
            drops = [filter_ for filter_ in near.told if filter_ not in kept]
            near.unheard.update(wants)
            near.told = dict.fromkeys([*(one for one in near.told if one in kept), *wants])
            found[node] = self._rules.in_order(
                tuple(Packet(PacketName.WANT, self._me, filter=one) for one in wants),
                tuple(Packet(PacketName.DROP, self._me, filter=one) for one in drops),
            )
        return found

    def _kept(self, wanted: set[int], told: Collection[int]) -> list[int]:
        """Those that no other one covers. Of two that cover each other one stays: that which the neighbour knows."""
        places = {one: number for number, one in enumerate([*told, *sorted(wanted - set(told))])}

        def is_covered_by(one: int, other: int) -> bool:
            back = self._covers(one, other)
            return self._rules.stays_home(self._covers(other, one), back, places[one] < places[other])

        return [one for one in sorted(wanted) if not any(is_covered_by(one, other) for other in wanted - {one})]

    def is_in_force(self, filter_: int, but: NodeId | None = None) -> bool:
        """Whether all beyond each neighbour, but this one, know of the filter, or of one that covers it."""
        return all(self._is_known(near, filter_) for node, near in self.near.items() if node != but)

    def _is_known(self, near: Near, filter_: int) -> bool:
        known = (one for one in near.told if self._rules.is_known(near.unheard[one]))
        return any(one == filter_ or self._covers(one, filter_) for one in known)

    def want(self, node: NodeId, filter_: int) -> None:
        self.near[node].wants.add(filter_)
        self.near[node].due.add(filter_)

    def drop(self, node: NodeId, filter_: int) -> bool:
        """Whether the want is still to be answered: each is, once, so that they can be counted."""
        near = self.near[node]
        late = filter_ in near.due
        near.wants.discard(filter_)
        near.due.discard(filter_)
        return late

    def had(self, node: NodeId, filter_: int) -> None:
        self.near[node].unheard[filter_] -= 1

    def answers(self) -> list[tuple[NodeId, int]]:
        """The neighbours and filters whose wants can be answered now."""
        found = [
            (node, one)
            for node, near in self.near.items()
            for one in sorted(near.due)
            if self.is_in_force(one, but=node)
        ]
        for node, one in found:
            self.near[node].due.discard(one)
        return found
