"""Space-time diagrams: what of a run is drawn, where, and that nothing in a name can break out of the drawing."""

from __future__ import annotations

from xml.etree import ElementTree

from msgspec.structs import replace

from scatterproof.conformance.network.run import simulate
from scatterproof.conformance.network.topologies import star
from scatterproof.conformance.report.space_time import LONGEST, Arrow, Diagram, Mark, as_svg, as_text, diagram
from scatterproof.impl.totalorder import make_core
from scatterproof.spec.schedule import Delay, Fault, FaultKind, Message, Schedule, Submission
from scatterproof.spec.trace import Kind, Trace, schema

STAR = star(2)
PARAMETERS: dict[str, int | str] = {"environment": "C", "beacon_interval_ns": 10}


def run(*faults: Fault, submissions: int = 1) -> Trace:
    sent = tuple(Submission(10 * n, 0, (Message(0), Message(1))) for n in range(submissions))
    delays = tuple(Delay(5) for _ in STAR.links)
    return simulate(Schedule("totalorder", STAR, delays, sent, parameters=PARAMETERS, faults=faults), make_core)


def count(trace: Trace, kind: Kind) -> int:
    return trace.column("kind").count(kind)


def test_every_packet_that_arrives_is_an_arrow_from_its_sending_to_its_arrival() -> None:
    trace = run(submissions=2)
    arrows = [arrow for arrow in diagram(trace).arrows if arrow.fate == "arrives"]
    assert len(arrows) == count(trace, Kind.ARRIVED) > 0
    times = diagram(trace).times_ns
    assert all(times[arrow.ends] - times[arrow.sent] == 5 for arrow in arrows)


def test_a_lost_packet_is_drawn_as_lost() -> None:
    picture = diagram(run(Fault(0, 0, FaultKind.LOSE)))
    (lost,) = [arrow for arrow in picture.arrows if arrow.fate == "lost"]
    assert (lost.source, lost.target) == (STAR.links[0].source, STAR.links[0].target)
    assert "X" in next(line for line in as_text(picture).splitlines() if lost.label in line)


def test_what_is_sent_and_not_there_yet_is_in_flight() -> None:
    trace = run()
    last = trace.column("kind").index(Kind.SENT)
    assert [arrow.fate for arrow in diagram(trace, last=last).arrows] == ["in flight"]


def test_submissions_and_deliveries_are_marks_at_their_node() -> None:
    trace = run(submissions=3)
    marks = diagram(trace).marks
    assert len(marks) == count(trace, Kind.SUBMITTED) + count(trace, Kind.DELIVERED)
    assert {mark.lane for mark in marks if mark.label.startswith("submits")} == {0}


def test_the_rows_that_matter_are_loud() -> None:
    trace = run(submissions=2)
    delivered = trace.column("kind").index(Kind.DELIVERED)
    picture = diagram(trace, {delivered})
    assert [mark.loud for mark in picture.marks].count(True) == 1
    assert "<== here" in as_text(picture)
    assert "<== here" not in as_text(diagram(trace))


def test_a_packet_whose_sending_matters_is_loud_when_that_is_asked_for() -> None:
    trace = run()
    sent = trace.column("kind").index(Kind.SENT)
    for last in (sent, None):  # in flight, and arrived
        assert [arrow.loud for arrow in diagram(trace, {sent}, last=last, sent_too=True).arrows].count(True) == 1
        assert not any(arrow.loud for arrow in diagram(trace, {sent}, last=last).arrows)


def test_what_a_row_makes_of_its_node_is_marked_beside_it() -> None:
    trace = run()
    arrived = trace.column("kind").index(Kind.ARRIVED)
    picture = diagram(trace, beside={arrived: "barrier 7"})
    (mark,) = [mark for mark in picture.marks if mark.beside]
    assert (mark.lane, mark.label) == (trace.column("node")[arrived], "barrier 7")
    assert picture.times_ns[mark.moment] == trace.column("time_ns")[arrived]
    assert 'class="mark beside"' in as_svg(picture)


def test_a_window_begins_where_it_is_told_to() -> None:
    trace = run(submissions=20)
    whole, part = diagram(trace), diagram(trace, first=100, last=140)
    assert set(part.times_ns) <= {row[0] for row in trace.rows[100:141]}
    assert len(part.arrows) < len(whole.arrows)


def test_an_arrow_s_head_is_at_its_target() -> None:
    right = Arrow(source=0, target=1, sent=0, ends=1, label="m", fate="arrives", loud=False)
    left = Arrow(source=1, target=0, sent=1, ends=2, label="m", fate="arrives", loud=False)
    lines = as_text(Diagram(("a", "b"), (0, 5, 9), (right, left), ())).splitlines()
    assert lines[1].rstrip().endswith("->|   (sent at 0)")
    assert "|<-" in lines[2]


def test_the_drawing_is_well_formed_whatever_the_names() -> None:
    mark = Mark(lane=0, moment=0, label="<script>&\"'", loud=True)
    arrow = Arrow(source=0, target=1, sent=0, ends=1, label="</svg>", fate="lost", loud=True)
    drawing = as_svg(Diagram(("<a>", "b&c"), (0, 1), (arrow,), (mark,)), "1 < 2")
    texts = [element.text for element in ElementTree.fromstring(drawing).iter() if element.text]
    assert {"<a>", "b&c", "<script>&\"'", "</svg>", "1 < 2"} <= set(texts)


def test_a_long_run_is_cut_to_what_can_be_read() -> None:
    trace = run(submissions=200)
    assert len(trace.rows) > 2 * LONGEST
    assert len(diagram(trace).times_ns) <= LONGEST


def test_a_run_without_events_has_a_diagram() -> None:
    trace = run()
    ended = [row for row in trace.rows if row[schema("totalorder").index("kind")] == Kind.ENDED]
    assert as_text(diagram(replace(trace, rows=ended))).splitlines()[1:] == []
