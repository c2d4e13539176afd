"""The controller of a P4 switch where nodes and links may fail, as FailingSwitch in impl/totalorder/authority.py.

It gives up links that are silent, tells every host the cut-off of the hosts behind them, and leaves the links out of
minimums once all have answered. Decisions are made here; what every packet needs is in the program, which answers when
it is asked.

Clauses: TO-FAIL, TO-ATOMIC, TO-RESTART.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from scatterproof.impl.totalorder.authority import tree
from scatterproof.impl.totalorder.failures import answer
from scatterproof.impl.totalorder.host import In, Out
from scatterproof.impl.totalorder.notices import GivenUp, Notices
from scatterproof.impl.totalorder.p4.chip import read, until
from scatterproof.impl.totalorder.p4.control import Controlled
from scatterproof.impl.totalorder.p4.frames import Ask, Reason
from scatterproof.impl.totalorder.p4.node import MakeTarget, P4Switch
from scatterproof.impl.totalorder.settings import settings
from scatterproof.spec.core import NodeConfig, Refuse, Send
from scatterproof.spec.topology import LinkId, NodeId
from scatterproof.spec.totalorder.messages import NOT_SPOKEN, Packet


class P4FailingSwitch(P4Switch):
    """Stops for good when the link from the root falls silent, or when it has begun anew and would have to give up a
    link whose ack barrier it does not know."""

    def __init__(self, config: NodeConfig, make_target: MakeTarget, *, clock_in_frame: bool = False) -> None:
        super().__init__(config, make_target, clock_in_frame=clock_in_frame)
        chosen = settings(config)
        self._tree = tree(config)
        self._timeout = chosen.failure_timeout_ns
        self._fresh = chosen.incarnation > 0
        self._next_link = dict(config.next_link)
        self._reached = {host for host, link in config.next_link if config.reaching[config.egress.index(link)]}
        self._ingress = config.ingress
        self._began: int | None = None
        self._notices = Notices(self._next_link, chosen.retransmit_timeout_ns)
        self._given_up, self._failed = self._notices.given_up, self._notices.failed
        self._controlled = Controlled()
        self._look_at = 0
        self.stopped = False

    def handle(self, event: In) -> Sequence[Out]:
        if self.stopped:
            return ()
        if self._began is None or not self._ingress:
            self._began = event.now
            self._look_at = event.now + self._timeout
        return super().handle(event)

    def next_deadline(self) -> int | None:
        if self.stopped:
            return None
        deadlines = (self._deadline, self._look_at, self._notices.again_at)
        return min(deadline for deadline in deadlines if deadline is not None)

    def _receive(self, now: int, link: LinkId, packet: Packet) -> Sequence[Out]:
        effects: list[Out] = [*self._chip.arrive(now, link, packet)]
        told, self._chip.told = self._chip.told, []
        for one in told:
            if one.reason is Reason.BEGAN_ANEW:
                effects.append(Refuse(link, "a host that has begun anew is not let in again (TO-RESTART)"))
                effects += self._give_up(now, (link,))
            elif one.reason is Reason.INTERCEPTED:
                effects += self._intercept(now, read(one.frame))
        return effects

    def _wake(self, now: int) -> Sequence[Out]:
        effects: list[Out] = []
        if now >= self._look_at:
            effects += self._look(now)
        if self.stopped:
            return ()
        if self._notices.due(now):
            effects += self._notify(now, self._given_up.values())
        if any(entry.removed for entry in self._given_up.values()):
            self._chip.ask(now, Ask.SETTLE)
        effects += super()._wake(now)
        return effects

    def _look(self, now: int) -> list[Out]:
        """Give up the links that have been silent for too long, or stop."""
        open_links = [link for link in self._ingress if link not in self._given_up]
        reports = {link: self._chip.report(now, link) for link in open_links}
        heard = {
            link: (self._began or 0) if report.heard_at is None else until(now, report.heard_at)
            for link, report in reports.items()
        }
        silent = [link for link in open_links if now - heard[link] >= self._timeout]
        if self._tree.up in silent:
            self.stopped = True
            return []
        still = [heard[link] for link in open_links if link not in silent]
        self._look_at = min(still) + self._timeout if still else now + self._timeout
        return self._give_up(now, silent)

    def _give_up(self, now: int, links: Sequence[LinkId]) -> list[Out]:
        if self._fresh and NOT_SPOKEN in [self._chip.report(now, link).ack for link in links]:
            self.stopped = True
            return []
        effects: list[Out] = []
        given_up = [self._freeze(now, link) for link in links]
        self._notices.expect(given_up)
        if given_up:
            self._control_anew()
        effects += self._notify(now, given_up)
        for entry in tuple(self._given_up.values()):
            self._remove_if_answered(now, entry)
        return effects

    def _freeze(self, now: int, link: LinkId) -> GivenUp:
        """Take nothing more from the link, and put nothing on the link back (TO-ATOMIC)."""
        hosts = self._behind(now, link)
        cut_off = self._chip.report(now, link).ack
        entry = self._notices.give_up(link, hosts, cut_off)
        closed = self._controlled.closed | {self._next_link[host] for host in hosts}
        self._controlled = replace(
            self._controlled, given_up=frozenset(self._given_up), failed=frozenset(self._failed), closed=closed
        )
        return entry

    def _behind(self, now: int, link: LinkId) -> frozenset[NodeId]:
        """The hosts behind a link. Hosts that never spoke fall silent together, and count as behind the first of their
        links."""
        if link not in self._tree.from_hosts:
            back = self._tree.back[link]
            return frozenset(host for host, towards in self._next_link.items() if towards == back)
        first = {one: self._chip.report(now, one).first_sender for one in self._tree.from_hosts}
        known = first[link]
        if known is not None:
            return frozenset({known})
        return self._tree.own - {one for one in first.values() if one is not None} - set(self._failed)

    def _notify(self, now: int, entries: Iterable[GivenUp]) -> list[Out]:
        return [effect for packet in self._notices.packets(now, entries) for effect in self._send(now, packet)]

    def _send(self, now: int, packet: Packet) -> list[Send[Packet]]:
        return self._chip.ask(now, Ask.SEND, link=self._next_link[packet.receiver], packet=packet)

    def _remove_if_answered(self, now: int, entry: GivenUp) -> None:
        if entry.removed or entry.unanswered:
            return
        entry.removed = True
        # What could be told until now stays told; the clock counts from the next time on.
        self._chip.ask(0, Ask.SETTLE)
        self._controlled = replace(self._controlled, left_out=self._controlled.left_out | {entry.link})
        self._control_anew()

    def _control_anew(self) -> None:
        self._tell(self._controlled)

    def _intercept(self, now: int, packet: Packet) -> list[Out]:
        """Take a packet for a host that has failed. Answers to notices about the host end here; other notices and
        recalls are answered in its name, as it will deliver nothing any more."""
        if (entry := self._notices.answered(packet)) is not None:
            self._remove_if_answered(now, entry)
        elif self._notices.is_asked(packet) and packet.sender in self._reached:
            return [*self._send(now, answer(packet))]
        return []
