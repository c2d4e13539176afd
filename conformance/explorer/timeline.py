"""A run from its first row to its last: the nodes' state at any row, and the rows that break a clause.

One pass over the rows judges them and keeps copies of the state on its way; questions are answered meanwhile. A state
is made from the nearest copy at or before it. The longer the run, the sparser the copies, so that their number is
bounded.
"""

from __future__ import annotations

import pickle
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from scatterproof.conformance.checks.online import Broken
from scatterproof.conformance.checks.rows import refuse_rows_after_end, row_rules
from scatterproof.conformance.explorer.sources import BLOCK, RunSource
from scatterproof.conformance.judge import conclude, kernel, limits, shown_at
from scatterproof.conformance.protocol import load
from scatterproof.conformance.verdict import foremost
from scatterproof.conformance.views import NodeState, RowView
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace import Row

COPIES = 512  # of the state, over the whole run
NEAR = 512  # rows between copies about the place that is looked at
NEAR_COPIES = 64
FARTHEST = 40 * BLOCK  # rows that one question may replay
MOST_KEPT = 2000  # violations of a check
ANEW = 32  # blocks between two looks at what was found; up to this one, each has its own
COMPILED_FROM = 20 * BLOCK  # rows: strictly below, the checks run as plain Python, without compiling


class Timeline:
    """read: how many rows the pass has seen. ended: whether it is over. problem: why it ended early, or nothing."""

    def __init__(self, source: RunSource) -> None:
        self.source = source
        self.header = source.header
        self.read = 0
        self.ended = False
        self.problem = ""
        self._plugin = load(self.header.protocol)
        self._lock = threading.Lock()
        self._every = 4 * BLOCK
        self._copies: dict[int, bytes] = {0: pickle.dumps(RowView(self.header))}  # by the number of rows seen
        self._places = [0]
        self._near: OrderedDict[int, bytes] = OrderedDict()
        self._found: list[Broken] = []  # in the order of the rows

    # ------------------------------------------------------------------------------------------------ the pass

    def scan(self) -> None:
        """Read the whole run once; in a thread of its own where the run is long."""
        problem = f"{self.source.name}: judging broke off; the terminal says why"
        try:
            self._scan()
            problem = ""
        except BadInput as error:
            problem = str(error)
        except OSError as error:
            problem = f"{self.source.name}: cannot be read any more: {error.strerror}"
        finally:
            self.problem, self.ended = problem, True

    def _scan(self) -> None:
        view, judge = RowView(self.header), _Judge(self)
        for block in self.source.blocks():
            judge.feed(block)  # it refuses what a view must not see
            for row in block:
                view.see(row)
            with self._lock:
                self.read += len(block)
                self._found = judge.found
                if self.read % self._every == 0:
                    self._keep(view)
        judge.end()
        with self._lock:
            self._found = judge.found

    def _keep(self, view: RowView) -> None:
        self._copies[self.read] = pickle.dumps(view)
        self._places.append(self.read)
        if len(self._places) > COPIES:
            self._every *= 2
            self._copies = {place: copy for place, copy in self._copies.items() if place % self._every == 0}
            self._places = sorted(self._copies)

    # ------------------------------------------------------------------------------------------------ questions

    def states(self, position: int) -> list[NodeState] | None:
        """The state of each node after the row at this position; None where reading has not come so far."""
        view = self.view(position + 1)
        return None if view is None else [view.state(node) for node in range(len(self.header.topology.nodes))]

    def view(self, seen: int) -> RowView | None:
        """A copy of the state of all nodes after the first `seen` rows; None where reading has not come so far."""
        with self._lock:
            place = self._places[bisect_right(self._places, seen) - 1]
            copy = self._copies[place]
            near = [at for at in self._near if place < at <= seen]
            if near:
                place = max(near)
                copy = self._near[place]
        if seen - place > FARTHEST:
            return None
        view: RowView = pickle.loads(copy)
        while place < seen:
            count = min(seen, (place // NEAR + 1) * NEAR) - place
            rows = self.source.window(place, count)
            if not rows:
                return None
            for row in rows:
                view.see(row)
            place += len(rows)
            if place % NEAR == 0:
                self._keep_near(place, view)
        return view

    def _keep_near(self, place: int, view: RowView) -> None:
        with self._lock:
            self._near[place] = pickle.dumps(view)
            self._near.move_to_end(place)
            while len(self._near) > NEAR_COPIES:
                self._near.popitem(last=False)

    def violations(self, first: int, last: int) -> list[Broken]:
        """The violations at rows from position `first` to `last`, both included, as far as reading has come."""
        with self._lock:
            found = self._found
            return found[_at(found, first) : _at(found, last + 1)]

    def next_violation(self, position: int, step: int) -> int | None:
        """The position of the nearest row after `position` (step 1) or before it (step -1) that breaks a clause; None
        if none is known."""
        with self._lock:
            found = self._found
        at = _at(found, position + 1) if step > 0 else _at(found, position) - 1
        return found[at].position if 0 <= at < len(found) else None

    @property
    def broken(self) -> int:
        """How many violations are known by now."""
        with self._lock:
            return len(self._found)

    def sentences(self, broken: Sequence[Broken], row: Row) -> list[tuple[str, str]]:
        """The clauses that a row breaks, the most telling first, each with a sentence, or with its id where it has
        none."""
        held = [0] * (len(self._plugin.checks) + len(self._plugin.premises))
        told = conclude(self._plugin, self.header, held, broken, {broken[0].position: row}, shown=1)
        found = {one.clause: one.violations[0].sentence for one in foremost(self.header.protocol, told)}
        others = (self._plugin.checks[one.check].clause for one in broken)
        return list((found | {clause: clause for clause in others if clause not in found}).items())


def _at(found: list[Broken], position: int) -> int:
    """How many violations are at rows strictly below the position."""
    return bisect_right(found, position - 1, key=lambda violation: violation.position)


class _Judge:
    """The checks of the run, compiled where the run is known to be long."""

    def __init__(self, timeline: Timeline) -> None:
        self._source = timeline.source
        header = timeline.header
        self._header, self._plugin = header, load(header.protocol)
        self._rules = row_rules(header.protocol, header.topology)
        self._position = 0
        self._ended = False
        self.found: list[Broken] = []
        rows = self._source.rows
        # The length of a trace in NDJSON is not known yet; it is read more slowly than plain checks are run.
        is_long = rows is not None and rows >= COMPILED_FROM
        checks = kernel(header.protocol) if is_long else kernel(header.protocol).interpreted
        self._run = checks.run(self._plugin.surroundings(header), limits(header, MOST_KEPT), shown_at(header))

    def feed(self, rows: list[Row]) -> None:
        table = np.array(rows, dtype=np.int64)
        columns = {name: np.ascontiguousarray(table[:, at]) for at, name in enumerate(self._plugin.columns)}
        place = self._source.name
        self._rules.refuse(columns, base=self._position, place=place)
        self._ended = refuse_rows_after_end(columns, ended=self._ended, place=place)
        self._run.feed(columns)
        self._position += len(rows)
        if self._position <= ANEW * BLOCK or self._position // BLOCK % ANEW == 0:
            self.found = self._counting()

    def end(self) -> None:
        """Judge the end of the run. Raises BadInput for a run that no check can judge, as judging it whole would."""
        self.found = self._counting()
        for one in self._run.broken:
            if one.check >= len(self._plugin.checks):
                (row,) = self._source.window(one.position, 1) or [()]
                held = [0] * (len(self._plugin.checks) + len(self._plugin.premises))
                place = self._source.name
                conclude(self._plugin, self._header, held, [one], {one.position: row}, shown=1, place=place)

    def _counting(self) -> list[Broken]:
        """The violations among what was found: premises and doubts are none."""
        counting = [not check.doubt for check in self._plugin.checks]
        return [one for one in self._run.broken if one.check < len(counting) and counting[one.check]]
