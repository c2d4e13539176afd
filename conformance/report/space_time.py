"""A trace as a space-time diagram: nodes are vertical lines, on which time runs down, and packets are arrows between
them. Submissions, deliveries, calls and failures are marks on the lines, in the words of trace.toml. As text, and as
SVG.

Rows that break a clause, and the rows that they contradict, are highlighted. The protocol names packets and marks
(`Plugin.label`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from html import escape

from scatterproof.conformance.protocol import load
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace import ABSENT, Kind, Trace, schema

LONGEST = 400  # rows of one diagram: nobody reads a longer one
FATES = ("arrives", "lost", "in flight")
NOTHING: Mapping[int, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """A packet from lane to lane.

    sent, ends: moments, from 0.
    fate: one of `FATES`: it arrives, it is lost, or it is in flight at the end of the diagram.
    loud: whether it is highlighted.
    """

    source: int
    target: int
    sent: int
    ends: int
    label: str
    fate: str
    loud: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Something that happens at one lane at one moment. beside: not an event itself, but what an event makes of its
    node."""

    lane: int
    moment: int
    label: str
    loud: bool
    beside: bool = False


@dataclass(frozen=True, slots=True)
class Diagram:
    """lanes: the nodes' names.
    times_ns: one a moment.
    """

    lanes: tuple[str, ...]
    times_ns: tuple[int, ...]
    arrows: tuple[Arrow, ...]
    marks: tuple[Mark, ...]


def diagram(
    trace: Trace,
    loud: Collection[int] = (),
    *,
    first: int = 0,
    last: int | None = None,
    sent_too: bool = False,
    beside: Mapping[int, str] = NOTHING,
) -> Diagram:
    """The diagram of the rows from position `first` to `last`, None for the end, and of `LONGEST` rows at the most.
    loud: positions of rows to highlight. The row of a packet is that of its arrival or loss; with sent_too also that of
    its sending. beside: by position, what the row makes of its node, to be marked as well."""
    plugin = load(trace.header.protocol)
    rows = trace.rows[first : first + LONGEST if last is None else min(last + 1, first + LONGEST)]
    links, events = trace.header.topology.links, schema(plugin.name).events
    at_moment: list[tuple[int, int]] = []  # of each moment, time and node: what a node does at once is one moment
    drawn: dict[tuple[int, int], tuple[int, dict[str, int]]] = {}
    loud_packets: set[tuple[int, int]] = set()
    arrows: list[Arrow] = []
    marks: list[Mark] = []

    def arrow(moment: int, link: int, sent: int, row: dict[str, int], fate: str, position: int) -> Arrow:
        is_loud = position in loud or (row["link"], row["link_seq"]) in loud_packets
        source, target, label = links[link].source, links[link].target, plugin.label(row)
        return Arrow(source=source, target=target, sent=sent, ends=moment, label=label, fate=fate, loud=is_loud)

    for position, values in enumerate(rows, first):
        row = dict(zip(plugin.columns, values, strict=True))
        kind, event = row["kind"], events[row["kind"]]
        if kind == Kind.ENDED:
            continue
        here = (row["time_ns"], row["node"])
        apart = event.says or kind == Kind.ARRIVED or not at_moment or at_moment[-1] != here
        if apart:
            at_moment.append(here)
        moment = len(at_moment) - 1
        packet = (row["link"], row["link_seq"])
        if kind == Kind.SENT:
            drawn[packet] = (moment, row)
            if sent_too and position in loud:
                loud_packets.add(packet)
        elif kind == Kind.ARRIVED:
            sent, _ = drawn.pop(packet, (moment, row))
            arrows.append(arrow(moment, row["link"], sent, row, "arrives", position))
        elif kind == Kind.LOST:
            sent, _ = drawn.pop(packet, (moment, row))
            arrows.append(arrow(moment, row["link"], sent, row, "lost", position))
        elif event.says:
            what = plugin.label(row) if event.named else ""
            done = f"{event.says} {what}".rstrip()
            marks.append(Mark(lane=row["node"], moment=moment, label=done, loud=position in loud))
        if position in beside:
            marks.append(Mark(lane=row["node"], moment=moment, label=beside[position], loud=False, beside=True))
    end = len(at_moment)
    arrows.extend(arrow(end, link, sent, row, "in flight", ABSENT) for (link, _), (sent, row) in drawn.items())
    names = tuple(f"{node.name} ({index})" for index, node in enumerate(trace.header.topology.nodes))
    return Diagram(names, tuple(time_ns for time_ns, _ in at_moment), tuple(arrows), tuple(marks))


def refuse_bad(picture: Diagram, place: str) -> None:
    """Raise BadInput for a diagram, read from a file, that names lanes or moments that it does not have."""
    lanes, moments = len(picture.lanes), len(picture.times_ns)
    for arrow in picture.arrows:
        if not (0 <= arrow.source < lanes and 0 <= arrow.target < lanes and 0 <= arrow.sent <= arrow.ends <= moments):
            raise BadInput(f"{place}: its diagram has an arrow to nowhere; run `conform` again")
        if arrow.fate not in FATES:
            raise BadInput(
                f"{place}: its diagram has an arrow that {arrow.fate!r}; it may be one of: {', '.join(FATES)}"
            )
    if not lanes or not all(0 <= mark.lane < lanes and 0 <= mark.moment < moments for mark in picture.marks):
        raise BadInput(f"{place}: its diagram has a mark nowhere; run `conform` again")


# ---------------------------------------------------------------- text


def as_text(picture: Diagram) -> str:
    """A line for each arrival, loss and mark; packets in flight at the end are left out."""
    shown = [arrow for arrow in picture.arrows if arrow.fate != "in flight"]
    widest = max([len(arrow.label) for arrow in shown] + [len(name) for name in picture.lanes], default=0)
    width = widest + 8
    left = max(len(str(picture.times_ns[-1])) if picture.times_ns else 0, len("ns")) + 2 + width // 3
    lanes = [left + lane * width for lane in range(len(picture.lanes))]
    heading = _blank(lanes, " ")
    for name, place in zip(picture.lanes, lanes, strict=True):
        _write(heading, max(0, place - len(name) // 2), name)
    _write(heading, 0, "ns")
    lines = ["".join(heading).rstrip()]
    by_moment: dict[int, list[Arrow | Mark]] = {}
    for arrow in shown:
        by_moment.setdefault(arrow.ends, []).append(arrow)
    for mark in picture.marks:
        by_moment.setdefault(mark.moment, []).append(mark)
    for moment in sorted(by_moment):
        for thing in by_moment[moment]:
            lines.append(_line(picture, thing, lanes, picture.times_ns[moment]))
    return "\n".join(lines) + "\n"


def _line(picture: Diagram, thing: Arrow | Mark, lanes: list[int], time_ns: int) -> str:
    line = _blank(lanes, "|")
    _write(line, 0, str(time_ns))
    if isinstance(thing, Mark):
        _write(line, lanes[thing.lane], f"* {thing.label}")
        return "".join(line).rstrip() + ("   <== here" if thing.loud else "")
    start, end = lanes[thing.source], lanes[thing.target]
    low, high = min(start, end) + 1, max(start, end) - 1
    _write(line, low, "-" * (high - low + 1))
    room = max(low, (low + high + 1 - len(thing.label)) // 2)
    _write(line, room, thing.label)
    if thing.fate == "lost":
        _write(line, high - 1 if end > start else low + 1, "X")
    else:
        _write(line, high if end > start else low, ">" if end > start else "<")
    sent_ns = picture.times_ns[thing.sent]
    told = "" if sent_ns == time_ns else f"   (sent at {sent_ns})"
    return "".join(line).rstrip() + told + ("   <== here" if thing.loud else "")


def _blank(lanes: list[int], lane: str) -> list[str]:
    line = [" "] * (lanes[-1] + 1)
    for place in lanes:
        line[place] = lane
    return line


def _write(line: list[str], place: int, text: str) -> None:
    line.extend(" " * (place + len(text) - len(line)))
    line[place : place + len(text)] = text


# ---------------------------------------------------------------- SVG

_LANE, _STEP, _TOP, _LEFT = 170, 26, 50, 120
_WIDEST_LANE, _LETTER = 420, 6.5  # px; longer labels of arrows overlap what is beside them
_STYLE = (
    "text{font:12px sans-serif;fill:#222}line{stroke:#999}.packet{stroke:#2458a6;stroke-width:1.4}"
    ".lost{stroke:#b00020;stroke-dasharray:5 3}.flight{stroke:#999;stroke-dasharray:2 3}"
    ".loud{stroke:#d2691e;stroke-width:3}marker path{fill:context-stroke}"
    ".mark{fill:#1b7f3b}.mark.loud{fill:#d2691e}.small{font-size:10px;fill:#666}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.small{fill:#aaa}}"
)


def as_svg(picture: Diagram, title: str = "space-time diagram", *, style: str | None = _STYLE, tip: str = "tip") -> str:
    """A drawing that loads no script, no font and no style. style: None within a page that has one for it. tip: the id
    of the arrowhead, another one for each drawing of a page."""
    lane = _lane(picture)
    lanes = [_LEFT + place * lane for place in range(len(picture.lanes))]
    height = _TOP + _STEP * (len(picture.times_ns) + 1)
    width = max([lanes[-1] + _LANE, *(lanes[mark.lane] + 16 + _width(mark.label) for mark in picture.marks)])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img"><title>{escape(title)}</title>' + ("" if style is None else f"<style>{style}</style>"),
        f'<defs><marker id="{tip}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="11" markerHeight="11" orient="auto"'
        ' markerUnits="userSpaceOnUse"><path d="M0 0L8 4L0 8z" fill="#2458a6"/></marker></defs>',
    ]
    lane_class = "" if style is not None else ' class="lane"'  # which a page keeps in sight
    for name, x in zip(picture.lanes, lanes, strict=True):
        parts.append(f'<text{lane_class} x="{x}" y="20" text-anchor="middle">{escape(name)}</text>')
        parts.append(f'<line x1="{x}" y1="30" x2="{x}" y2="{height - 10}"/>')
    before = None
    for moment, time_ns in enumerate(picture.times_ns):
        if time_ns != before:
            parts.append(f'<text class="small" x="4" y="{_y(moment) + 4}">{time_ns} ns</text>')
        before = time_ns
    parts.extend(_svg_arrow(arrow, lanes, tip) for arrow in picture.arrows)
    for mark in picture.marks:
        x, y = lanes[mark.lane], _y(mark.moment)
        loud = " loud" if mark.loud else ""
        if mark.beside:
            parts.append(f'<path class="mark beside" d="M{x - 5} {y}l5 -5l5 5l-5 5z"/>')
            parts.append(f'<text class="small" x="{x + 8}" y="{y + 4}">{escape(mark.label)}</text>')
            continue
        parts.append(f'<circle class="mark{loud}" cx="{x}" cy="{y}" r="4"/>')
        parts.append(f'<text x="{x + 8}" y="{y + 4}">{escape(mark.label)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _lane(picture: Diagram) -> int:
    """The distance of lanes, in px: what the labels of arrows need, which stand two fifths along them."""
    needs = (_width(a.label) / 0.8 / max(1, abs(a.target - a.source)) for a in picture.arrows)
    return round(min(_WIDEST_LANE, max(_LANE, max(needs, default=0))))


def _width(label: str) -> int:
    return round(len(label) * _LETTER)


def _svg_arrow(arrow: Arrow, lanes: list[int], tip: str) -> str:
    x1, y1 = lanes[arrow.source], _y(arrow.sent)
    x2, y2 = float(lanes[arrow.target]), float(_y(arrow.ends))
    if arrow.fate != "arrives":
        x2, y2 = (x1 + x2) / 2, (y1 + y2) / 2 + (_STEP / 2 if arrow.fate == "lost" else 0)
    look = {"arrives": "packet", "lost": "packet lost", "in flight": "packet flight"}[arrow.fate]
    head = f' marker-end="url(#{tip})"' if arrow.fate == "arrives" else ""
    cross = f'<text x="{x2}" y="{y2 + 4}" text-anchor="middle">\u2715</text>' if arrow.fate == "lost" else ""
    loud = " loud" if arrow.loud else ""
    # Nearer to the start: where arrows cross, labels are apart.
    x, y = x1 + (x2 - x1) * 0.4, y1 + (y2 - y1) * 0.4 - 4
    return (
        f'<line class="{look}{loud}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"{head}/>{cross}'
        f'<text x="{x}" y="{y}" text-anchor="middle">{escape(arrow.label)}</text>'
    )


def _y(moment: int) -> int:
    return _TOP + _STEP * moment
