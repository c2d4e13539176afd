"""Judging a trace: clause by clause, by the online checks, by their compiled form, or by the oracles.

Every verdict is made here, and alike for all three: a clause passes only when the trace records all that its check
reads, in an order that is strong enough, and the clause was at stake at least once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import repeat
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from scatterproof.conformance.checks.compiled import CompiledRun, Kernel
from scatterproof.conformance.checks.interpreted import Limits, Shown
from scatterproof.conformance.checks.online import Broken, Monitor
from scatterproof.conformance.checks.rows import (
    RowRules,
    columns_of_rows,
    refuse_header,
    refuse_rows_after_end,
    row_rules,
)
from scatterproof.conformance.checks.step import Check
from scatterproof.conformance.protocol import Plugin, load
from scatterproof.conformance.verdict import ClauseResult, Verdict, Violation
from scatterproof.conformance.wording import POSITION, Told, sentences
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.topology import NodeId, Role
from scatterproof.spec.trace import ABSENT, Header, Kind, Order, Row, Trace, schema

SHOWN = 10  # violations of a clause that are put into words; all are counted
LOADED_ROWS = 60_000  # are judged in plain Python while compiled checks are loaded: half a second, at 8 us a row
_asked: Counter[str] = Counter()  # rows that `judge` was asked about, by protocol

RowAt = Callable[[int], Row]


def judge(trace: Trace, *, shown: int = SHOWN, place: str = "trace") -> list[ClauseResult]:
    """Judge by the online checks, or by their compiled form where that is sooner done. Raises BadInput for a trace that
    no check may look at."""
    return judged(trace, place, _sooner(trace)).results(trace.rows, shown=shown)


def judge_compiled(trace: Trace, *, shown: int = SHOWN, place: str = "trace") -> list[ClauseResult]:
    """Judge by the compiled checks, in one batch."""
    return judged(trace, place, kernel(trace.header.protocol)).results(trace.rows, shown=shown)


def judge_by_oracles(trace: Trace, *, shown: int = SHOWN, place: str = "trace") -> list[ClauseResult]:
    """Judge by the oracles. They say which rows break a clause; how often it was at stake is taken from the checks."""
    plugin = load(trace.header.protocol)
    judging = judged(trace, place)
    broken = [
        Broken(number, position, 0, ABSENT, ABSENT, -1)
        for number, check in enumerate(plugin.checks)
        for position in sorted(plugin.oracles[check.name](trace))
    ]
    broken += [violation for violation in judging.broken if violation.check >= len(plugin.checks)]
    return conclude(plugin, trace.header, judging.held, broken, trace.rows, shown=shown, place=place, worded=False)


class Judging:
    """The checks of one run, as it happens: `observe` its rows, any number at a time, then `results`. Checks of clauses
    that do not apply to the run say nothing.

    compiled: checks to judge by; None for plain Python. Both find the same.
    """

    def __init__(self, header: Header, place: str = "trace", compiled: Kernel | None = None) -> None:
        self._header, self._place = header, place
        self._plugin = load(header.protocol)
        self._rules = rules_of(header, place)
        self._position, self._ended = 0, False
        around = self._plugin.surroundings(header)
        self._numbers = np.flatnonzero(around["applies"]).tolist()  # other checks would cost time and find nothing
        self._run: CompiledRun | Monitor
        if compiled is None:
            everything = all_checks(self._plugin)
            self._run = Monitor([everything[number] for number in self._numbers], self._plugin.columns, around)
        else:
            self._run = compiled.run(around)

    def observe(self, rows: Sequence[Row]) -> None:
        """Judge the next rows. Raises BadInput where no check may look at one of them."""
        columns = columns_of_rows(rows, self._plugin.columns, self._place, base=self._position)
        self._rules.refuse(columns, base=self._position, place=self._place)
        self._ended = refuse_rows_after_end(columns, ended=self._ended, place=self._place)
        if isinstance(self._run, Monitor):
            observe = self._run.observe
            for position, row in enumerate(rows, self._position):
                observe(position, row)
        else:
            self._run.feed(columns)
        self._position += len(rows)

    @property
    def held(self) -> list[int]:
        """How often each clause held, by the number of its check among `all_checks`."""
        run, held = self._run, np.zeros(len(all_checks(self._plugin)), dtype=np.int64)
        held[self._numbers] = run.held if isinstance(run, Monitor) else run.held[self._numbers]
        counts: list[int] = held.tolist()
        return counts

    @property
    def broken(self) -> list[Broken]:
        if isinstance(self._run, Monitor):
            return [found._replace(check=self._numbers[found.check]) for found in self._run.broken]
        return self._run.broken

    @property
    def doubts(self) -> dict[str, list[int]]:
        """By the name of a check of a doubt, the rows at which calls that overlap leave its clause open."""
        found: dict[str, list[int]] = {}
        for one in self.broken:
            if one.check < len(self._plugin.checks) and self._plugin.checks[one.check].doubt:
                found.setdefault(self._plugin.checks[one.check].name, []).append(one.position)
        return found

    def results(self, rows: Sequence[Row], *, shown: int = SHOWN) -> list[ClauseResult]:
        return conclude(self._plugin, self._header, self.held, self.broken, rows, shown=shown, place=self._place)


def all_checks(plugin: Plugin) -> tuple[Check, ...]:
    """The checks of the clauses, then the premises: what monitors and kernels are made of here."""
    return (*plugin.checks, *plugin.premises)


def limits(header: Header, most: int) -> Limits:
    """How many violations of a check are to be kept, by its number among `all_checks`: `most`, but of a premise the
    first alone where the trace lacks what it reads. So neither gaps nor violations fill the memory."""
    plugin = load(header.protocol)
    count = len(plugin.checks)
    found = np.full(count + len(plugin.premises), most)
    lacking = [at for at, premise in enumerate(plugin.premises) if _unrecorded(header, premise) is not None]
    found[count:][lacking] = min(most, 1)
    return found


def shown_at(header: Header) -> Shown | None:
    """Whether the trace shows what a check finds, by its number among `all_checks` and by the node of the row, the last
    entry for rows of no node; None where the trace lacks nothing. What needs node order alone rests on the rows of one
    node, so what others do not record makes no difference: found there, it stays found. All else rests on all nodes."""
    if _lacks_nothing(header):
        return None
    plugin = load(header.protocol)
    everywhere = len(header.topology.nodes)
    shown = np.ones((len(all_checks(plugin)), everywhere + 1), dtype=np.bool_)
    for number, check in enumerate(plugin.checks):
        lacking = {node for _, node in _lacking(header, check)}
        if not header.order.includes(check.order) or (lacking and check.order is not Order.NODE):
            shown[number] = False
        elif lacking:
            shown[number, [*lacking, everywhere]] = False
    return shown


@cache
def kernel(protocol: str) -> Kernel:
    """The compiled form of all checks and premises of a protocol, made once a process."""
    plugin = load(protocol)
    return Kernel(all_checks(plugin), plugin.columns)


def columns_of(trace: Trace) -> dict[str, npt.NDArray[np.int64]]:
    """The trace as one contiguous int64 array a column."""
    return columns_of_rows(trace.rows, load(trace.header.protocol).columns)


def refuse(trace: Trace, place: str = "trace") -> None:
    """Raise BadInput for a trace that no check may look at: columns, kinds, nodes, links, the end. What its premises
    refuse comes up in judging."""
    columns = columns_of_rows(trace.rows, load(trace.header.protocol).columns, place)
    rules_of(trace.header, place).refuse(columns, place=place)
    refuse_rows_after_end(columns, ended=False, place=place)


def rules_of(header: Header, place: str) -> RowRules:
    """What the rows of such a run must be. Raises BadInput for a network, or parameters, that cannot be."""
    try:
        load(header.protocol).parameters(header.parameters)
        rules = row_rules(header.protocol, header.topology)
        refuse_header(header)
        return rules
    except BadInput as error:
        raise BadInput(f"{place}: {error}") from None


def judged(trace: Trace, place: str = "trace", compiled: Kernel | None = None) -> Judging:
    """A trace looked at to its end. compiled: as of `Judging`, which raises what this raises."""
    judging = Judging(trace.header, place, compiled)
    judging.observe(trace.rows)
    return judging


def _sooner(trace: Trace) -> Kernel | None:
    """The compiled checks, where they judge a trace sooner than plain ones: this process has judged as many rows as
    could have been in the time that loading them takes, and they have been compiled on this machine. Of each row they
    then take a fiftieth of the time, even of short traces."""
    header = trace.header
    _asked[header.protocol] += len(trace.rows)
    if _asked[header.protocol] < LOADED_ROWS:
        return None
    found, around = kernel(header.protocol), load(header.protocol).surroundings(header)
    try:
        return found if all(part.is_at_hand for part in found.parts if part.applies(around)) else None
    except CannotRun:  # there is no folder for what is compiled
        return None


def conclude(
    plugin: Plugin,
    header: Header,
    held: Sequence[int],
    broken: Sequence[Broken],
    rows: Sequence[Row] | Mapping[int, Row],
    *,
    shown: int = SHOWN,
    place: str = "trace",
    worded: bool = True,
    counts: Sequence[int] | None = None,
) -> list[ClauseResult]:
    """The verdicts, from what monitor or kernel of `all_checks` counted and found. `rows` need hold only the rows of
    `broken`. counts: how many violations the trace shows, by the number of the check, where `broken` has not all."""
    shown_where = shown_at(header)
    if shown_where is not None:
        at = plugin.columns.index("node")
        broken = [found for found in broken if shown_where[found.check, rows[found.position][at]]]
    of_check = Counter(violation.check for violation in broken) if counts is None else counts
    first: dict[int, list[tuple[int, ...]]] = {}
    for violation in sorted(broken, key=attrgetter("position")):
        kept = first.setdefault(violation.check, [])
        if len(kept) < (shown if violation.check < len(plugin.checks) else 1):
            kept.append((*violation, *rows[violation.position]))
    told = {number: np.array(kept, dtype=object).T for number, kept in first.items() if kept}
    return conclude_told(plugin, header, held, of_check, told, place=place, worded=worded)


def conclude_told(
    plugin: Plugin,
    header: Header,
    held: Sequence[int],
    counts: Mapping[int, int] | Sequence[int],
    told: Mapping[int, Told],
    *,
    place: str = "trace",
    worded: bool = True,
    listed: bool = True,
) -> list[ClauseResult]:
    """As `conclude`. told: by the number of the check, those of its violations that are shown, in the order of rows.
    counts: of what the trace shows. listed: whether the results have the violations in them."""
    doubtful = _doubtful(plugin, header, told, place)
    results: list[ClauseResult] = []
    complete = _lacks_nothing(header)
    for number, (check, inapplicable) in enumerate(zip(plugin.checks, plugin.reasons(header), strict=True)):
        count, mine = counts[number], told.get(number)
        if check.doubt and not count:
            continue  # nothing is left open: the clause's other checks say what there is to say
        if inapplicable is None:
            verdict, reason = _verdict(plugin, header, check, held[number], count, doubtful, complete)
        else:
            verdict, reason = Verdict.NOT_APPLICABLE, inapplicable
        violations: tuple[Violation, ...] = ()
        if verdict is Verdict.FAIL and mine is not None and listed:
            violations = _violations(plugin, header, check, mine, worded=worded)
        if verdict is Verdict.INCONCLUSIVE and check.doubt and mine is not None and worded:
            reason = sentences(plugin.name, header, check, mine[:, :1])[0]
        fails = count if verdict is Verdict.FAIL else 0
        # A pass over the rows may count for a clause that says nothing of them.
        holds = 0 if verdict is Verdict.NOT_APPLICABLE else held[number]
        results.append(ClauseResult(check.clause, check.name, verdict, holds, violations, reason, fails))
    return results


def _violations(plugin: Plugin, header: Header, check: Check, told: Told, *, worded: bool) -> tuple[Violation, ...]:
    _, positions, _, expected, found, witnesses = told[: len(Broken._fields)].tolist()
    said = (
        sentences(plugin.name, header, check, told)
        if worded
        else [f"row {position} breaks {check.clause}" for position in positions]
    )
    return tuple(map(Violation, repeat(check.clause), positions, expected, found, witnesses, said))


def _doubtful(plugin: Plugin, header: Header, told: Mapping[int, Told], place: str) -> set[int]:
    """The kinds of which a premise is broken; BadInput where nothing that the trace lacks explains that."""
    kinds: set[int] = set()
    count = len(plugin.checks)
    for number in sorted((at for at in told if at >= count), key=lambda at: int(told[at][POSITION, 0])):
        premise = plugin.premises[number - count]
        if _unrecorded(header, premise) is None:
            raise BadInput(f"{place}: {sentences(plugin.name, header, premise, told[number][:, :1])[0]}")
        # A trace that owns up to gaps, or to less order, is not refused for them.
        if header.order.includes(premise.order):
            kinds |= set(premise.kinds)
    return kinds


def _verdict(
    plugin: Plugin, header: Header, check: Check, held: int, broken: int, doubtful: set[int], complete: bool
) -> tuple[Verdict, str]:
    """The verdict on a clause that applies, and the reason when it is neither pass nor fail. doubtful: kinds of which a
    premise is broken. complete: the trace lacks nothing."""
    reads = check.reads if doubtful else ()
    doubt = next((schema(plugin.name).kind(kind) for kind in reads if kind in doubtful), None)
    # What a trace lacks takes nothing from what it shows: it stands in the way of a pass alone.
    if broken and doubt is None:
        return (Verdict.INCONCLUSIVE, "calls that overlap leave it open") if check.doubt else (Verdict.FAIL, "")
    reason = None if complete else _unrecorded(header, check)
    if reason is not None:
        return Verdict.INCONCLUSIVE, reason
    if doubt is not None:
        return Verdict.INCONCLUSIVE, f"the {doubt} events are not counted, and some are not recorded"
    if held == 0:
        ends = " at the end of a run that settled" if Kind.ENDED in check.kinds else ""
        return Verdict.INCONCLUSIVE, f"the clause was never at stake in this run{ends}"
    return Verdict.PASS, ""


def _lacks_nothing(header: Header) -> bool:
    """Whether the trace has all that any check reads, as the trace of every simulated run has. It spares asking each
    check."""
    nodes = len(header.topology.nodes)
    return header.order is Order.GLOBAL and all(
        len(header.complete.get(kind, ())) == nodes for kind in schema(header.protocol).kinds
    )


def _unrecorded(header: Header, check: Check) -> str | None:
    """What the trace lacks for this check."""
    if not header.order.includes(check.order):
        return f"the rows are in {header.order} order only; the check needs {check.order} order"
    if check.despite_gaps:
        return None
    for kind, node in _lacking(header, check):
        name = header.topology.nodes[node].name
        return f"the trace does not record every {kind} event of node {name}"
    return None


def _lacking(header: Header, check: Check) -> Iterator[tuple[str, NodeId]]:
    """The kinds that the check reads, and the nodes whose events of that kind are not all recorded."""
    nodes, names = header.topology.nodes, schema(header.protocol)
    for kind in check.reads:
        # One row a run, not a node's: without it the clause is not at stake. And failures are the harness's own doing.
        if kind in (Kind.ENDED, Kind.CRASHED, Kind.RESTARTED):
            continue
        name = names.kind(kind)
        recorded = set(header.complete.get(name, ()))
        # Applications are at hosts and clients, and so is what they do.
        roles = names.events[kind].at or ((check.at,) if check.at else tuple(Role))
        for number, node in enumerate(nodes):
            if node.role in roles and number not in recorded:
                yield name, number
