"""The judge of output files: each clause red and green, by the sentence, and equal to what an obvious judge finds."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scatterproof.conformance.broadcast.programs.judge import UNSEEN, Judge
from scatterproof.conformance.broadcast.programs.workload import LEVELS, Task, task
from scatterproof.conformance.stress.contract import Course, EndedProcess, ProgramJudgement, Workload
from scatterproof.conformance.stress.plan import Act, PlannedStep
from scatterproof.conformance.verdict import ClauseResult, Verdict
from scatterproof.spec import clauses
from scatterproof.spec.broadcast.messages import Level
from scatterproof.spec.errors import BadInput

KILLED, TERMINATED = PlannedStep(0.1, Act.KILL, 0), PlannedStep(0.1, Act.TERMINATE, 0)
STILL = Course(
    outcomes=(), seconds=20, still_s=10, quiet_s=10, window_s=5, complete=False, busy_s=10, woke_s=0, faults={"lost": 5}
)
RELAYED = EndedProcess(process=0, sent=100, received=100)

Lines = Sequence[str | None]


def judged(
    given_task: Task, lines: Lines, course: Course = STILL, seen: Sequence[int] | None = None, **outcomes: EndedProcess
) -> ProgramJudgement:
    """The judgement on these outputs (None: no file), one a process; `p2=...` is what came of process 2."""
    with tempfile.TemporaryDirectory() as name:
        paths = [Path(name, f"{number}") for number in range(len(lines))]
        for path, text in zip(paths, lines, strict=True):
            if text is not None:
                path.write_text(text)
        found = [
            msgspec.structs.replace(outcomes.get(f"p{number + 1}", RELAYED), process=number)
            for number in range(len(lines))
        ]
        course = msgspec.structs.replace(course, outcomes=tuple(found))
        sizes = [len(text or "") for text in lines] if seen is None else seen
        return Judge(given_task, paths, course, sizes).judgement()


def by_clause(judgement: ProgramJudgement) -> Mapping[str, ClauseResult]:
    return {result.clause: result for result in judgement.clauses}


def failed(judgement: ProgramJudgement) -> set[str]:
    return {result.clause for result in judgement.clauses if result.verdict is Verdict.FAIL}


def said(judgement: ProgramJudgement, clause: str) -> str:
    return by_clause(judgement)[clause].violations[0].sentence


def text(*words: str) -> str:
    return "".join(word + "\n" for word in words)


PL = Task(level=Level.PL, processes=3, messages=2, receiver=3)
URB = Task(level=Level.URB, processes=3, messages=1)
FIFO = Task(level=Level.FIFO, processes=2, messages=2)
# Process 1 depends on 2.
LCB = Task(level=Level.LCB, processes=3, messages=1, dependencies=((), (2,), (), ()))

PL_GOOD = [text("b 1", "b 2"), text("b 1", "b 2"), text("d 1 2", "d 2 1", "d 1 1", "d 2 2")]
URB_GOOD = [text("b 1", "d 1 1", "d 2 1", "d 3 1")] * 3
FIFO_GOOD = [text("b 1", "b 2", "d 1 1", "d 2 1", "d 2 2", "d 1 2")] * 2
LCB_GOOD = [
    text("d 2 1", "b 1", "d 1 1", "d 3 1"),
    text("b 1", "d 2 1", "d 1 1", "d 3 1"),
    text("b 1", "d 3 1", "d 2 1", "d 1 1"),
]
GOOD = [(PL, PL_GOOD), (URB, URB_GOOD), (FIFO, FIFO_GOOD), (LCB, LCB_GOOD)]


@pytest.mark.parametrize(("given_task", "lines"), GOOD)
def test_what_conforms_passes_every_clause(given_task: Task, lines: list[str]) -> None:
    judgement = judged(given_task, lines)
    assert {result.verdict for result in judgement.clauses} == {Verdict.PASS, Verdict.NOT_APPLICABLE}
    assert judgement.verdict is Verdict.PASS


@pytest.mark.parametrize(("given_task", "lines"), GOOD)
def test_every_clause_of_the_level_is_judged_or_has_a_reason(given_task: Task, lines: list[str]) -> None:
    results = judged(given_task, lines).clauses
    of_level = [c.id for c in clauses.load("broadcast").clauses if given_task.level.value in c.environments]
    assert [result.clause for result in results] == of_level
    assert all(result.reason for result in results if result.verdict is Verdict.NOT_APPLICABLE)
    judged_too = {result.clause for result in results if result.verdict is not Verdict.NOT_APPLICABLE}
    assert judged_too.isdisjoint({"BC-URB-MAJ", "BC-LCB-LOCAL", *UNSEEN[given_task.level]})


def heard(*sources: int) -> EndedProcess:
    return EndedProcess(process=0, sent=100, received=100, heard=sources)


@pytest.mark.parametrize(
    ("came", "broken"),
    [
        # By way of 2, process 1 may have heard of 3.
        ((heard(1), heard(0, 2), heard(1)), set()),
        ((heard(), heard(2), heard(1)), {1}),
        ((heard(), heard(), heard()), {1, 2, 3}),
    ],
)
def test_who_could_hear_of_no_majority_and_delivers_breaks_urb_minority(
    came: tuple[EndedProcess, ...], broken: set[int]
) -> None:
    judgement = judged(URB, URB_GOOD, p1=came[0], p2=came[1], p3=came[2])
    assert failed(judgement) == ({"BC-URB-MINORITY"} if broken else set())
    found = by_clause(judgement)["BC-URB-MINORITY"]
    assert {int(v.sentence.split("process ")[1].split()[0]) for v in found.violations} == broken
    if not broken:
        assert (found.verdict, found.reason[:30]) == (Verdict.NOT_APPLICABLE, "every process could hear of a ")


def test_news_may_have_come_by_way_of_several() -> None:
    five = Task(level=Level.URB, processes=5, messages=1)
    lines = [text("b 1", *(f"d {number} 1" for number in range(1, 6)))] * 5
    ring = [heard((number + 1) % 5) for number in range(5)]
    assert not failed(judged(five, lines, p1=ring[0], p2=ring[1], p3=ring[2], p4=ring[3], p5=ring[4]))


def test_who_could_hear_of_no_majority_and_delivers_nothing_keeps_urb_minority() -> None:
    lines = [text("b 1", "d 1 1", "d 2 1"), text("b 1", "d 2 1", "d 1 1"), text("b 1")]
    gone = msgspec.structs.replace(heard(), ending=KILLED)
    found = by_clause(judged(URB, lines, p1=heard(1), p2=heard(0), p3=gone))["BC-URB-MINORITY"]
    assert (found.verdict, found.held) == (Verdict.PASS, 1)


def spoiled(lines: Sequence[str], process: int, old: str, new: str) -> list[str]:
    assert old in lines[process - 1]
    return [line.replace(old, new) if number == process - 1 else line for number, line in enumerate(lines)]


@pytest.mark.parametrize(
    ("given_task", "lines", "clause", "sentence"),
    [
        (PL, spoiled(PL_GOOD, 3, "d 2 1\n", ""), "BC-PL-RELIABLE",
         "process 3 did not deliver message 1 of process 2, which was sent to it"),
        (PL, spoiled(PL_GOOD, 3, "d 2 2\n", "d 2 2\nd 1 2\n"), "BC-PL-ONCE",
         "line 5 of process 3's output delivers message 2 of process 1 again, after line 1"),
        (PL, spoiled(PL_GOOD, 3, "d 2 2\n", "d 2 2\nd 2 3\n"), "BC-PL-REAL", "there are messages 1 to 2 only"),
        (PL, spoiled(PL_GOOD, 3, "d 2 2\n", "d 2 2\nd 3 1\n"), "BC-PL-REAL", "nobody sends to itself"),
        (PL, spoiled(PL_GOOD, 1, "b 2\n", "b 2\nd 2 1\n"), "BC-PL-REAL", "only process 3 is sent anything"),
        (PL, spoiled(PL_GOOD, 3, "d 1 2\n", "d 1 2\nb 1\n"), "BC-IO-CONFIG", "has it send nothing"),
        (URB, spoiled(URB_GOOD, 2, "d 2 1\n", ""), "BC-URB-VALID", "process 2 did not deliver message 1 of process 2"),
        (URB, spoiled(URB_GOOD, 2, "d 1 1\n", ""), "BC-URB-AGREE",
         "process 2 did not deliver message 1 of process 1, which process 1 delivered"),
        (URB, spoiled(URB_GOOD, 3, "d 1 1\n", "d 1 1\nd 1 1\n"), "BC-URB-ONCE", "again, after line 2"),
        (URB, spoiled(URB_GOOD, 3, "d 1 1\n", "d 1 1\nd 4 1\n"), "BC-URB-REAL", "processes are 1 to 3"),
        (URB, spoiled(URB_GOOD, 3, "d 1 1\n", "d 1 1\nd 0 1\n"), "BC-URB-REAL", "processes are 1 to 3"),
        (URB, spoiled(URB_GOOD, 3, "d 1 1\n", "d 1 1\nd 1 0\n"), "BC-URB-REAL", "there are messages 1 to 1 only"),
        (URB, spoiled(URB_GOOD, 3, "b 1\nd 1 1\nd 2 1\nd 3 1\n", "d 3 1\nb 1\nd 1 1\nd 2 1\n"), "BC-URB-REAL",
         "line 1 of process 3's output delivers message 1 of process 3, its own, which it had not begun with"),
        (URB, spoiled(URB_GOOD, 3, "b 1\n", "b 1\nb 2\n"), "BC-IO-CONFIG", "asks for messages 1 to 1"),
        (URB, spoiled(URB_GOOD, 3, "b 1\n", "b 1\nb 1\n"), "BC-IO-OUT", "begins with message 1 again"),
        (URB, spoiled(URB_GOOD, 3, "d 1 1\n", "d 1 1\nhello\n"), "BC-IO-OUT", "'hello', which is neither"),
        (FIFO, spoiled(FIFO_GOOD, 1, "b 1\nb 2\n", "b 2\nb 1\n"), "BC-IO-OUT", "though message 1 comes next"),
        (FIFO, spoiled(FIFO_GOOD, 2, "d 2 1\nd 2 2\n", "d 2 2\nd 2 1\n"), "BC-FIFO-ORDER",
         "line 4 of process 2's output delivers message 2 of process 2 before its message 1"),
        (LCB, spoiled(LCB_GOOD, 3, "d 2 1\nd 1 1\n", "d 1 1\nd 2 1\n"), "BC-LCB-CAUSAL",
         "before message 1 of process 2, which process 1 depends on and had delivered when it began"),
    ],
)  # fmt: skip
def test_what_is_wrong_breaks_its_clause_and_no_other(
    given_task: Task, lines: list[str], clause: str, sentence: str
) -> None:
    judgement = judged(given_task, lines)
    allowed = {clause, "BC-URB-AGREE"} if clause == "BC-URB-VALID" else {clause}
    assert clause in failed(judgement)
    assert failed(judgement) <= allowed
    assert sentence in said(judgement, clause)
    assert judgement.verdict is Verdict.FAIL


def test_at_the_level_of_causal_order_own_earlier_messages_are_dependencies_too() -> None:
    given_task = Task(level=Level.LCB, processes=2, messages=2, dependencies=((), (), ()))
    judgement = judged(given_task, spoiled(FIFO_GOOD, 2, "d 2 1\nd 2 2\n", "d 2 2\nd 2 1\n"))
    assert failed(judgement) == {"BC-LCB-FIFO", "BC-LCB-CAUSAL"}
    assert "before message 1 of process 2, which it began with earlier" in said(judgement, "BC-LCB-CAUSAL")


def test_a_message_that_its_living_creator_never_began_with_was_invented() -> None:
    lines = [text("b 1", "d 1 1", "d 1 2"), text("b 1", "b 2")]
    judgement = judged(FIFO, lines)
    assert "BC-URB-REAL" in failed(judged(FIFO, [text("b 1", "b 2", "d 2 1"), text("d 1 1", "d 1 2")]))
    assert "delivers message 2 of process 1, its own" in said(judgement, "BC-URB-REAL")


@pytest.mark.parametrize(("ending", "invented"), [(KILLED, False), (TERMINATED, True)])
def test_only_a_killed_creator_may_have_begun_with_what_it_did_not_write(ending: PlannedStep, invented: bool) -> None:
    lines = [text("b 1"), text("b 1", "b 2", "d 1 1", "d 1 2", "d 2 1", "d 2 2")]
    judgement = judged(FIFO, lines, p1=msgspec.structs.replace(RELAYED, ending=ending))
    assert ("BC-URB-REAL" in failed(judgement)) == invented


@pytest.mark.parametrize("ending", [KILLED, TERMINATED])
def test_what_a_process_delivered_before_it_died_everyone_delivers(ending: PlannedStep) -> None:
    dead = text("b 1", "d 1 1")
    living = text("b 1", "d 2 1", "d 3 1")
    judgement = judged(URB, [dead, living, living], p1=msgspec.structs.replace(RELAYED, ending=ending))
    assert failed(judgement) == {"BC-URB-AGREE"}
    assert by_clause(judgement)["BC-URB-AGREE"].broken == 2


def test_nobody_has_to_deliver_what_a_dead_process_began_with_and_nobody_delivered() -> None:
    lines = [text("b 1"), *[text("b 1", "d 2 1", "d 3 1")] * 2]
    assert judged(URB, lines, p1=msgspec.structs.replace(RELAYED, ending=KILLED)).verdict is Verdict.PASS


def test_a_process_that_was_killed_may_leave_half_a_line_or_no_file() -> None:
    living = [text("b 1", "d 2 1", "d 3 1")] * 2
    for left in ("b 1\nd 3", None):
        judgement = judged(URB, [left, *living], p1=msgspec.structs.replace(RELAYED, ending=KILLED))
        assert judgement.verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([URB_GOOD[0], URB_GOOD[1][:-1], URB_GOOD[2]], "ends within line 4, 'd 3 1': it was not written out in full"),
        ([URB_GOOD[0], None, URB_GOOD[2]], "the output of process 2 was not written"),
    ],
)
def test_an_output_that_is_not_whole_breaks_its_own_clause_and_hides_others(lines: Lines, sentence: str) -> None:
    judgement = judged(URB, lines)
    assert failed(judgement) == {"BC-IO-OUT"}
    assert sentence in said(judgement, "BC-IO-OUT")
    assert by_clause(judgement)["BC-URB-AGREE"].verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("outcome", "clause", "sentence"),
    [
        (
            EndedProcess(process=0, sent=1, received=1, stubborn="did not end"),
            "BC-IO-OUT",
            "process 2 did not end and was kil",
        ),
        (EndedProcess(process=0, sent=1, received=1, left=3), "BC-IO-OUT", "left 3 of its processes running"),
        (
            EndedProcess(process=0, sent=1, received=1, crashed="ended with exit code 9"),
            "BC-IO-STRESS",
            "exit code 9, though",
        ),
        (EndedProcess(process=0, sent=1, received=0), "BC-IO-HOSTS", "though no datagram came to its address"),
    ],
)
def test_what_a_process_did_beside_its_output_breaks_a_clause(
    outcome: EndedProcess, clause: str, sentence: str
) -> None:
    judgement = judged(URB, URB_GOOD, p2=outcome)
    assert failed(judgement) == {clause}
    assert sentence in said(judgement, clause)


LACKING = [text("b 1", "d 1 1", "d 2 1", "d 3 1"), *[text("b 1", "d 1 1", "d 2 1")] * 2]


def test_what_lacks_is_open_while_output_grows_and_lost_when_it_does_not() -> None:
    moving = msgspec.structs.replace(STILL, still_s=0.5)
    assert failed(judged(URB, LACKING)) == {"BC-URB-AGREE", "BC-URB-VALID"}
    judgement = judged(URB, LACKING, moving)
    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert "give more time, for instance --seconds 40" in by_clause(judgement)["BC-URB-AGREE"].reason


def test_what_lacks_in_a_process_that_has_ended_is_lost_though_others_go_on() -> None:
    moving = msgspec.structs.replace(STILL, still_s=0.5)
    for ended in (EndedProcess(process=0, exited=True), EndedProcess(process=0, crashed="fell")):
        assert "BC-URB-AGREE" in failed(judged(URB, LACKING, moving, p2=ended))


@pytest.mark.parametrize(
    ("ending", "verdict", "sentence"),
    [
        ({}, Verdict.FAIL, "and no new datagram got through in the last 10.0 s"),
        ({"quiet_s": 0.5}, Verdict.INCONCLUSIVE, "new datagrams got through until 0.5 s before the end of the 20.0 s"),
        ({"quiet_s": 0.5}, Verdict.INCONCLUSIVE, "; give --deadline, and what lacks at the end counts as lost"),
        ({"quiet_s": 0.5, "reference_s": 0.9}, Verdict.INCONCLUSIVE, "give --seconds 30, which is enough for what"),
        (
            {"quiet_s": 0.5, "reference_s": 2.0, "seconds": 59.0},
            Verdict.INCONCLUSIVE,
            "the reference does in 2.0 s, or",
        ),
        (
            {"quiet_s": 0.5, "reference_s": 2.0, "seconds": 60.0},
            Verdict.FAIL,
            "it had 60.0 s for what the reference does",
        ),
        ({"quiet_s": 0.5, "due": True}, Verdict.FAIL, "it had 20.0 s, and --deadline says that they suffice"),
    ],
)
def test_what_lacks_in_output_that_came_at_the_end_is_lost_when_nothing_new_got_through_or_time_is_over(
    ending: dict[str, object], verdict: Verdict, sentence: str
) -> None:
    judgement = judged(URB, LACKING, msgspec.structs.replace(STILL, **ending), seen=[0, 0, 0])
    assert judgement.verdict is verdict
    assert judgement.lacks_reference == (verdict is Verdict.INCONCLUSIVE)
    result = by_clause(judgement)["BC-URB-AGREE"]
    assert sentence in (result.reason or result.violations[0].sentence)


def test_what_lacks_is_open_where_new_datagrams_got_through_though_no_output_grew() -> None:
    moving = msgspec.structs.replace(STILL, quiet_s=0.5)
    judgement = judged(URB, LACKING, moving)
    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert judgement.lacks_reference
    reason = by_clause(judgement)["BC-URB-AGREE"].reason
    assert "no output grew in the last 10.0 s, and new datagrams got through until 0.5 s before the end" in reason
    assert "BC-URB-AGREE" in failed(judged(URB, LACKING, msgspec.structs.replace(moving, reference_s=0.1, seconds=30)))


def test_what_lacks_at_a_deadline_is_lost_though_output_grows() -> None:
    judgement = judged(URB, LACKING, msgspec.structs.replace(STILL, still_s=0.1, due=True))
    assert "--deadline says that they suffice" in said(judgement, "BC-URB-AGREE")


@pytest.mark.parametrize(("seen", "seconds"), [(None, 13.0), ([0, 0, 0], 19.0)])
def test_deliveries_are_timed_to_the_last_one_or_to_the_last_new_datagram(
    seen: list[int] | None, seconds: float
) -> None:
    course = msgspec.structs.replace(STILL, woke_s=3, quiet_s=4)
    assert judged(URB, URB_GOOD, course, seen=seen).seconds == seconds


def test_who_never_opened_its_address_breaks_io_hosts_and_what_lacks_for_it_is_open() -> None:
    deaf = msgspec.structs.replace(RELAYED, at_home=False)
    judgement = judged(URB, LACKING, p3=deaf)
    assert failed(judgement) == {"BC-IO-HOSTS"}
    assert "process 3 never opened the UDP port that the hosts file gives it" in said(judgement, "BC-IO-HOSTS")
    assert "process 3 never opened its address" in by_clause(judgement)["BC-URB-VALID"].reason
    for other in ({"at_home": None}, {"at_home": True}, {"crashed": "fell"}, {"ending": KILLED}):
        found = judged(URB, LACKING, p3=msgspec.structs.replace(deaf, **other))
        assert "BC-IO-HOSTS" not in failed(found)


def test_what_processes_wrote_on_stderr_is_told_with_what_lacks_and_in_notes() -> None:
    threw = msgspec.structs.replace(RELAYED, stderr="java.io.IOException / closing", raised="java.io.IOException")
    judgement = judged(URB, LACKING, p2=threw, p3=threw)
    assert said(judgement, "BC-URB-AGREE").endswith("; process 2 wrote to stderr: java.io.IOException")
    assert judgement.notes == ("stderr of process 2, 3 ends: java.io.IOException / closing",)


def test_a_process_that_stopped_beginning_is_held_up_by_its_flow_control() -> None:
    one = text("b 1", "d 1 1", "d 2 1")
    assert failed(judged(FIFO, [one, one])) == {"BC-FIFO-FLOW"}
    assert failed(judged(FIFO, ["", ""])) == {"BC-IO-CONFIG"}


def test_an_empty_run_is_no_pass() -> None:
    results = by_clause(judged(URB, ["", "", ""], seen=[0, 0, 0]))
    assert results["BC-URB-ONCE"].verdict is Verdict.INCONCLUSIVE
    assert results["BC-IO-CONFIG"].verdict is Verdict.FAIL


def test_violations_beyond_those_shown_are_counted() -> None:
    lines = spoiled(URB_GOOD, 3, "d 1 1\n", "d 1 1\n" * 100)
    found = by_clause(judged(URB, lines))["BC-URB-ONCE"]
    assert (found.broken, len(found.violations)) == (99, 5)


@pytest.mark.parametrize("level", LEVELS)
def test_a_task_is_drawn_by_its_seed_and_says_so_in_its_files(level: str) -> None:
    workload = Workload(level=level, processes=5, messages=7, seed=3)
    drawn = task(workload)
    assert drawn == task(workload)
    first, *others = drawn.config().splitlines()
    assert first.split()[0] == "7"
    assert len(first.split()) == (2 if level == "pl" else 1)
    assert len(others) == (5 if level == "lcb" else 0)
    if level == "lcb":
        assert sorted(int(line.split()[0]) for line in others) == [1, 2, 3, 4, 5]
        assert {len(line.split()) > 1 for line in others} == {True, False}


@pytest.mark.parametrize(("processes", "messages"), [(1, 1), (129, 1), (3, 0), (128, 10_000_000)])
def test_workloads_out_of_range_are_refused(processes: int, messages: int) -> None:
    with pytest.raises(BadInput, match="give"):
        task(Workload(level="urb", processes=processes, messages=messages, seed=1))


# An obvious judge: sets and loops, from the sentences.

N, M = 3, 3
DEPENDS = ((), (2, 3), (), (1,))
EVENTS = st.lists(st.one_of(st.none(), st.tuples(st.integers(0, N + 1), st.integers(0, M + 1))), max_size=14)
Event = tuple[int, int] | None


def numbered(events: Sequence[Event]) -> list[tuple[str, int, int]]:
    """The events as lines; None is the next beginning, while there is one."""
    found, begun = [], 0
    for event in events:
        if event is not None:
            found.append(("d", *event))
        elif begun < M:
            begun += 1
            found.append(("b", 0, begun))
    return found


def obvious(outputs: Sequence[Sequence[tuple[str, int, int]]]) -> dict[str, bool]:
    """By clause, whether it is broken."""
    broken = dict.fromkeys(("ONCE", "REAL", "VALID", "AGREE", "FIFO", "CAUSAL"), False)
    begun = [{q for kind, _, q in lines if kind == "b"} for lines in outputs]
    known = [{(s, q) for k, s, q in lines if k == "d" and 1 <= s <= N and 1 <= q <= M} for lines in outputs]
    real = {(s + 1, q) for s in range(N) for q in begun[s]}
    for p, lines in enumerate(outputs):
        for place, (kind, s, q) in enumerate(lines):
            before = {(s, q) for k, s, q in lines[:place] if k == "d"}
            if kind == "b":
                continue
            broken["REAL"] |= (s, q) not in real
            broken["REAL"] |= s == p + 1 and ("b", 0, q) not in lines[:place]
            if not (1 <= s <= N and 1 <= q <= M):
                continue
            broken["ONCE"] |= (s, q) in before
            broken["FIFO"] |= any((s, earlier) not in before for earlier in range(1, q))
            if q in begun[s - 1]:
                at = outputs[s - 1].index(("b", 0, q))
                had = {(d, k) for kind, d, k in outputs[s - 1][:at] if kind == "d" and d in DEPENDS[s] and 1 <= k <= M}
                broken["CAUSAL"] |= not had <= before
        broken["VALID"] |= any((p + 1, q) not in known[p] for q in begun[p])
        broken["AGREE"] |= any(one not in known[p] for other in known for one in other & real)
    return broken


@pytest.mark.slow
@settings(max_examples=150)
@given(st.tuples(*[EVENTS] * N))
def test_the_judge_finds_what_an_obvious_one_finds(events: tuple[list[Event], ...]) -> None:
    outputs = [numbered(each) for each in events]
    lines = ["".join(f"b {q}\n" if k == "b" else f"d {s} {q}\n" for k, s, q in each) for each in outputs]
    given_task = Task(level=Level.LCB, processes=N, messages=M, dependencies=DEPENDS)
    found, expected = failed(judged(given_task, lines)), obvious(outputs)
    for name in ("ONCE", "REAL", "VALID", "AGREE"):
        assert (f"BC-URB-{name}" in found) == expected[name]
    assert ("BC-LCB-FIFO" in found) == expected["FIFO"]
    if not expected["FIFO"]:  # gaps in order are told there, and hide what depends on them
        assert ("BC-LCB-CAUSAL" in found) == expected["CAUSAL"]
    assert found >= failed(judged(below(given_task), lines)) - {"BC-FIFO-ORDER"}


def below(given_task: Task) -> Task:
    """The same at the level below."""
    return Task(level=Level.FIFO, processes=given_task.processes, messages=given_task.messages)
