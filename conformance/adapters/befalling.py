"""What befell the nodes, links and packets of a run in datagram mode: done to them at the relay, and told as rows."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence

from scatterproof.conformance.adapters.logs import NodeLog
from scatterproof.conformance.relay.links import CARRIED, LOST, LinkRelay
from scatterproof.spec.schedule import Failure, FailureKind, Schedule
from scatterproof.spec.topology import LinkId, NodeId
from scatterproof.spec.trace import ABSENT, Kind, Row, schema


class Befalling:
    """lives: by node and life, the logs; they grow while this is used."""

    def __init__(self, schedule: Schedule, relay: LinkRelay, lives: Sequence[Sequence[NodeLog]]) -> None:
        self._schedule = schedule
        self._relay = relay
        self._lives = lives
        self._failed: list[Row] = []
        # By link: how many datagrams the relay had got, and how many it had carried, whenever its source or target
        # crashed; and when that was.
        self._got: defaultdict[LinkId, list[tuple[int, int]]] = defaultdict(list)
        self._carried: defaultdict[LinkId, list[tuple[int, int]]] = defaultdict(list)

    def crash(self, node: NodeId) -> None:
        """The node's process has gone."""
        now = time.monotonic_ns()
        for link in self._relay.links:
            ends = self._schedule.topology.links[link]
            if ends.source == node:
                self._relay.drain(link)
                self._got[link].append((self._relay.links[link].received, now))
            if ends.target == node:
                self._relay.lead(link, None)
                self._carried[link].append((self._relay.links[link].fates.count(CARRIED), now))
        self._note(Kind.CRASHED, now, node)

    def restart(self, node: NodeId) -> None:
        """A new process is in the node's place."""
        self._note(Kind.RESTARTED, time.monotonic_ns(), node)

    def strike(self, failure: Failure) -> None:
        """A link is cut, or mended."""
        source = self._schedule.topology.links[failure.link].source
        if failure.kind is FailureKind.CUT:
            self._relay.cut(failure.link)
            self._note(Kind.CRASHED, time.monotonic_ns(), source, failure.link)
        else:
            self._relay.mend(failure.link)
            self._note(Kind.RESTARTED, time.monotonic_ns(), source, failure.link)

    def missing(self, ports: Iterable[int]) -> list[str]:
        """Why the run does not show what the schedule meant it to: faults that befell nobody, datagrams that the system
        dropped at the relay or at these ports."""
        unseen: defaultdict[tuple[LinkId, str], list[str]] = defaultdict(list)
        for fault in self._relay.to_come():
            unseen[fault.link, fault.kind].append(str(fault.index))
        found = [
            f"packet {', '.join(indices)} of link {link} was never sent, so that the schedule could not {kind} it"
            for (link, kind), indices in unseen.items()
        ]
        dropped = self._relay.dropped_by_system(ports)
        if dropped:
            found.append(f"the system dropped {dropped} datagrams: they came faster than they were taken")
        return found

    def notes(self) -> list[str]:
        """What the relay did because the schedule says so, and what it kept away."""
        links = self._relay.links.values()
        lost, delayed = sum(link.lost for link in links), sum(link.delayed for link in links)
        notes = [f"the relay lost {lost} packets and held back {delayed}"] if lost or delayed else []
        strange = sum(link.strange for link in links)
        return [*notes, f"the relay dropped {strange} datagrams of strangers"] if strange else notes

    def rows(self) -> list[Row]:
        """What befell, in the order of time; once all logs were read to their ends."""
        rows = [*self._failed, *(row for link in self._relay.links for row in self._lost_on(link))]
        return sorted(rows)

    def _lost_on(self, link: LinkId) -> list[Row]:
        """The packets of the link that never arrived: the relay lost them; or their source crashed when its log had
        them and the link had not, or their target when they had come and it had not seen them."""
        carriage, source = self._relay.links[link], self._schedule.topology.links[link].source
        counts = [log.sent(link) for log in self._lives[source]]
        ends = self._got[link]
        numbers: list[int] = []  # by datagram: as the logs of the source's lives count on
        lost: dict[int, int] = {}  # by that number: when
        begin = offset = 0
        for life, count in enumerate(counts):
            end, when = ends[life] if life < len(ends) else (carriage.received, 0)
            numbers += range(offset, offset + end - begin)
            if life < len(ends):
                lost |= dict.fromkeys(range(offset + end - begin, offset + count), when)
            begin, offset = end, offset + count
        for index, when in carriage.lost_ns.items():
            if index < len(numbers) and carriage.fates[index] == LOST:
                lost[numbers[index]] = when
        carried = [number for number, fate in zip(numbers, carriage.fates, strict=False) if fate == CARRIED]
        first = 0
        for log, (last, when) in zip(
            self._lives[self._schedule.topology.links[link].target], self._carried[link], strict=False
        ):
            lost |= dict.fromkeys(carried[first + log.arrived(link) : last], when)
            first = last
        return [self._row(Kind.LOST, when, source, link, number) for number, when in lost.items()]

    def _note(self, kind: Kind, now: int, node: NodeId, link: LinkId = ABSENT) -> None:
        self._failed.append(self._row(kind, now, node, link))

    def _row(self, kind: Kind, now: int, node: NodeId, link: LinkId = ABSENT, number: int = ABSENT) -> Row:
        known = {"time_ns": now, "node": node, "kind": int(kind), "link": link, "link_seq": number}
        return tuple(known.get(name, ABSENT) for name in schema(self._schedule.protocol).columns)
