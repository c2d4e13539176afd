"""Corpora: many seeded runs, simulated in Spark tasks, each of which writes its own files.

A run lies in one file, contiguous; files hold the runs in order. What is in a run depends on (protocol, seed, run) and
on what is planted in it, never on how the runs were shared out, nor on interruptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import msgspec
from pyspark.sql import SparkSession

from scatterproof.conformance.network.run import catalogue_version
from scatterproof.impl.protocol import load
from scatterproof.spark.configurations import draw_run
from scatterproof.spark.jobs import OnProgress, run_tasks
from scatterproof.spark.layout import FORMAT, MANIFEST, Manifest, RunEntry, events_path, runs_path, write_manifest
from scatterproof.spark.planting import Plan, Probe, Trial, choose, refuse_wishes
from scatterproof.spark.plants import Plant, Spoiling, Wish, right_run
from scatterproof.spark.session import MASTER, session_on
from scatterproof.spark.unfinished import Unfinished, unfinished_folder
from scatterproof.spec.errors import BadInput
from scatterproof.spec.files import read_bytes, write_atomically
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.storage import reached
from scatterproof.spec.trace import Trace
from scatterproof.spec.trace_parquet import write_runs

__all__ = ["RUNS_A_FILE", "Plant", "make_corpus", "simulate_run"]

# Small enough that progress shows and tasks even out, large enough that a file is worth opening.
RUNS_A_FILE = 64
_PLAN = "plan.json"
OnNote = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Share:
    """The runs of one file, and what is needed to make them."""

    protocol: str
    seed: int
    file: int
    runs: range
    planted: Mapping[int, Spoiling]


def make_corpus(
    protocol: str,
    runs: int,
    seed: int,
    out: Path,
    master: str = MASTER,
    on_progress: OnProgress | None = None,
    *,
    plant: Mapping[int, Plant] | None = None,
    wishes: Sequence[Wish] = (),
    files: int | None = None,
    on_note: OnNote | None = None,
) -> Manifest:
    """Simulate runs 0 to `runs` - 1 of `seed` on the reference cores, and write them to the folder `out`.

    on_progress: counts runs.
    plant: what is planted, by run.
    wishes: what else is planted, in runs that are chosen for it.
    files: how many pairs of files to share the runs out to.
    on_note: takes sentences for the user.

    A call that was interrupted, even by a kill, is continued by one with the same arguments. Raises BadInput for an
    unknown protocol, no runs, an `out` that is not a corpus, and wishes that cannot be met; CannotRun without Java, for
    a protocol that has no corpora yet, and while another process makes the same folder.
    """
    if runs < 1:
        raise BadInput(f"runs is {runs}; ask for at least one")
    draw_run(protocol, seed, 0)
    load(protocol)
    plants: dict[int, Spoiling] = dict(plant or {})
    _refuse_strange(plants, runs)
    refuse_wishes(wishes, runs)
    files = min(files or -(-runs // RUNS_A_FILE), runs)
    settings = {
        "made by": [FORMAT, catalogue_version(protocol)],
        "protocol": protocol,
        "seed": seed,
        "runs": runs,
        "files": files,
        "planted": {run: plants[run].name for run in sorted(plants)},
        "wishes": [[wish.name, str(wish.wanted)] for wish in wishes],
    }
    with unfinished_folder(reached(out).absolute(), MANIFEST, msgspec.json.encode(settings)) as unfinished:
        with session_on(master, unfinished.folder) as session:
            plan = _plan(session, unfinished, protocol, seed, runs, wishes, on_note)
            shares = _share_out(protocol, runs, seed, files, plants | plan.plants(wishes))
            every = _make_missing(session, unfinished, shares, on_progress, on_note)
        manifest = Manifest(
            protocol=protocol,
            seed=seed,
            files=len(shares),
            events=sum(entry.events for entry in every),
            runs=tuple(every),
            plantings=plan.plantings,
        )
        write_manifest(unfinished.folder, manifest)
    return manifest


def simulate_run(protocol: str, seed: int, run: int, plant: Spoiling | None = None) -> Trace:
    """One run of a corpus by itself, as `make_corpus` writes it."""
    return _simulated(protocol, run, draw_run(protocol, seed, run).schedule, plant)


def _refuse_strange(plants: Mapping[int, Spoiling], runs: int) -> None:
    strange = sorted(set(plants) - set(range(runs)))
    if strange:
        raise BadInput(f"rules are planted in run {strange[0]}; the runs are 0 to {runs - 1}")


def _plan(
    session: SparkSession,
    unfinished: Unfinished,
    protocol: str,
    seed: int,
    runs: int,
    wishes: Sequence[Wish],
    on_note: OnNote | None,
) -> Plan:
    """In which runs the wishes are planted: runs are tried in tasks, and the plan is kept for a call that goes on."""
    path = unfinished.notes / _PLAN
    if not wishes:
        return Plan()
    if path.exists():
        return msgspec.json.decode(read_bytes(path, "plan"), type=Plan)

    def ask(wish: Wish, some: Sequence[int]) -> Sequence[Probe]:
        if on_note is not None:
            on_note(f"trying {len(some)} runs for {wish.name}")
        trials = [Trial(protocol, seed, wish, run) for run in some]
        return run_tasks(session, trials, _try, weights=[1] * len(trials))

    plan = choose(protocol, seed, runs, wishes, ask)
    write_atomically(path, msgspec.json.encode(plan))
    return plan


def _try(trial: Trial) -> Probe:
    return trial.probe(load(trial.protocol).make_core)


def _share_out(protocol: str, runs: int, seed: int, files: int, planted: Mapping[int, Spoiling]) -> list[_Share]:
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


def _make_missing(
    session: SparkSession,
    unfinished: Unfinished,
    shares: Sequence[_Share],
    on_progress: OnProgress | None,
    on_note: OnNote | None,
) -> list[RunEntry]:
    """The entries of all runs, after those files that are not there yet have been made."""
    noted = {path.name for path in unfinished.notes.iterdir()}
    missing = [share for share in shares if _entries_path(unfinished.notes, share).name not in noted]
    total = sum(len(share.runs) for share in shares)
    there = total - sum(len(share.runs) for share in missing)
    if on_note is not None and unfinished.goes_on:
        on_note(f"going on with what was begun: {there} of {total} runs are there")
    if on_note is not None and unfinished.others:
        on_note("beginning anew: what was begun here had other arguments")
    run_tasks(
        session,
        missing,
        partial(_make_and_note, unfinished),
        weights=[len(share.runs) for share in missing],
        on_progress=None if on_progress is None else lambda done, _: on_progress(there + done, total),
    )
    every: list[RunEntry] = []
    for share in shares:
        every += msgspec.json.decode(
            read_bytes(_entries_path(unfinished.notes, share), "list of runs"), type=list[RunEntry]
        )
    return every


def _entries_path(notes: Path, share: _Share) -> Path:
    return notes / f"part-{share.file:05}.json"


def _make_and_note(unfinished: Unfinished, share: _Share) -> None:
    """In a task: make a pair of files, and note last of all, when they are whole, what is in them."""
    with unfinished.part() as folder:
        entries = _make_file(folder, share)
    write_atomically(_entries_path(unfinished.notes, share), msgspec.json.encode(entries))


def _make_file(folder: Path, share: _Share) -> list[RunEntry]:
    """Simulate the share's runs one after the other, each written before the next is begun."""
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
                    expected=plant.expected if plant else (),
                )
            )
            yield trace

    write_runs(events_path(folder, share.file), runs_path(folder, share.file), traces())
    return entries


def _simulated(protocol: str, run: int, schedule: Schedule, plant: Spoiling | None) -> Trace:
    make_core = load(protocol).make_core
    trace = right_run(schedule, make_core) if plant is None else plant.play(schedule, make_core)
    return Trace(msgspec.structs.replace(trace.header, run=run), trace.rows)
