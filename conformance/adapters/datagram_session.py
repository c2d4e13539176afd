"""One run in datagram mode: the processes of all nodes, the relay between them, and what the schedule does to both."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from scatterproof.conformance.adapters import lines
from scatterproof.conformance.adapters.befalling import Befalling
from scatterproof.conformance.adapters.log_folder import (
    BEFELL_FILE,
    RUN_FILE,
    SUFFIX,
    assemble,
    log_path,
    write_befell,
    write_run,
)
from scatterproof.conformance.adapters.logs import NodeLog
from scatterproof.conformance.adapters.real_time import longest_timeout_ns
from scatterproof.conformance.adapters.recorded_run import RecordedRun
from scatterproof.conformance.network.delays import delays_of
from scatterproof.conformance.network.run import header_of
from scatterproof.conformance.relay.links import LinkRelay
from scatterproof.conformance.supervisor import MARK, Child, ChildFailure, Limits
from scatterproof.spec import schedule as schedules
from scatterproof.spec.adapter import Connect, Init, Listening, Payload, Ready, Stop, Stopped, Submit
from scatterproof.spec.core import NodeConfig, node_config
from scatterproof.spec.protocol import routes_of
from scatterproof.spec.schedule import FailureKind, Schedule, Submission
from scatterproof.spec.topology import NodeId, Role
from scatterproof.spec.trace import CLEAN, Trace, schema

QUIET_NS = 1_000_000_000  # a message that has not moved for so long is not on its way
LATE_NS = 30_000_000_000  # how far behind its schedule a run may go on
_LOOK_NS = 5_000_000


class NodeBroke(Exception):
    """A node did what none may do; the run is over."""


class DatagramSession:
    """failures: what nodes did wrong, and what else keeps the run from saying anything. children: the processes that
    have to be stopped. held_up_ns: the longest time for which one of them, or the relay, waited for a processor."""

    def __init__(
        self, schedule: Schedule, commands: Mapping[Role, Sequence[str]], folder: Path, limits: Limits
    ) -> None:
        """Raises CannotRun when the relay's sockets cannot be opened."""
        topology = schedule.topology
        routes = routes_of(schedule.protocol, topology)
        self._schedule = schedule
        self._commands = commands
        self._folder = folder
        self._limits = limits
        self._configs = [
            node_config(node, topology, routes, schedule.protocol, schedule.parameters)
            for node in range(len(topology.nodes))
        ]
        self._relay = LinkRelay(sorted(routes.used), delays_of(schedule), schedule.faults)
        self._lives: list[list[NodeLog]] = [[] for _ in self._configs]
        self._nodes: dict[NodeId, Child] = {}  # those that are there
        self._spares: dict[NodeId, list[tuple[Child, Listening]]] = {}  # they listen, and nobody talks to them yet
        self._befalling = Befalling(schedule, self._relay, self._lives)
        self._settled = False
        self._looked_ns = 0
        self._starting: list[Child] = []
        self._waited: dict[Child, int] = {}
        self.held_up_ns = 0
        self.failures: list[str] = []

    @property
    def children(self) -> list[Child]:
        return [*self._nodes.values(), *self._starting, *(child for own in self._spares.values() for child, _ in own)]

    def start(self) -> None:
        """All processes at once; then each learns where its egress links lead."""
        for old in (*self._folder.glob(f"*{SUFFIX}"), self._folder / RUN_FILE, self._folder / BEFELL_FILE):
            old.unlink(missing_ok=True)
        for config in self._configs:
            self._nodes[config.node] = self._child(config, 0)
            self._take_life(config.node)
        again = [
            self._configs[failure.node] for failure in self._schedule.failures if failure.kind is FailureKind.RESTART
        ]
        # A process takes longer to start than a node may be away: those that take its place later start now.
        self._starting = [self._child(config, 1 + again[:at].count(config)) for at, config in enumerate(again)]
        for config in self._configs:
            self._lead(config, self._expect(self._nodes[config.node], Listening))
        for config in again:
            listening = self._expect(self._starting[0], Listening)
            self._spares.setdefault(config.node, []).append((self._starting.pop(0), listening))
        for config in self._configs:
            self._tell_connect(config)
        for config in self._configs:
            self._take_ready(self._nodes[config.node], self._expect(self._nodes[config.node], Ready))

    def play(self, round_ns: int, settle_ns: int, lull_ns: int | None) -> None:
        """Do what the schedule says at its times; then wait until all is delivered, or could have been: at settle_ns
        from its beginning, or once nothing for an application or a host has moved for lull_ns."""
        ahead = round_ns // 20
        start = -(-(time.monotonic_ns() + ahead) // round_ns) * round_ns
        self._looked_ns = time.monotonic_ns()
        self._wait(start - ahead, lambda: False)
        self._relay.begin()
        events: list[Submission | schedules.Failure] = [*self._schedule.failures, *self._schedule.submissions]
        expected = 0
        for event in sorted(events, key=lambda event: event.time_ns):  # stable: failures come first
            self._wait(start + event.time_ns, lambda: False)
            if isinstance(event, Submission):
                expected += self._submit(event)
            else:
                self._fail(event)

        done_ns: int | None = None
        quiet_ns = 2 * longest_timeout_ns(self._schedule)
        stirred, since_ns = -1, 0

        def settled() -> bool:
            """Whether everything is delivered, and if nodes answer one another, too, they had the time for it; or
            nothing more is to be expected."""
            nonlocal done_ns, stirred, since_ns
            if self._relay.to_come():
                return False
            now = time.monotonic_ns()
            if self._delivered() < expected:
                if stirred != (stirred := self._moved() + self._answered()):
                    since_ns = now
                return lull_ns is not None and now - since_ns > lull_ns
            done_ns = done_ns or now
            return not self._answered() or now - done_ns > quiet_ns

        self._wait(start + settle_ns, settled)
        # A busy machine runs its processes late, so that a schedule's times are no proof that messages lie still.
        moved, latest = -1, time.monotonic_ns() + LATE_NS
        while not settled() and moved != (moved := self._moved()):
            self._wait(min(time.monotonic_ns() + QUIET_NS, latest), settled)
        self._settled = True
        self.failures += self._befalling.missing(self._ports())

    def finish(self) -> None:
        """Stop all nodes together; a node's log is complete once it has said so."""
        for child in self._nodes.values():
            lines.tell(child, Stop())
        for child in self._nodes.values():
            self._expect(child, Stopped)

    def close(self) -> None:
        self._relay.close()

    def trace(self, iut: str, notes: Sequence[str]) -> Trace:
        """What the logs tell, and what befell; and the folder with both, so that it can be judged again."""
        for log in (log for own in self._lives for log in own):
            log.read_more()
        befell = self._befalling.rows()
        header = header_of(self._schedule, iut, (*self._befalling.notes(), *notes))
        trace = assemble(self._lives, befell, header, self.failures, clean=self._settled)
        write_befell(self._folder, befell, header.protocol)
        clean = bool(trace.rows[-1][schema(header.protocol).index("flags")] & CLEAN)
        write_run(
            self._folder,
            RecordedRun(
                protocol=header.protocol,
                topology=header.topology,
                parameters=header.parameters,
                clean=clean,
                order=header.order,
                seed=header.seed,
                notes=trace.notes,
            ),
        )
        return trace

    def _child(self, config: NodeConfig, life: int) -> Child:
        """A process for the node's life, from 0, which is told its place."""
        schedule, node = self._schedule, config.node
        name = f"{node}-{schedule.topology.nodes[node].name}{f'.{life}' if life else ''}"
        if life:
            again = {**schedule.parameters, "incarnation": life}
            routes = routes_of(schedule.protocol, schedule.topology)
            config = node_config(node, schedule.topology, routes, schedule.protocol, again)
        # Every reading is above zero, whatever the machine's clock says.
        least = min(0, *(schedule.clock(other).offset_ns for other in range(len(self._configs))))
        offset = schedule.clock(node).offset_ns - least
        child = Child(name, self._commands[config.role], self._folder, self._limits)
        lines.tell(child, Init(config, log=str(self._log_path(node, life)), clock_offset_ns=offset))
        return child

    def _log_path(self, node: NodeId, life: int) -> Path:
        return log_path(self._folder, node, self._schedule.topology, life).absolute()

    def _take_life(self, node: NodeId) -> None:
        """The node's next life begins: its log is read from now on."""
        schedule, path = self._schedule, self._log_path(node, len(self._lives[node]))
        self._lives[node].append(NodeLog(path, node, schedule.protocol, schedule.topology, self._limits.log_bytes))

    def _lead(self, config: NodeConfig, listening: Listening) -> None:
        """Have the node's ingress links lead to it, and its egress links from it alone."""
        child = self._nodes[config.node]
        for link in config.egress:
            self._relay.admit(link, child.process, f"{MARK}={child.mark}".encode())
        if set(listening.ports) != set(config.ingress):
            raise NodeBroke(
                f"{self._nodes[config.node].name} listens for links {sorted(listening.ports)}; its ingress are "
                f"{list(config.ingress)}"
            )
        for link, port in listening.ports.items():
            self._relay.lead(link, port)

    def _tell_connect(self, config: NodeConfig) -> None:
        lines.tell(self._nodes[config.node], Connect({link: self._relay.port(link) for link in config.egress}))

    def _take_ready(self, child: Child, ready: Ready) -> None:
        flaw = lines.flaw_of(ready)
        if flaw is not None:
            raise NodeBroke(f"{child.name} {flaw}")

    def _submit(self, submission: Submission) -> int:
        """How many messages were handed over: none to a node that has crashed, since its application is gone, too."""
        if submission.node not in self._nodes:
            return 0
        messages = tuple(Payload(message.receiver, message.payload) for message in submission.messages)
        lines.tell(self._nodes[submission.node], Submit(messages))
        return len(messages)

    def _fail(self, failure: schedules.Failure) -> None:
        match failure.kind:
            case FailureKind.CRASH:
                child = self._nodes.pop(failure.node)
                child.reap()
                self._befalling.crash(failure.node)
            case FailureKind.RESTART:
                self._begin_anew(self._configs[failure.node])
            case _:
                self._befalling.strike(failure)

    def _begin_anew(self, config: NodeConfig) -> None:
        """A new process takes the node's place; the relay goes on while it gets ready."""
        node = config.node
        child, listening = self._spares[node].pop(0)
        self._nodes[node] = child
        self._take_life(node)
        self._befalling.restart(node)
        self._lead(config, listening)
        self._tell_connect(config)
        self._take_ready(child, self._hear(child, Ready))

    def _delivered(self) -> int:
        return sum(log.delivered for own in self._lives for log in own)

    def _moved(self) -> int:
        return sum(log.moved for own in self._lives for log in own)

    def _answered(self) -> int:
        """How much nodes send one another that is no message: acknowledgements, say."""
        return sum(log.answered for own in self._lives for log in own)

    def _ports(self) -> list[int]:
        """Where the nodes listen."""
        return [carriage.target for carriage in self._relay.links.values() if carriage.target is not None]

    def _wait(self, until_ns: int, is_done: Callable[[], bool], apart_from: Child | None = None) -> None:
        """Carry datagrams, read logs, and watch over the processes, until then."""
        looked = 0
        while (now := time.monotonic_ns()) < until_ns and not is_done():
            self._relay.turn(min(until_ns, now + _LOOK_NS))
            for link in self._relay.flooded:
                source = self._schedule.topology.links[link].source
                raise NodeBroke(f"{source}-{self._schedule.topology.nodes[source].name} flooded link {link}")
            now = time.monotonic_ns()
            self.held_up_ns = max(self.held_up_ns, now - self._looked_ns - _LOOK_NS)
            self._looked_ns = now
            if now - looked < _LOOK_NS:
                continue
            looked = now
            for child in self._nodes.values():
                child.drain()
                waited = child.waited_ns()
                self.held_up_ns = max(self.held_up_ns, waited - self._waited.get(child, waited))
                self._waited[child] = waited
                if child is not apart_from and (child.has_more() or not child.is_running()):
                    line = lines.answer(child)
                    wrote = line.reason if isinstance(line, ChildFailure) else f"wrote {lines.type_of(line)!r} unasked"
                    raise NodeBroke(f"{child.name} {wrote}")
            for log in (own[-1] for own in self._lives):
                log.read_more()
                if log.flaw is not None:
                    raise NodeBroke(f"{self._nodes[log.node].name if log.node in self._nodes else log.node} broke off")

    def _hear(self, child: Child, kind: type[lines.AnyLine]) -> lines.AnyLine:
        """What the child says next; the relay goes on meanwhile."""
        latest = time.monotonic_ns() + int(self._limits.answer_s * 1e9)
        self._wait(latest, lambda: child.has_more() or not child.is_running(), apart_from=child)
        return self._expect(child, kind)

    def _expect(self, child: Child, kind: type[lines.AnyLine]) -> lines.AnyLine:
        line = lines.expect(child, kind)
        if isinstance(line, ChildFailure):
            raise NodeBroke(f"{child.name} {line.reason}")
        return line
