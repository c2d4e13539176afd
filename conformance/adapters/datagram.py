"""Implementations under test that speak the datagram mode of spec/adapter.py: every host and switch is a process of its
own with real UDP sockets on loopback. Their logs, merged, are the trace."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec

from conformance.adapters import lines
from conformance.adapters.log_folder import RUN_FILE, SUFFIX, RecordedRun, assemble, log_path, write_run
from conformance.adapters.logs import NodeLog
from conformance.network.run import header_of
from conformance.protocol import load
from conformance.supervisor import LIMITS, Child, Failure, Limits, stop
from spec.adapter import Connect, Init, Listening, Payload, Ready, Stop, Stopped, Submit
from spec.core import node_config
from spec.errors import CannotRun
from spec.schedule import Delay, Schedule
from spec.topology import LinkId, Role, route
from spec.trace import CLEAN, Trace, schema

LEAST_INTERVAL_NS = 4_000_000  # what processes on a busy machine can keep up with
HOP_NS = 20_000_000  # what a hop may take there
QUIET_NS = 1_000_000_000  # a message that has not moved for so long is not on its way
LATE_NS = 30_000_000_000  # how far behind its schedule a run may go on
LONGEST_S = 120.0
_LOOK_S = 0.005


class NodeBroke(Exception):
    """A node did what none may do; the run is over."""


class DatagramIut:
    """Starts `command` once a node for every run; nodes of other roles than `roles` are started as `others`. `folder`,
    if there is one, keeps the last run's `<node>.log.ndjson`, `<node>.stdout` and `<node>.stderr`, and can be judged
    again (`conformance.adapters.log_folder`)."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        folder: Path | None = None,
        limits: Limits = LIMITS,
        *,
        roles: Collection[Role] = tuple(Role),
        others: Sequence[str] = (),
    ) -> None:
        self.name = name
        self._commands = {role: tuple(command if role in roles else others) for role in Role}
        self._folder = folder
        self._limits = limits

    def run(self, schedule: Schedule) -> Trace:
        """Play the submissions at their times, with the offsets of the schedule's clocks. Delays are the machine's own;
        drifts are not imitated, and a note says so.

        Simulated schedules speak of microseconds, which processes cannot keep: all times are stretched by one factor if
        the least parameter that is a time (its name ends in _ns) is below LEAST_INTERVAL_NS.

        Raises CannotRun when the command cannot be started, when the schedule would take too long, or has failures or
        faults: those are of the k-th packet on a link, and which one that is hangs on the machine here.
        """
        if schedule.failures or schedule.faults:
            what = "nodes or links fail" if schedule.failures else "packets be lost or late"
            raise CannotRun(
                f"{self.name}: the schedule has {what}, which real sockets cannot imitate; run it in stdio mode"
            )
        factor = stretch_of(schedule)
        played = stretched(schedule, factor)
        settle_ns = load(schedule.protocol).horizon_ns(played)
        if settle_ns > LONGEST_S * 1e9:
            raise CannotRun(
                f"{self.name}: the schedule takes {settle_ns / 1e9:.0f} s in real time, over {LONGEST_S:.0f}; "
                "bring its submissions closer together"
            )
        notes = [f"all times of the schedule were stretched by {factor}"] if factor > 1 else []
        if any(clock.drift_ppb for clock in schedule.clocks):
            notes.append("real sockets: the schedule's clock drifts were not imitated")
        with ExitStack() as resources:
            folder = self._folder or Path(resources.enter_context(tempfile.TemporaryDirectory()))
            session = _Session(played, self._commands, folder, self._limits)
            try:
                session.start()
                session.play(settle_ns)
                session.finish()
            except NodeBroke as broke:
                session.failures.append(str(broke))
            finally:
                session.failures += stop(session.children, lines.encode(Stop()))
            return session.trace(self.name, notes)


class _Session:
    """One run. `failures`: what nodes did wrong."""

    def __init__(
        self, schedule: Schedule, commands: Mapping[Role, Sequence[str]], folder: Path, limits: Limits
    ) -> None:
        topology = schedule.topology
        self._schedule = schedule
        self._commands = commands
        self._folder = folder
        self._limits = limits
        self._names = [f"{number}-{node.name}" for number, node in enumerate(topology.nodes)]
        self._paths = [log_path(folder, node, topology).absolute() for node in range(len(topology.nodes))]
        self._logs = [
            NodeLog(path, node, schedule.protocol, topology, limits.log_bytes) for node, path in enumerate(self._paths)
        ]
        self._settled = False
        self.children: list[Child] = []
        self.failures: list[str] = []

    def start(self) -> None:
        """All processes at once; then each learns where its egress links lead."""
        schedule, topology, routes = self._schedule, self._schedule.topology, route(self._schedule.topology)
        configs = [
            node_config(node, topology, routes, schedule.protocol, schedule.parameters)
            for node in range(len(topology.nodes))
        ]
        # Every reading is above zero, whatever the machine's clock says.
        least = min(schedule.clock(node).offset_ns for node in range(len(configs)))
        for old in (*self._folder.glob(f"*{SUFFIX}"), self._folder / RUN_FILE):
            old.unlink(missing_ok=True)
        for config, name, path in zip(configs, self._names, self._paths, strict=True):
            self.children.append(Child(name, self._commands[config.role], self._folder, self._limits))
            offset = schedule.clock(config.node).offset_ns - min(0, least)
            lines.tell(self.children[-1], Init(config, log=str(path), clock_offset_ns=offset))
        ports: dict[LinkId, int] = {}
        for config, child in zip(configs, self.children, strict=True):
            listening = self._expect(child, Listening)
            if set(listening.ports) != set(config.ingress):
                raise NodeBroke(
                    f"{child.name} listens for links {sorted(listening.ports)}; its ingress are {list(config.ingress)}"
                )
            ports |= listening.ports
        for config, child in zip(configs, self.children, strict=True):
            lines.tell(child, Connect({link: ports[link] for link in config.egress}))
        for child in self.children:
            flaw = lines.flaw_of(self._expect(child, Ready))
            if flaw is not None:
                raise NodeBroke(f"{child.name} {flaw}")

    def play(self, settle_ns: int) -> None:
        """Hand over the submissions at their times; then wait until all is delivered, or could have been."""
        start = time.monotonic_ns()
        expected = 0
        for submission in sorted(self._schedule.submissions, key=lambda submission: submission.time_ns):
            self._wait(start + submission.time_ns, lambda: False)
            messages = tuple(Payload(message.receiver, message.payload) for message in submission.messages)
            lines.tell(self.children[submission.node], Submit(messages))
            expected += len(messages)

        def settled() -> bool:
            return sum(log.delivered for log in self._logs) >= expected

        self._wait(start + settle_ns, settled)
        # A busy machine runs its processes late, so that a schedule's times are no proof that messages lie still.
        moved, latest = -1, time.monotonic_ns() + LATE_NS
        while not settled() and moved != (moved := sum(log.moved for log in self._logs)):
            self._wait(min(time.monotonic_ns() + QUIET_NS, latest), settled)
        self._settled = True

    def finish(self) -> None:
        """Stop all nodes together; a node's log is complete once it has said so."""
        for child in self.children:
            lines.tell(child, Stop())
        for child in self.children:
            self._expect(child, Stopped)

    def trace(self, iut: str, notes: Sequence[str]) -> Trace:
        """What the logs tell; and the folder with them, so that it can be judged again."""
        for log in self._logs:
            log.read_more()
        header = header_of(self._schedule, iut, notes)
        trace = assemble(self._logs, header, self.failures, clean=self._settled)
        write_run(
            self._folder,
            RecordedRun(
                protocol=header.protocol,
                topology=header.topology,
                parameters=header.parameters,
                clean=bool(trace.rows[-1][schema(header.protocol).index("flags")] & CLEAN),
                order=header.order,
                seed=header.seed,
                notes=trace.notes,
            ),
        )
        return trace

    def _wait(self, until_ns: int, is_done: Callable[[], bool]) -> None:
        """Read logs, and watch over the processes, until then."""
        while (left := until_ns - time.monotonic_ns()) > 0 and not is_done():
            for child in self.children:
                child.drain()
                if child.has_more() or not child.is_running():
                    line = lines.answer(child)
                    wrote = line.reason if isinstance(line, Failure) else f"wrote {lines.type_of(line)!r} unasked"
                    raise NodeBroke(f"{child.name} {wrote}")
            for log in self._logs:
                log.read_more()
                if log.flaw is not None:
                    raise NodeBroke(f"{self.children[log.node].name} broke off")
            time.sleep(min(_LOOK_S, max(0, left) / 1e9))

    def _expect(self, child: Child, kind: type[lines.AnyLine]) -> lines.AnyLine:
        line = lines.expect(child, kind)
        if isinstance(line, Failure):
            raise NodeBroke(f"{child.name} {line.reason}")
        return line


def stretch_of(schedule: Schedule) -> int:
    """The factor that makes every time among the parameters long enough."""
    times = [value for name, value in schedule.parameters.items() if name.endswith("_ns") and isinstance(value, int)]
    least = min((value for value in times if value > 0), default=LEAST_INTERVAL_NS)
    return max(1, -(-LEAST_INTERVAL_NS // least))


def stretched(schedule: Schedule, factor: int) -> Schedule:
    """The schedule in slow motion, with the delays that loopback may have, and without what cannot be imitated."""
    return msgspec.structs.replace(
        schedule,
        delays=tuple(Delay(HOP_NS) for _ in schedule.delays),
        submissions=tuple(
            msgspec.structs.replace(submission, time_ns=submission.time_ns * factor)
            for submission in schedule.submissions
        ),
        clocks=tuple(
            msgspec.structs.replace(clock, offset_ns=clock.offset_ns * factor, drift_ppb=0) for clock in schedule.clocks
        ),
        parameters={
            name: value * factor if name.endswith("_ns") and isinstance(value, int) else value
            for name, value in schedule.parameters.items()
        },
        faults=(),
        end_ns=None,
    )
