"""Makes schedules from TLC's state graph: behaviours of a small model that take every action, and every action after
every other one that it can follow.

``python -m scatterproof.models.covering PROTOCOL`` writes them as ``spec/<protocol>/covering/<model>-<number>.json``,
to be replayed on an implementation. The protocol names the models, and turns a behaviour into a schedule.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import msgspec

from scatterproof.models.expected import SPEC_FOLDER, Model, configuration, find, library, models_of
from scatterproof.models.protocol import Covered, load
from scatterproof.models.tla_values import Value, parse_state
from scatterproof.models.tlc import State, TlcOutcome, run_tlc
from scatterproof.spec import schedule as schedules
from scatterproof.spec.errors import BadInput, CannotRun, ScatterproofError
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.scratch import scratch_folder

Pair: TypeAlias = tuple[str, str]
Step: TypeAlias = tuple[str, int]  # an action, and the state that it leads to

_STATE = re.compile(r'^(-?\d+) \[label="(.*?)"(,style = filled)?\];?$')
_EDGE = re.compile(r'^(-?\d+) -> (-?\d+) \[label="(\w+)"')
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Graph:
    """A state graph: states by TLC's fingerprints, as printed. Steps that change nothing are left out."""

    initial: list[int] = field(default_factory=list)
    labels: dict[int, str] = field(default_factory=dict)
    steps: dict[int, list[Step]] = field(default_factory=dict)

    def pairs(self) -> frozenset[Pair]:
        """Every action with every one that can follow it."""
        return frozenset(
            (action, following)
            for steps in self.steps.values()
            for action, state in steps
            for following, _ in self.steps.get(state, ())
        )


@dataclass(frozen=True, slots=True)
class Covering:
    """Behaviours of one model that together take all of `pairs`.

    behaviours: the states of each, with the action that led to each state.
    """

    behaviours: tuple[tuple[State, ...], ...]
    pairs: frozenset[Pair]


def read_graph(lines: Iterable[str]) -> Graph:
    """The graph that TLC has dumped with ``-dump dot,actionlabels``."""
    graph = Graph()
    for line in lines:
        if found := _EDGE.match(line):
            source, target = int(found.group(1)), int(found.group(2))
            if source != target:
                graph.steps.setdefault(source, []).append((found.group(3), target))
        elif found := _STATE.match(line):
            state = int(found.group(1))
            graph.labels[state] = found.group(2)
            if found.group(3):
                graph.initial.append(state)
    return graph


def covering_paths(graph: Graph) -> list[tuple[int, list[Step]]]:
    """Paths that together take all pairs of the graph. Each goes on to the nearest missing pair as long as it can reach
    one, so that there are few paths. BadInput where a pair cannot be reached."""
    missing = set(graph.pairs())
    paths: list[tuple[int, list[Step]]] = []
    while missing:
        begin = graph.initial[0]
        path: list[Step] = []
        while more := _nearest(graph, path[-1] if path else ("", begin), missing):
            walked = [path[-1], *more] if path else more
            missing -= {(one, other) for (one, _), (other, _) in pairwise(walked)}
            path += more
        if not path:
            raise BadInput(f"no path leads to {min(missing)}; cover a graph with one initial state")
        paths.append((begin, path))
    return paths


def _nearest(graph: Graph, last: Step, missing: set[Pair]) -> list[Step]:
    """The shortest way on from the last step that ends with a missing pair; none where no missing pair can be
    reached."""
    came: dict[Step, Step | None] = {last: None}
    queue = deque([last])
    while queue:
        step = queue.popleft()
        for following in graph.steps.get(step[1], ()):
            if (step[0], following[0]) in missing:
                way, at = [following], step
                while at != last:
                    way.append(at)
                    at = came[at]  # type: ignore[assignment]
                return way[::-1]
            if following not in came:
                came[following] = step
                queue.append(following)
    return []


def cover(model: Model, protocol: str, spec_folder: Path = SPEC_FOLDER) -> Covering:
    """Behaviours of a model in which all holds. CannotRun when TLC does not reach the end of its graph."""
    with scratch_folder("covering") as scratch:
        dump = scratch / "graph.dot"
        folder = spec_folder / protocol
        module = find(folder, f"{model.module}.tla", f"model {model.name!r}")
        # Its properties are checked elsewhere; here only the graph is needed.
        bare = msgspec.structs.replace(model, invariants=(), properties=())
        run = run_tlc(module, configuration(bare, spec_folder, protocol), dump=dump, library=library(folder))
        if run.outcome is not TlcOutcome.HOLDS:
            raise CannotRun(f"model {model.name}: TLC did not search it to the end: {run.problem or run.outcome.value}")
        with dump.open(encoding="utf-8") as lines:
            graph = read_graph(lines)
    behaviours = []
    for begin, path in covering_paths(graph):
        steps = [("Initial", begin), *path]
        behaviours.append(tuple(State(action, _variables(graph.labels[state])) for action, state in steps))
    return Covering(tuple(behaviours), graph.pairs())


def _variables(label: str) -> dict[str, Value]:
    return parse_state(_ESCAPED.sub(lambda found: "\n" if found.group(1) == "n" else found.group(1), label))


def schedules_of(
    model: Model, protocol: str, spec_folder: Path = SPEC_FOLDER, *, covering: Covering | None = None
) -> dict[str, Schedule]:
    """The model's behaviours as schedules, by file name; from `covering` where it is given, else from a run of TLC."""
    turn = _covered(protocol).schedule_of
    text = configuration(model, spec_folder, protocol)
    behaviours = (covering or cover(model, protocol, spec_folder)).behaviours
    return {f"{model.name}-{number}.json": turn(states, text) for number, states in enumerate(behaviours, 1)}


def models_to_cover(protocol: str, spec_folder: Path = SPEC_FOLDER) -> tuple[Model, ...]:
    """The models that the protocol names; BadInput where it names none, or one that models.toml does not list."""
    known = {model.name: model for model in models_of(protocol, spec_folder)}
    names = _covered(protocol).models
    for name in names:
        if name not in known:
            raise BadInput(f"models/{protocol}/plugin.py names model {name!r}, which models.toml does not list")
    return tuple(known[name] for name in names)


def _covered(protocol: str) -> Covered:
    covered = load(protocol).covered
    if covered is None:
        raise BadInput(f"protocol {protocol!r} names no models whose actions schedules shall cover")
    return covered()


def write_covering(protocol: str, spec_folder: Path = SPEC_FOLDER) -> list[Path]:
    """Write all schedules of the protocol anew; returns their files."""
    folder = spec_folder / protocol / "covering"
    made = {
        name: schedule
        for model in models_to_cover(protocol, spec_folder)
        for name, schedule in schedules_of(model, protocol, spec_folder).items()
    }
    for stale in folder.glob("*.json"):
        if stale.name not in made:
            stale.unlink()
    for name, schedule in made.items():
        schedules.write(folder / name, schedule)
    return [folder / name for name in made]


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m scatterproof.models.covering PROTOCOL\n")
        return 2
    try:
        files = write_covering(arguments[0])
    except ScatterproofError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.writelines(f"{file}\n" for file in files)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
