"""Implementations under test that speak the datagram mode of spec/adapter.py: every host and switch is a process of its
own with real UDP sockets on loopback. The harness is the network between them: a relay that delays, loses and cuts as
the schedule says. Their logs, merged, are the trace."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import ExitStack
from pathlib import Path

from scatterproof.conformance.adapters import lines
from scatterproof.conformance.adapters.datagram_session import DatagramSession, NodeBroke
from scatterproof.conformance.adapters.real_time import (
    lull_ns,
    patience_ns,
    round_ns,
    settle_ns,
    stretch_of,
    stretched,
    why_not,
)
from scatterproof.conformance.network.run import refuse_faults
from scatterproof.conformance.protocol import load
from scatterproof.conformance.supervisor import LIMITS, Limits, stop
from scatterproof.spec.adapter import Stop
from scatterproof.spec.errors import CannotRun, MachineBusy
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.scratch import scratch_folder
from scatterproof.spec.topology import Role
from scatterproof.spec.trace import Trace

LONGEST_S = 120.0
SLOWER = (1, 4, 16)  # by how much a schedule is played slower, again and again, when the machine was too busy
AGAIN = 2  # how often it is played once more as slowly as can be


class DatagramIut:
    """Starts `command` once a node for every run, and again for a node that restarts; nodes of other roles than `roles`
    are started as `others`. `folder`, if there is one, keeps the last run's `<node>.log.ndjson`, `<node>.stdout` and
    `<node>.stderr`, and can be judged again (`scatterproof.conformance.adapters.log_folder`)."""

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
        """Play the schedule's submissions, faults and failures at their times, with the delays of its links and the
        offsets of its clocks; drifts are not imitated, and a note says so. A fault befalls the k-th packet that a node
        puts on the link after the schedule has begun; a run in which one of them befalls nobody is cut.

        Simulated schedules speak of microseconds, which processes cannot keep: all times are stretched by one factor
        (`scatterproof.conformance.adapters.real_time`). A run in which the machine kept nodes waiting for too long is
        played again, slower each time.

        Raises CannotRun when the command cannot be started, when the schedule would take too long or cannot be played
        over real sockets; MachineBusy when the machine is too busy in the end; BadInput for faults that the protocol's
        links never have.
        """
        if schedule.calls:
            raise CannotRun("nodes with sockets of their own are told no calls yet; run it in process, or over stdio")
        plugin = load(schedule.protocol)
        refuse_faults(schedule, plugin)
        if not plugin.fifo_links:
            raise CannotRun(
                f"{self.name}: packets of {schedule.protocol} have no number on their link, which is what logs are put "
                "together by; run it in stdio mode, or as whole programs"
            )
        reason = why_not(schedule)
        if reason is not None:
            raise CannotRun(f"{self.name}: the schedule has {reason}; run it in stdio mode")
        factor = stretch_of(schedule)
        if (takes_ns := settle_ns(stretched(schedule, factor))) > LONGEST_S * 1e9:
            raise CannotRun(
                f"{self.name}: the schedule takes {takes_ns / 1e9:.0f} s in real time, over {LONGEST_S:.0f}; "
                "bring its submissions closer together"
            )
        factors = [
            factor * slower for slower in SLOWER if settle_ns(stretched(schedule, factor * slower)) <= LONGEST_S * 1e9
        ]
        for slower in factors + factors[-1:] * AGAIN:
            trace, held_up_ns = self._play(schedule, slower)
            if held_up_ns <= patience_ns(stretched(schedule, slower)):
                return trace
        raise MachineBusy(
            f"{self.name}: this machine kept a node waiting for {held_up_ns / 1e9:.2f} s, so that nothing can be "
            "said of what it does in time; run it on a quieter one"
        )

    def _play(self, schedule: Schedule, factor: int) -> tuple[Trace, int]:
        """The trace of one run, slower by this factor; and how long nodes had to wait for the processor."""
        played = stretched(schedule, factor)
        notes = [f"all times of the schedule were stretched by {factor}"] if factor > 1 else []
        if any(clock.drift_ppb for clock in schedule.clocks):
            notes.append("real sockets: the schedule's clock drifts were not imitated")
        with ExitStack() as resources:
            folder = self._folder or resources.enter_context(scratch_folder("nodes"))
            session = DatagramSession(played, self._commands, folder, self._limits)
            resources.callback(session.close)
            try:
                session.start()
                session.play(round_ns(played), settle_ns(played), lull_ns(played))
                session.finish()
            except NodeBroke as broke:
                session.failures.append(str(broke))
                session.held_up_ns = 0  # whatever kept the others waiting, the node is to blame
            finally:
                session.failures += stop(session.children, lines.encode(Stop()))
            return session.trace(self.name, notes), session.held_up_ns
