"""Benchmarks: simulator, also under loss, growth with held messages, programs, the queue, publish and subscribe,
checks, fuzzing, mining, judging over stdio, P4 targets, report, explorer; when named, latencies in simulation
(`figures`), and mining beside other tools (`mine`).

Machines are shared and noisy: trust the ratios within one run. The latencies of `figures` are in simulated time and do
not depend on the machine; they are drawn into results/figures/.

An event is an arrival, a submission or a timer handled by a core, with the trace on. Simulator and checks run on one
core and are measured in CPU time, best of three tries, as is the embedded P4 target; the others in wall time.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random
from statistics import median

import msgspec

from ci.bench_adapters import adapters
from ci.bench_explorer import explorer
from ci.bench_growth import SIZES, comparisons, growth
from ci.bench_mine import compare_mining, event_counts
from ci.bench_p4 import p4
from ci.bench_programs import programs
from ci.bench_pubsub import pubsub
from ci.bench_queue import queue
from ci.bench_report import report
from ci.bench_schedules import PROTOCOL, busy_schedule
from ci.bench_spark import bench as spark_bench
from ci.figures.make import FULL, QUICK, make
from scatterproof.conformance.judge import Judging, columns_of, judge, kernel
from scatterproof.conformance.network.contract import Observer
from scatterproof.conformance.network.run import SimulatedIut, header_of
from scatterproof.conformance.network.simulator import Simulation
from scatterproof.conformance.network.topologies import fat_tree
from scatterproof.conformance.protocol import load
from scatterproof.fuzz.fuzzer import fuzz
from scatterproof.impl.totalorder import make_core
from scatterproof.spec.core import node_config
from scatterproof.spec.files import write_atomically
from scatterproof.spec.schedule import Fault, FaultKind, Schedule, validate
from scatterproof.spec.topology import route
from scatterproof.spec.totalorder.messages import PacketKind
from scatterproof.spec.trace import Header, Kind, Row, Trace

HOSTS = (4, 8, 16, 64, 256)
TRIES = 3
# Environment, and the share of packets lost.
LOSSY_RUNS = (("C", 0.0), ("A", 0.0), ("B", 0.0), ("D9", 0.0), ("D9", 1e-3), ("D8", 0.0), ("D8", 1e-3))
LOSSY_HOSTS = (8, 256)
LOSSY_TURNS = 5
Figure = tuple[str, str]


def loaded_schedule(hosts: int, submissions: int, seed: int = 1) -> Schedule:
    """A busy fat tree."""
    return busy_schedule(fat_tree(hosts, radix=4 if hosts <= 16 else 8 if hosts <= 128 else 16), submissions, seed)


def lossy_schedule(hosts: int, submissions: int, environment: str, rate: float, seed: int = 1) -> Schedule:
    """The run of `loaded_schedule` in another environment; each packet that it sends without loss is lost with
    probability `rate`."""
    schedule = loaded_schedule(hosts, submissions, seed)
    # Time to resend what was lost, but no idle time: runs must be equally long, and most packets data.
    schedule = msgspec.structs.replace(
        schedule,
        parameters={"environment": environment, "beacon_interval_ns": 50_000, "retransmit_timeout_ns": 200_000},
        end_ns=max(submission.time_ns for submission in schedule.submissions) + 1_000_000,
    )
    if rate:
        draw, columns = Random(seed), load(PROTOCOL).columns
        kind, link = columns.index("kind"), columns.index("link")
        sent = Counter(row[link] for row in run_once(schedule)[0] if row[kind] == Kind.SENT)
        faults = [(on, index) for on in sorted(sent) for index in range(sent[on]) if draw.random() < rate]
        lost = tuple(Fault(on, index, FaultKind.LOSE) for on, index in faults)
        schedule = msgspec.structs.replace(schedule, faults=lost)
    return validate(schedule)


def run_once(schedule: Schedule, observe: Observer | None = None) -> tuple[list[Row], int, float]:
    """Rows, events handled, and CPU seconds of the run itself; building the nodes is not counted."""
    plugin, topology, routes = load(PROTOCOL), schedule.topology, route(schedule.topology)
    nodes = [
        make_core(node_config(node, topology, routes, PROTOCOL, schedule.parameters))
        for node in range(len(topology.nodes))
    ]
    simulation = Simulation(schedule, nodes, plugin.recorder(), plugin.horizon_ns(schedule), observe)
    start = time.process_time()
    rows = simulation.run()
    return rows, simulation.handled, time.process_time() - start


def data_share(rows: list[Row]) -> float:
    """The share of data among the packets sent."""
    columns = load(PROTOCOL).columns
    kind, packet = columns.index("kind"), columns.index("packet")
    sent = [row[packet] for row in rows if row[kind] == Kind.SENT]
    return sent.count(PacketKind.DATA) / len(sent)


def best(measure: Callable[[], float]) -> float:
    return max(measure() for _ in range(TRIES))


def simulator() -> list[Figure]:
    figures: list[Figure] = []
    for hosts in HOSTS:
        schedule = loaded_schedule(hosts, submissions=max(4_000, 16 * hosts))
        header = header_of(schedule, "reference")

        def off(schedule: Schedule = schedule) -> float:
            _, handled, seconds = run_once(schedule)
            return handled / seconds

        def on(schedule: Schedule = schedule, header: Header = header) -> float:
            _, handled, seconds = run_once(schedule, Judging(header, compiled=kernel(PROTOCOL)).observe)
            return handled / seconds

        rows, handled, _ = run_once(schedule)
        if any(result.broken for result in judge(Trace(header, rows), shown=1)):
            raise SystemExit("ci/bench: the reference broke a clause; a benchmark of wrong runs says nothing")
        plain, checked = best(off), best(on)
        figures.append(
            (
                f"simulator, {hosts} hosts ({handled} events, {data_share(rows):.0%} of packets data)",
                f"{plain:,.0f} events/s; {checked:,.0f} with all checks online",
            )
        )
    return figures


def simulator_under_loss() -> list[Figure]:
    """Rows a second as ratios to environment C. The runs take turns, and the median counts."""
    figures: list[Figure] = []
    for hosts in LOSSY_HOSTS:
        schedules = [lossy_schedule(hosts, max(4_000, 8 * hosts), *run) for run in LOSSY_RUNS]
        speeds: list[list[float]] = [[] for _ in schedules]
        for _ in range(LOSSY_TURNS):
            for schedule, tries in zip(schedules, speeds, strict=True):
                rows, _, seconds = run_once(schedule)
                tries.append(len(rows) / seconds)
        for (environment, rate), schedule, tries in zip(LOSSY_RUNS, schedules, speeds, strict=True):
            ratio = median(speed / first for speed, first in zip(tries, speeds[0], strict=True))
            lost = len(schedule.faults)
            figures.append(
                (
                    f"simulator, {hosts} hosts, environment {environment}, loss {rate:g} ({lost} packets)",
                    f"{ratio:.2f} of the rows/s of {LOSSY_RUNS[0][0]} ({median(tries):,.0f})",
                )
            )
    return figures


def held_messages() -> Iterable[Figure]:
    """How the cost of a message grows with the number of messages that a host holds."""
    held = ", ".join(f"{size:,}" for size in SIZES)
    counts = ", ".join(f"{count:.1f}" for count in comparisons())
    yield f"receiver, under loss (D9): comparisons of keys a delivered message; {held} held", counts
    for row in growth():
        yield f"{row.what}; {', '.join(f'{size:,}' for size in row.sizes)} held", row.statement()


def checks() -> list[Figure]:
    """All clauses over one long trace."""
    schedule = loaded_schedule(8, submissions=40_000)
    rows, _, _ = run_once(schedule)
    trace = Trace(header_of(schedule, "reference"), rows)
    columns, around = columns_of(trace), load(PROTOCOL).surroundings(trace.header)
    start = time.process_time()
    compiled_kernel = kernel(PROTOCOL)
    compiled_kernel.run(around).feed(columns)
    first = time.process_time() - start

    def compiled() -> float:
        run = compiled_kernel.run(around)
        start = time.process_time()
        run.feed(columns)
        return len(rows) / (time.process_time() - start)

    def online() -> float:
        judging = Judging(trace.header)
        start = time.process_time()
        judging.observe(rows)
        return len(rows) / (time.process_time() - start)

    fast, slow = best(compiled), best(online)
    return [
        (f"checks online, all clauses ({len(rows)} rows)", f"{slow:,.0f} rows/s"),
        ("checks compiled, all clauses", f"{fast:,.0f} rows/s, {fast / slow:.0f} times the online ones"),
        ("first compiled pass, compilation or its cache included", f"{first:.2f} s"),
    ]


def fuzzing() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        result = fuzz(PROTOCOL, SimulatedIut("reference", make_core), examples=1_000, seed=1, folder=Path(folder))
    return [
        (
            f"fuzzing, drawn, run and judged ({result.rows / result.examples:.0f} rows a schedule)",
            f"{result.schedules_per_second:,.0f} schedules/s",
        )
    ]


def mining() -> list[Figure]:
    figures = spark_bench(PROTOCOL, events=5_000_000, say=lambda _: None)
    return [
        (f"Spark: {figure.what} ({figure.events} rows)", f"{figure.events_a_second:,.0f} rows/s") for figure in figures
    ]


FIGURES, MINE = "figures", "mine"
ALONE = (MINE, FIGURES)
SECTIONS: dict[str, Callable[[], Iterable[Figure]]] = {
    "simulator": simulator,
    "loss": simulator_under_loss,
    "growth": held_messages,
    "programs": programs,
    "queue": queue,
    "pubsub": pubsub,
    "checks": checks,
    "fuzz": fuzzing,
    "spark": mining,
    "adapters": adapters,
    "p4": p4,
    "report": report,
    "explorer": explorer,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="ci/bench", description=__doc__)
    names, default = ", ".join((*SECTIONS, *ALONE)), f"default all but {' and '.join(ALONE)}"
    parser.add_argument("sections", nargs="*", metavar="section", help=f"any of {names}; {default}")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--quick", action="store_true", help=f"{FIGURES}: fewer points and messages, under a minute")
    parser.add_argument(
        "--events", type=event_counts, default="1e6,1e7", metavar="N,N", help=f"{MINE}: sizes; %(default)s"
    )
    arguments = parser.parse_args()
    unknown = set(arguments.sections) - {*SECTIONS, *ALONE}
    if unknown:
        parser.error(f"no section {', '.join(sorted(unknown))}; choose from {names}")
    sections = [name for name in arguments.sections or SECTIONS if name not in ALONE]
    if FIGURES in arguments.sections:
        page = make(QUICK if arguments.quick else FULL, lambda text: print(text, flush=True))
        print(f"drawn on {page}\n")
    if MINE in arguments.sections:
        compare_mining(PROTOCOL, arguments.events)
    if sections:
        measure(sections, arguments.json)


def measure(sections: Sequence[str], json: Path | None) -> None:
    print(f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, {platform.system()}")
    print("\n| what | figure |\n|---|---|")
    figures: list[Figure] = []
    for name in sections:
        for figure in SECTIONS[name]():
            figures.append(figure)
            print(f"| {figure[0]} | {figure[1]} |")
            sys.stdout.flush()
    if json:
        write_atomically(json, msgspec.json.format(msgspec.json.encode(dict(figures)), indent=1) + b"\n")


if __name__ == "__main__":
    main()
