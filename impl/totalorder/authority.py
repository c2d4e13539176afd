"""A switch where nodes and links may fail: it gives up links that are silent, tells every host the cut-off of the hosts
behind them, and leaves the links out of its minimums once all have answered.

The network is a tree with links both ways. Which way the root lies follows from the routes: it is the switch of the
host with the least number, and the part of a broken network that it is in goes on.

Clauses: TO-FAIL, TO-ATOMIC, TO-RESTART.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scatterproof.impl.totalorder.failures import answer
from scatterproof.impl.totalorder.host import In, Out
from scatterproof.impl.totalorder.ingress import Refusal
from scatterproof.impl.totalorder.notices import GivenUp, Notices
from scatterproof.impl.totalorder.reliable_switch import ReliableSwitch
from scatterproof.impl.totalorder.rules import RULES, Rules
from scatterproof.impl.totalorder.settings import settings
from scatterproof.spec.core import NodeConfig, Refuse, Send
from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import LinkId, NodeId
from scatterproof.spec.totalorder.messages import NOT_SPOKEN, Packet, PacketKind

_BEACON, _NOTICE = int(PacketKind.BEACON), int(PacketKind.NOTICE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A switch's place in it.

    back: the egress link to where each ingress link comes from, but for links from hosts, which the routes do not tell
        apart.
    own: the hosts that are next to it.
    up: the ingress link from the root; None at the root.
    """

    back: dict[LinkId, LinkId]
    from_hosts: frozenset[LinkId]
    own: frozenset[NodeId]
    up: LinkId | None


def tree(config: NodeConfig) -> Tree:
    """BadInput where the switch's links are not those of a tree."""
    unreached = {
        link: [e for e, reaching in zip(config.egress, config.reaching, strict=True) if link not in reaching]
        for link in config.ingress
    }
    back = {link: towards[0] for link, towards in unreached.items() if towards}
    from_hosts = frozenset(link for link, towards in unreached.items() if not towards)
    towards_hosts = set(config.egress) - set(back.values())
    own = frozenset(host for host, link in config.next_link if link in towards_hosts)
    sound = (
        len(config.ingress) == len(config.egress)
        and all(len(towards) <= 1 for towards in unreached.values())
        and len(set(back.values())) == len(back)
        and len(own) == len(from_hosts) == len(towards_hosts)
    )
    if not sound:
        raise BadInput(
            f"node {config.node}: failures are handled in trees with links both ways, where each host has one link "
            f"each way; set failure_timeout_ns to 0 in other networks"
        )
    # The way to the first host of all; nothing passes a switch that leads to none.
    root = min(config.next_link)[1] if config.next_link else None
    return Tree(
        back=back, from_hosts=from_hosts, own=own, up=next((k for k, towards in back.items() if towards == root), None)
    )


class FailingSwitch(ReliableSwitch):
    """It stops for good when the link from the root falls silent, or, having begun anew, it would have to give up one
    whose ack barrier it does not know."""

    def __init__(self, config: NodeConfig, rules: Rules = RULES) -> None:
        super().__init__(config, rules)
        chosen = settings(config)
        self._rules = rules
        self._tree = tree(config)
        self._timeout = chosen.failure_timeout_ns
        self._fresh = chosen.incarnation > 0
        self._next_link = dict(config.next_link)
        self._towards = {host: found for routes in self._onward.values() for host, found in routes.items()}
        self._ingress = config.ingress
        self._heard: dict[LinkId, int] = {}
        self._neighbours: dict[LinkId, NodeId] = {}  # by ingress link from a host, once it has spoken
        self._notices = Notices(self._next_link, chosen.retransmit_timeout_ns)
        self._given_up, self._failed = self._notices.given_up, self._notices.failed
        self._look_at = 0
        self._links.allow(_NOTICE)
        self.stopped = False

    def handle(self, event: In) -> Sequence[Out]:
        if self.stopped:
            return ()
        if not self._heard:
            self._heard = dict.fromkeys(self._ingress, event.now)
            self._look_at = event.now + self._timeout
        return super().handle(event)

    def next_deadline(self) -> int | None:
        if self.stopped:
            return None
        deadlines = (self._deadline, self._look_at, self._notices.again_at)
        return min(deadline for deadline in deadlines if deadline is not None)

    def _wake(self, now: int) -> Sequence[Out]:
        effects: list[Out] = []
        if now >= self._look_at:
            effects += self._look(now)
        if self.stopped:
            return ()
        if self._notices.due(now):
            effects += self._notify(now, self._given_up.values())
        for entry in self._given_up.values():
            if entry.removed:
                for group in self._groups:
                    group.values.pass_time(now)
                break
        effects += super()._wake(now)
        return effects

    def _look(self, now: int) -> list[Out]:
        """Give up the links that have been silent for too long, or stop."""
        open_links = [link for link in self._ingress if link not in self._given_up]
        silent = [link for link in open_links if now - self._heard[link] >= self._timeout]
        if self._tree.up in silent:
            self.stopped = True
            return []
        # Where every link is given up there is nothing more to look for.
        heard = [self._heard[link] for link in open_links if link not in silent]
        self._look_at = min(heard) + self._timeout if heard else now + self._timeout
        return self._give_up(now, silent)

    def _give_up(self, now: int, links: Sequence[LinkId]) -> list[Out]:
        # What was heard may have told no ack barrier: a cut-off of 0 would be below what hosts have delivered.
        if self._fresh and NOT_SPOKEN in [self._links.acks[self._links.places[link]] for link in links]:
            self.stopped = True
            return []
        effects: list[Out] = []
        given_up = [self._freeze(link) for link in links]
        self._notices.expect(given_up)
        effects += self._notify(now, given_up)
        for entry in tuple(self._given_up.values()):
            self._remove_if_answered(entry)
        return effects

    def _freeze(self, link: LinkId) -> GivenUp:
        """Take nothing more from the link, and put nothing on the link back: those behind it are to hear nothing that
        the others do not know them to have heard (TO-ATOMIC)."""
        place = self._links.places[link]
        hosts = self._behind(link)
        cut_off = self._rules.cut_off(self._links.acks[place], self._links.barriers[place])
        entry = self._notices.give_up(link, hosts, cut_off)
        if self._rules.closes_back():
            closed = {self._next_link[host] for host in hosts}
            for group in self._groups:
                group.carriers = [carrier for carrier in group.carriers if carrier.link not in closed]
        return entry

    def _behind(self, link: LinkId) -> frozenset[NodeId]:
        """The hosts behind a link. Those that never spoke are told apart by nothing: they fall silent together, and
        count as behind the first of their links."""
        if link not in self._tree.from_hosts:
            back = self._tree.back[link]
            return frozenset(host for host, towards in self._next_link.items() if towards == back)
        if link in self._neighbours:
            return frozenset({self._neighbours[link]})
        return self._tree.own - set(self._neighbours.values()) - set(self._failed)

    def _notify(self, now: int, entries: Iterable[GivenUp]) -> list[Out]:
        return [self._send(now, packet) for packet in self._notices.packets(now, entries)]

    def _send(self, now: int, packet: Packet) -> Send[Packet]:
        carrier, group = self._towards[packet.receiver]
        return carrier.put(now, packet, group.values)

    def _remove_if_answered(self, entry: GivenUp) -> None:
        if entry.removed or not self._rules.removes(len(entry.unanswered)):
            return
        entry.removed = True
        for group in self._fed[entry.link]:
            group.values.leave(self._links, self._links.places[entry.link])
        self._fed[entry.link] = []

    def _receive(self, now: int, link: LinkId, packet: Packet) -> Sequence[Out]:
        if link in self._given_up:
            return (Refuse(link, f"link {link} was silent for {self._timeout} ns and is given up (TO-FAIL)"),)
        if packet.incarnation and link in self._tree.from_hosts:
            refused = Refuse(link, "a host that has begun anew is not let in again (TO-RESTART)")
            return (refused, *self._give_up(now, (link,)))
        if packet.kind != _BEACON and packet.receiver in self._failed and self._rules.closes_back():
            return self._intercept(now, link, packet)
        effects = super()._receive(now, link, packet)
        if not (effects and isinstance(effects[0], Refuse)):
            self._listen(now, link, packet)
        return effects

    def _listen(self, now: int, link: LinkId, packet: Packet) -> None:
        self._heard[link] = now
        if link in self._tree.from_hosts and link not in self._neighbours:
            self._neighbours[link] = packet.sender

    def _intercept(self, now: int, link: LinkId, packet: Packet) -> Sequence[Out]:
        """Take a packet for a host that has failed, as far as it speaks of its link. Answers to notices about the host
        end here; other notices and recalls are answered in its name, as it will deliver nothing any more."""
        try:
            place = self._links.check(link, packet)
        except Refusal as refusal:
            return (Refuse(link, str(refusal)),)
        self._take(place, link, packet)
        self._listen(now, link, packet)
        if (entry := self._notices.answered(packet)) is not None:
            self._remove_if_answered(entry)
        elif self._notices.is_asked(packet) and packet.sender in self._towards:
            return (self._send(now, answer(packet)),)
        return ()
