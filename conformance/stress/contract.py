"""What a protocol says of programs that speak it: the files they read, how far they are, and how they are judged.

A protocol gives `Programs`: the levels at which programs are judged, and who makes a `Tester` for one run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec

from scatterproof.conformance.relay.ports import Address
from scatterproof.conformance.stress.plan import Act, PlannedStep
from scatterproof.conformance.verdict import ClauseResult, Verdict
from scatterproof.spec.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What the programs are to do: at a level of the protocol, this many processes with this many messages each."""

    level: str
    processes: int
    messages: int
    seed: int


@dataclass(frozen=True, slots=True)
class ProgramStanding:
    """How far programs are, as their output shows now.

    deliveries: of all processes.
    size: of all output, in bytes.
    complete: everything is there that the workload asks of the processes that are `expected` to go on.
    """

    deliveries: int
    size: int
    complete: bool


class EndedProcess(msgspec.Struct, frozen=True, kw_only=True):
    """One process (from 0) after a run.

    ending: the step of the plan that ended it, or None.
    crashed: how it ended before anybody asked it to, or nothing.
    exited: it ended by itself with exit code 0.
    stubborn: what it did not obey at the end, or nothing.
    left: processes that it left behind.
    sent, received: datagrams by way of the relay.
    heard: the processes from which any came, or None where that is not known.
    at_home: whether its own address was ever opened, or None likewise.
    stderr: the last lines of it.
    raised: the first line of it that names an exception.
    """

    process: int
    ending: PlannedStep | None = None
    crashed: str = ""
    exited: bool = False
    stubborn: str = ""
    left: int = 0
    sent: int = 0
    received: int = 0
    heard: tuple[int, ...] | None = None
    at_home: bool | None = None
    stderr: str = ""
    raised: str = ""
    logs_cut: bool = False

    @property
    def correct(self) -> bool:
        """Whether it was to live: one that crashed by itself was."""
        return self.ending is None

    @property
    def killed(self) -> bool:
        return self.ending is not None and self.ending.act is Act.KILL


def known_to(process: int, outcomes: Sequence[EndedProcess]) -> set[int] | None:
    """Itself and whomever it could have heard of, be it by way of others: whatever a process learns of others comes in
    datagrams. More than it did hear of, never fewer; None where the relay did not tell."""
    known = {process}
    while True:
        heard = [outcomes[one].heard for one in known]
        if None in heard:
            return None
        more = known.union(*(sources for sources in heard if sources is not None))
        if more == known:
            return known
        known = more


class Course(msgspec.Struct, frozen=True, kw_only=True):
    """A run after it ended. Times count from when all programs were awake, in seconds.

    seconds: until programs were asked to end.
    still_s: how long before that the output had stopped growing.
    quiet_s: how long before that a datagram last got through whose contents had not before.
    window_s: how long neither must happen for the run to be at a stand.
    busy_s: when the last delivery was seen.
    woke_s: how long the first program was awake before all were.
    complete: everything was there.
    due: what is missing at the end counts as lost.
    reference_s: what the protocol's own program needed for the same; 0 where that is not known.
    faults: what the relay did.
    """

    outcomes: tuple[EndedProcess, ...]
    seconds: float
    still_s: float
    quiet_s: float
    window_s: float
    busy_s: float
    woke_s: float
    complete: bool
    due: bool = False
    reference_s: float = 0.0
    faults: dict[str, int]
    steps: tuple[PlannedStep, ...] = ()

    @property
    def at_a_stand(self) -> bool:
        return min(self.still_s, self.quiet_s) >= self.window_s


class ProgramJudgement(msgspec.Struct, frozen=True, kw_only=True):
    """clauses: one result each, in the order of the catalogue.
    deliveries: in all outputs.
    seconds: what they took, as far as output and datagrams show.
    lacks_reference: whether something lacks of which nobody saw whether it was on its way: what the reference needs
        would tell.
    notes: what else there is to say.
    """

    clauses: tuple[ClauseResult, ...]
    deliveries: int
    seconds: float
    lacks_reference: bool = False
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Fail if a clause fails; pass if none is open."""
        found = {result.verdict for result in self.clauses}
        return next((v for v in (Verdict.FAIL, Verdict.INCONCLUSIVE) if v in found), Verdict.PASS)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run as a trace, for judges that read traces. left_out: what is not in it, and why; or nothing."""

    trace: Trace
    left_out: str


class Tester(Protocol):
    """One run's files and their judge. Processes count from 0 here, whatever the files say."""

    @property
    def placeholders(self) -> tuple[str, ...]:
        """What a command has to contain, without the braces."""
        ...

    @property
    def spared(self) -> frozenset[int]:
        """Processes whose end would leave nothing to judge."""
        ...

    def write(self, process: int, addresses: Sequence[Address]) -> Mapping[str, str]:
        """Write what the process reads: `addresses` are what it knows all processes by; the placeholders' values."""
        ...

    def look(self, expected: Sequence[int]) -> ProgramStanding:
        """Read what was written since the last look; `expected` are the processes that no step of the plan ends."""
        ...

    def judge(self, course: Course) -> ProgramJudgement:
        """Read all output, and judge it."""
        ...

    def trace(self, course: Course) -> Recorded:
        """The output as a trace that goes into memory, however much there is."""
        ...


@dataclass(frozen=True, slots=True)
class Programs:
    """A protocol's part."""

    levels: tuple[str, ...]
    tester: Callable[[Workload, Sequence[Path]], Tester]
