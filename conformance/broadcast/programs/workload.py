"""What programs are asked to do, and the files that say so (BC-IO-HOSTS, BC-IO-CONFIG). Ids count from 1, as there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from scatterproof.conformance.relay.ports import Address
from scatterproof.conformance.stress.contract import Workload
from scatterproof.spec.broadcast.messages import Level
from scatterproof.spec.errors import BadInput

_MOST_DEPENDENCIES = 4  # of one process: each is a number kept for each of its messages
_MOST_MARKS = 1 << 33  # bits for what every process delivered: a gigabyte


LEVELS = tuple(level.value for level in Level)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """receiver: at the level pl, the process that all others send to; else 0.
    dependencies: by id (0 is nobody), at the level lcb; else empty.
    """

    level: Level
    processes: int
    messages: int
    receiver: int = 0
    dependencies: tuple[tuple[int, ...], ...] = ()

    def sends(self, process: int) -> bool:
        return process != self.receiver

    def config(self) -> str:
        if self.level is Level.PL:
            return f"{self.messages} {self.receiver}\n"
        lines = [str(self.messages)]
        if self.level is Level.LCB:
            lines += [" ".join(map(str, (i, *self.dependencies[i]))) for i in range(1, self.processes + 1)]
        return "\n".join(lines) + "\n"

    @property
    def deliveries(self) -> int:
        """How many deliveries there are at all processes together, when none fails."""
        if self.level is Level.PL:
            return (self.processes - 1) * self.messages
        return self.processes**2 * self.messages


def hosts(addresses: Sequence[Address]) -> str:
    return "".join(f"{number} {host} {port}\n" for number, (host, port) in enumerate(addresses, 1))


def task(workload: Workload) -> Task:
    """The workload with what the seed decides. Raises BadInput for an invalid workload."""
    if workload.level not in LEVELS:
        raise BadInput(f"--level {workload.level!r} is unknown; choose one of: {', '.join(LEVELS)}")
    level, count, messages = Level(workload.level), workload.processes, workload.messages
    if not 2 <= count <= 128:
        raise BadInput(f"--processes is {count}; give 2 to 128")
    if messages < 1:
        raise BadInput(f"--messages is {messages}; give at least 1")
    if (marks := count * count * messages) > _MOST_MARKS:
        raise BadInput(
            f"{marks} deliveries are too many to be judged; give at most {_MOST_MARKS // count**2} --messages"
        )
    random = Random(f"task {workload.seed}")
    return Task(
        level=level,
        processes=count,
        messages=messages,
        receiver=random.randint(1, count) if level is Level.PL else 0,
        dependencies=_dependencies(random, count) if level is Level.LCB else (),
    )


def _dependencies(random: Random, count: int) -> tuple[tuple[int, ...], ...]:
    """Somebody depends on nobody, and somebody on somebody."""
    free, bound = random.sample(range(1, count + 1), 2)
    drawn: list[tuple[int, ...]] = [()]
    for process in range(1, count + 1):
        others = [other for other in range(1, count + 1) if other != process]
        least = 1 if process == bound else 0
        size = 0 if process == free else random.randint(least, min(_MOST_DEPENDENCIES, len(others)))
        drawn.append(tuple(sorted(random.sample(others, size))))
    return tuple(drawn)
