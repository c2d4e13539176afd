"""Benchmarks of judging over stdio: cases a second for the reference and the example nodes, and the harness's own cost,
measured against nodes that do nothing. Wall time: processes take turns with the harness. Best of three tries.

They run in a process of their own: starting a node forks it, and a fork takes longer the more modules are loaded.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from scatterproof.conformance.adapters.stdio import StdioIut
from scatterproof.conformance.case import run_case, select
from scatterproof.conformance.examples.tests.languages import BUILD, PROFILE, build, missing
from scatterproof.conformance.network.run import SimulatedIut, simulate
from scatterproof.conformance.network.topologies import star
from scatterproof.conformance.profile import read_profile
from scatterproof.conformance.verdict import Verdict
from scatterproof.impl.totalorder import make_core
from scatterproof.spec.core import NodeConfig
from scatterproof.spec.iut import Iut
from scatterproof.spec.schedule import Delay, Message, Schedule, Submission, validate

TRIES = 3
EVENTS = 5_000
# Answers every line, and does nothing else: in C, where there is a compiler, and in Python.
NULL_C = r"""
#include <stdio.h>
#include <string.h>
int main(void) {
    static char line[1 << 20];
    while (fgets(line, sizeof line, stdin) && !strstr(line, "\"type\":\"stop\"")) {
        puts(strstr(line, "\"type\":\"init\"") ? "{\"type\":\"ready\"}" : "{\"type\":\"done\"}");
        fflush(stdout);
    }
    return 0;
}
"""
NULL_PYTHON = """
import sys
for line in sys.stdin:
    if '"type":"stop"' in line: break
    print('{"type":"ready"}' if '"type":"init"' in line else '{"type":"done"}', flush=True)
"""


class NullNode:
    """A node in this process that does nothing."""

    def __init__(self, config: NodeConfig) -> None: ...

    def handle(self, event: Any) -> Sequence[Any]:
        return ()

    def next_deadline(self) -> int | None:
        return None


def adapters() -> Iterator[tuple[str, str]]:
    """Pairs: what is measured, and the figure. SystemExit where measuring fails."""
    with subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            what, figure = json.loads(line)
            yield what, figure
    if process.returncode:
        raise SystemExit(f"ci/bench: measuring adapters ended with exit code {process.returncode}")


def measure() -> Iterator[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        yield from _cases(Path(folder))
        yield from _harness(Path(folder))


def _cases(folder: Path) -> Iterator[tuple[str, str]]:
    claimed = read_profile(PROFILE)
    given = [case for case in select(claimed.protocol) if claimed.why_not(case) is None]
    iuts: list[Iut] = [
        SimulatedIut("the reference in process", make_core),
        StdioIut("the reference", [sys.executable, "-m", "scatterproof.impl.drivers.stdio"]),
    ]
    for language in BUILD:
        reason = missing(language)
        if reason is not None:
            yield f"cases over stdio, the example in {language}", f"not run: {reason}"
            continue
        place = folder / language
        place.mkdir()
        iuts.append(StdioIut(f"the example in {language}", build(language, place)))
    nodes = sum(len(case.schedule.topology.nodes) for case in given)
    for iut in iuts:
        events = 0

        def once(iut: Iut = iut) -> None:
            nonlocal events
            results = [run_case(case, iut, claimed) for case in given]
            if any(result.verdict is not Verdict.PASS for result in results):
                raise SystemExit(f"ci/bench: {iut.name} does not pass; a benchmark of wrong runs says nothing")
            events = sum(len(result.trace.rows) for result in results if result.trace is not None)

        seconds = _least_seconds(once)
        yield (
            f"cases over stdio, {iut.name} ({len(given)} cases, {nodes} nodes started, {events} rows)",
            f"{len(given) / seconds:,.1f} cases/s",
        )


def _harness(folder: Path) -> Iterator[tuple[str, str]]:
    busy, idle = _schedule(EVENTS), _schedule(1)
    nodes = len(busy.topology.nodes)
    in_process = _least_seconds(lambda: simulate(busy, NullNode)) / EVENTS
    yield "the harness against a node that does nothing, in process", f"{in_process * 1e6:,.1f} us an event"
    for name, command in _null_commands(folder):
        iut = StdioIut(name, command)
        starting = _least_seconds(lambda iut=iut: iut.run(idle))  # type: ignore[misc]
        seconds = _least_seconds(lambda iut=iut: iut.run(busy))  # type: ignore[misc]
        event, start = (seconds - starting) / EVENTS * 1e6, starting / nodes * 1e3
        yield (
            f"the harness against a node in {name} that does nothing, over stdio",
            f"{event:,.1f} us an event; {start:,.1f} ms to start and end a node",
        )


def _null_commands(folder: Path) -> Iterator[tuple[str, list[str]]]:
    if missing("c") is None:
        place = folder / "null"
        place.mkdir()
        (place / "node.c").write_text(NULL_C)
        yield "C", build("c", place, place)
    yield "Python", [sys.executable, "-I", "-S", "-c", NULL_PYTHON]


def _schedule(events: int) -> Schedule:
    """Submissions, and nothing else: nodes that do nothing cause nothing."""
    topology = star(2)
    return validate(
        Schedule(
            protocol="totalorder",
            topology=topology,
            delays=tuple(Delay(1_000) for _ in topology.links),
            submissions=tuple(Submission(1_000 * n, n % 2, (Message(1 - n % 2, b"x" * 32),)) for n in range(events)),
            parameters={"environment": "C", "beacon_interval_ns": 50_000},
        )
    )


def _least_seconds(work: Callable[[], object]) -> float:
    found: list[float] = []
    for _ in range(TRIES):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


if __name__ == "__main__":
    for measured in measure():
        print(json.dumps(measured), flush=True)
