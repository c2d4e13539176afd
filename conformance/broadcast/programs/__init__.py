"""Programs with the course's command line, judged by the files that they write.

Clauses: BC-IO-HOSTS, BC-IO-CONFIG, BC-IO-OUT, BC-IO-STRESS, and of each level what output can show: BC-PL-RELIABLE,
BC-PL-ONCE, BC-PL-REAL; BC-URB-VALID, BC-URB-ONCE, BC-URB-REAL, BC-URB-AGREE; BC-FIFO-ORDER, BC-FIFO-FLOW;
BC-LCB-CAUSAL, BC-LCB-FIFO.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from scatterproof.conformance.broadcast.programs.following import Following
from scatterproof.conformance.broadcast.programs.judge import Judge
from scatterproof.conformance.broadcast.programs.tracing import trace_of
from scatterproof.conformance.broadcast.programs.workload import LEVELS, Task, hosts, task
from scatterproof.conformance.relay.ports import Address
from scatterproof.conformance.stress.contract import Course, ProgramJudgement, ProgramStanding, Recorded, Workload
from scatterproof.spec.files import write_atomically

__all__ = ["LEVELS", "tester"]


class FilesTester:
    """One run of programs: their hosts and configuration files, a look at what they write, and the judgement.

    folders: one a process, in the order of their ids.
    """

    placeholders = ("id", "hosts", "output", "config")

    def __init__(self, given: Task, folders: Sequence[Path]) -> None:
        self._task, self._folders = given, folders
        self._outputs = [folder / "output" for folder in folders]
        self._following = Following(given, self._outputs)

    @property
    def spared(self) -> frozenset[int]:
        return frozenset({self._task.receiver - 1} if self._task.receiver else ())

    def write(self, process: int, addresses: Sequence[Address]) -> Mapping[str, str]:
        folder = self._folders[process]
        write_atomically(folder / "hosts", hosts(addresses).encode())
        write_atomically(folder / "config", self._task.config().encode())
        values = {name: str(folder / name) for name in ("hosts", "output", "config")}
        return {"id": str(process + 1), **values}

    def look(self, expected: Sequence[int]) -> ProgramStanding:
        return self._following.look(expected)

    def judge(self, course: Course) -> ProgramJudgement:
        return Judge(self._task, self._outputs, course, self._following.sizes).judgement()

    def trace(self, course: Course) -> Recorded:
        return trace_of(self._task, self._outputs, course)


def tester(workload: Workload, folders: Sequence[Path]) -> FilesTester:
    return FilesTester(task(workload), folders)
