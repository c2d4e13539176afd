"""What neighbours are told and sent, as predicates over a whole trace as in `oracles`: which filters they announce to
each other (PS-COVER); several links to one neighbour, of which messages take the best (PS-NEIGHBOUR)."""

from __future__ import annotations

from collections import Counter

from scatterproof.conformance.pubsub.oracles import NAMES, History, Row, look
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.trace import Kind, Trace


def rerouting_loses_nothing(trace: Trace) -> set[int]:
    given = Parameters("pubsub", trace.header.parameters)
    if given["paths"] != "best":
        return set()
    ends = [(link.source, link.target) for link in trace.header.topology.links]
    several = {pair for pair, count in Counter(ends).items() if count > 1}
    history = look(trace)

    def of(row: Row) -> tuple[int, int, int, int]:
        return *ends[row["link"]], row["sender"], row["number"]

    def guaranteed(kind: Kind) -> list[tuple[int, Row]]:
        """The rows of this kind in which a message goes out of an appliance that is repeated until it is taken."""
        return [
            (at, row)
            for at, row in enumerate(history.rows)
            if row["kind"] == kind and row["packet"] == NAMES.packets["message"] and row["serial"] != 0
            if ends[row["link"]][0] < given.number("appliances")
        ]

    sent = guaranteed(Kind.SENT)
    # Of one message, what has the serial of its first copy is that copy, repeated; all else is another one.
    broken = {
        at for at, row in sent if row["serial"] != next(other["serial"] for _, other in sent if of(other) == of(row))
    }
    come = {of(row) for _, row in guaranteed(Kind.ARRIVED)}
    lost = any(of(row) not in come and of(row)[:2] in several for _, row in sent)
    end = history.settled_end()
    return broken | {end} if end is not None and lost else broken


def covered_stays_home(trace: Trace) -> set[int]:
    """A filter is judged when its link brings news at a later time, or when the run has settled: at one time it may be
    announced ahead of a withdrawal."""
    history = look(trace)
    news = [position for position in range(len(history.rows)) if _is_news(history, position)]
    broken: set[int] = set()
    for position in news:
        row = history.rows[position]
        on_link = [at for at in news if history.rows[at]["link"] == row["link"]]
        ends = [at for at, one in enumerate(history.rows) if one["kind"] == Kind.ENDED]
        later = [at for at in (*on_link, *ends) if at > position and history.rows[at]["time_ns"] > row["time_ns"]]
        if (end := history.settled_end()) is not None:
            later.append(end)
        if later and _told(history, on_link, min(later)).get(row["filter"]) == position:
            before = [one for one, at in _told(history, on_link, min(later)).items() if at < position]
            if any(history.covers(one, row["filter"]) or history.covers(row["filter"], one) for one in before):
                broken.add(min(later))
    return broken


def _told(history: History, on_link: list[int], row: int) -> dict[int, int]:
    """The filters announced and not withdrawn on a link before a row, each with the row of its last announcement."""
    last = {history.rows[at]["filter"]: at for at in on_link if at < row}
    return {one: at for one, at in last.items() if history.rows[at]["packet"] == NAMES.packets["want"]}


def _is_news(history: History, position: int) -> bool:
    """Whether the row is a want or drop with a new serial; a resend repeats an earlier one."""

    def tells(row: Row) -> bool:
        packets = (NAMES.packets["want"], NAMES.packets["drop"])
        return row["kind"] == Kind.SENT and row["packet"] in packets and history.has(row["filter"])

    row = history.rows[position]
    before = [one["serial"] for one in history.rows[:position] if one["link"] == row["link"] and tells(one)]
    return tells(row) and row["serial"] > max([0, *before])


ORACLES = {oracle.__name__: oracle for oracle in (rerouting_loses_nothing, covered_stays_home)}
