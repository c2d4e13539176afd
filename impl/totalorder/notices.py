"""The notices of a switch that has given up links: what they say, to whom, and who has not answered them.

Any form of a switch keeps them alike; how it learns of silence, and how it sends, is its own.

Clauses: TO-FAIL, TO-ATOMIC.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from scatterproof.impl.totalorder.failures import notice
from scatterproof.spec.topology import LinkId, NodeId
from scatterproof.spec.totalorder.messages import ANSWER, Packet, PacketKind

_NOTICE = int(PacketKind.NOTICE)


@dataclass(slots=True, kw_only=True, eq=False)
class GivenUp:
    """A link that was given up, the hosts behind it, their cut-off, and who has not answered for which of them."""

    link: LinkId
    hosts: frozenset[NodeId]
    cut_off: int
    unanswered: dict[tuple[NodeId, NodeId], None] = field(default_factory=dict)
    removed: bool = False


class Notices:
    """given_up: by link. failed: by host. again_at: when notices that wait for answers are sent again, or None."""

    def __init__(self, hosts: Iterable[NodeId], again_after: int) -> None:
        self.given_up: dict[LinkId, GivenUp] = {}
        self.failed: dict[NodeId, GivenUp] = {}
        self.again_at: int | None = None
        self._hosts = tuple(hosts)
        self._again_after = again_after

    def give_up(self, link: LinkId, hosts: frozenset[NodeId], cut_off: int) -> GivenUp:
        entry = self.given_up[link] = GivenUp(link=link, hosts=hosts, cut_off=cut_off)
        self.failed.update(dict.fromkeys(hosts, entry))
        return entry

    def expect(self, fresh: Sequence[GivenUp]) -> None:
        """Of every host that has not failed, answers about these; none of those that have failed."""
        for entry in self.given_up.values():
            for host in self.failed:
                for failed in entry.hosts:
                    entry.unanswered.pop((failed, host), None)
            if entry in fresh:
                others = [host for host in self._hosts if host not in self.failed]
                entry.unanswered = {(failed, host): None for failed in entry.hosts for host in others}

    def due(self, now: int) -> bool:
        return self.again_at is not None and now >= self.again_at

    def packets(self, now: int, entries: Iterable[GivenUp]) -> list[Packet]:
        """A notice of these to every host that has not answered it; those without an answer are due again."""
        waiting = any(entry.unanswered for entry in self.given_up.values())
        self.again_at = now + self._again_after if waiting else None
        return [notice(failed, host, entry.cut_off) for entry in entries for failed, host in entry.unanswered]

    def answered(self, packet: Packet) -> GivenUp | None:
        """What was given up and this packet, for a host that has failed, is an answer about; it is noted."""
        entry = self.failed[packet.receiver]
        if packet.kind != _NOTICE or packet.number != ANSWER or packet.timestamp != entry.cut_off + 1:
            return None
        entry.unanswered.pop((packet.receiver, packet.sender), None)
        return entry

    def is_asked(self, packet: Packet) -> bool:
        """Whether the packet, for a host that has failed, is to be answered in its name, as it will deliver nothing any
        more."""
        return packet.kind == _NOTICE and not packet.number & ANSWER and packet.sender not in self.failed
