"""Corpora: many seeded runs, simulated in Spark tasks, each of which writes its own files.

A run lies in one file, contiguous; files hold the runs in order. What is in a run depends on (protocol, seed, run) and
on the rules planted in it, never on how the runs were shared out.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from conformance.network.run import simulate
from spark.configurations import draw_run
from spark.jobs import OnProgress, run_tasks
from spark.layout import MANIFEST, Manifest, RunEntry, events_path, replaced_folder, runs_path
from spark.session import MASTER, session_on
from spec.core import Core, NodeConfig
from spec.errors import BadInput, CannotRun
from spec.files import write_atomically
from spec.schedule import Schedule
from spec.trace import Trace
from spec.trace_parquet import write_runs

# Small enough that progress shows and tasks even out, large enough that a file is worth opening.
RUNS_A_FILE = 64


@dataclass(frozen=True, slots=True)
class Plant:
    """Rules that a run's cores get in place of the right ones: whatever the protocol's `make_core` takes as rules."""

    name: str
    rules: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class _Share:
    """The runs of one file, and what is needed to make them."""

    protocol: str
    seed: int
    file: int
    runs: range
    planted: dict[int, Plant]


def make_corpus(
    protocol: str,
    runs: int,
    seed: int,
    out: Path,
    master: str = MASTER,
    on_progress: OnProgress | None = None,
    *,
    plant: Mapping[int, Plant] | None = None,
    files: int | None = None,
) -> Manifest:
    """Simulate runs 0 to `runs` - 1 of `seed` on the reference cores, and write them to the folder `out`.

    on_progress counts runs. plant: rules by run. files: how many pairs of files to share the runs out to. Raises
    BadInput for an unknown protocol, no runs, or an `out` that is not a corpus, CannotRun without Java, and for a
    protocol that has no corpora yet.
    """
    if runs < 1:
        raise BadInput(f"runs is {runs}; ask for at least one")
    draw_run(protocol, seed, 0)
    _make_core(protocol)
    shares = _share_out(protocol, runs, seed, files or -(-runs // RUNS_A_FILE), dict(plant or {}))
    with replaced_folder(out.absolute(), MANIFEST) as folder, session_on(master) as session:
        (folder / "events").mkdir()
        (folder / "runs").mkdir()
        entries = run_tasks(
            session,
            shares,
            partial(_make_file, folder),
            weights=[len(share.runs) for share in shares],
            on_progress=on_progress,
        )
        every = tuple(entry for part in entries for entry in part)
        manifest = Manifest(
            protocol=protocol, seed=seed, files=len(shares), events=sum(entry.events for entry in every), runs=every
        )
        write_atomically(folder / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n")
    return manifest


def simulate_run(protocol: str, seed: int, run: int, plant: Plant | None = None) -> Trace:
    """One run of a corpus by itself, as `make_corpus` writes it."""
    return _simulated(protocol, run, draw_run(protocol, seed, run).schedule, plant)


def _share_out(protocol: str, runs: int, seed: int, files: int, planted: dict[int, Plant]) -> list[_Share]:
    strange = sorted(set(planted) - set(range(runs)))
    if strange:
        raise BadInput(f"rules are planted in run {strange[0]}; the runs are 0 to {runs - 1}")
    files = min(files, runs)
    bounds = [runs * file // files for file in range(files + 1)]
    return [
        _Share(
            protocol=protocol,
            seed=seed,
            file=file,
            runs=range(first, last),
            planted={run: planted[run] for run in range(first, last) if run in planted},
        )
        for file, (first, last) in enumerate(pairwise(bounds))
    ]


def _make_file(folder: Path, share: _Share) -> list[RunEntry]:
    """In a task: simulate the share's runs one after the other, each written before the next is begun."""
    entries: list[RunEntry] = []

    def traces() -> Iterator[Trace]:
        for run in share.runs:
            drawn = draw_run(share.protocol, share.seed, run)
            plant = share.planted.get(run)
            trace = _simulated(share.protocol, run, drawn.schedule, plant)
            topology = drawn.schedule.topology
            entries.append(
                RunEntry(
                    run=run,
                    seed=drawn.schedule.seed,
                    family=drawn.family,
                    hosts=len(topology.hosts()),
                    switches=len(topology.switches()),
                    links=len(topology.links),
                    parameters=drawn.schedule.parameters,
                    submissions=len(drawn.schedule.submissions),
                    events=len(trace.rows),
                    file=share.file,
                    planted=plant.name if plant else "",
                    kind=drawn.kind,
                    faults=len(drawn.schedule.faults),
                    failures=len(drawn.schedule.failures),
                )
            )
            yield trace

    write_runs(events_path(folder, share.file), runs_path(folder, share.file), traces())
    return entries


def _simulated(protocol: str, run: int, schedule: Schedule, plant: Plant | None) -> Trace:
    make_core = _make_core(protocol)
    make_node: Callable[[NodeConfig], Core[Any, Any]] = (
        make_core if plant is None else partial(make_core, rules=plant.rules)
    )
    trace = simulate(schedule, make_node, iut="reference core")
    return Trace(msgspec.structs.replace(trace.header, run=run), trace.rows)


def _make_core(protocol: str) -> Callable[..., Core[Any, Any]]:
    """The reference core of the protocol."""
    if importlib.util.find_spec(f"impl.{protocol}") is None:
        raise CannotRun(f"protocol {protocol!r} has no reference core yet; a corpus is made of its runs")
    found: Callable[..., Core[Any, Any]] = importlib.import_module(f"impl.{protocol}").make_core
    return found
