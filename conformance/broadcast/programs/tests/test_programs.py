"""Programs under the relay: right ones pass at every level, wrong and hostile ones fail by the right clause."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scatterproof.conformance.broadcast import programs
from scatterproof.conformance.relay.faults import Faults
from scatterproof.conformance.stress.contract import Course, ProgramJudgement, Workload
from scatterproof.conformance.stress.plan import Act, PlannedStep, plan
from scatterproof.conformance.stress.program import Bounds
from scatterproof.conformance.stress.run import Stress, fresh_folders, run
from scatterproof.conformance.verdict import Verdict

PLACES = "--id {id} --hosts {hosts} --output {output} {config}"
MS = 1_000_000
FAULTS = Faults(loss=0.2, duplicate=0.1, reorder=0.1, delay_ns=2 * MS, jitter_ns=2 * MS, hold_ns=20 * MS)


def judged(
    command: str, level: str, folder: Path, *, processes: int = 3, messages: int = 60, seconds: float = 240.0,
    steps: tuple[PlannedStep, ...] = (), faults: Faults = FAULTS, wake_s: float = 60.0, patience_s: float = 10.0,
    seed: int = 1, file_bytes: int = 1 << 30, due: bool = False,
) -> tuple[ProgramJudgement, Course]:  # fmt: skip
    workload = Workload(level=level, processes=processes, messages=messages, seed=seed)
    folders = fresh_folders(folder / "run", processes)
    judge = programs.tester(workload, folders)
    stress = Stress(
        faults=faults,
        steps=steps,
        wake_s=wake_s,
        seconds=seconds,
        due=due,
        patience_s=patience_s,
        bounds=Bounds(file_bytes=file_bytes),
    )
    course = run(shlex.split(f"{command} {PLACES}"), judge, workload, stress, folders)
    return judge.judge(course), course


def judged_in_time(
    is_told: Callable[[ProgramJudgement], bool],
    command: str,
    level: str,
    folder: Path,
    *,
    seconds: float,
    **options: Any,
) -> tuple[ProgramJudgement, Course]:
    """On a busy machine a program takes long to show what it is: what is not told is looked for again, for longer."""
    for factor in (1, 4, 16):
        judgement, course = judged(command, level, folder, seconds=factor * seconds, **options)
        if is_told(judgement):
            break
    return judgement, course


def steps_for(level: str, processes: int, active_s: float) -> tuple[PlannedStep, ...]:
    """A minority dies, and some pause."""
    workload = Workload(level=level, processes=processes, messages=1, seed=1)
    spared = programs.tester(workload, [Path()] * processes).spared
    kills = (processes - 1) // 2
    return plan(seed=1, processes=processes, kills=kills, pauses=processes, active_s=active_s, spared=spared)


def failed(judgement: ProgramJudgement) -> set[str]:
    return {result.clause for result in judgement.clauses if result.verdict is Verdict.FAIL}


def told(judgement: ProgramJudgement) -> str:
    return "\n".join(v.sentence for result in judgement.clauses for v in result.violations) + str(judgement)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["c", "python"])
@pytest.mark.parametrize("level", programs.LEVELS)
def test_a_right_program_passes_under_stress(peers: dict[str, str], level: str, language: str, tmp_path: Path) -> None:
    steps = steps_for(level, 3, active_s=1)
    judgement, course = judged(f"{peers[language]} {level} none", level, tmp_path, steps=steps)

    assert judgement.verdict is Verdict.PASS, told(judgement)
    assert course.complete
    assert any(outcome.ending for outcome in course.outcomes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("level", "language", "fault", "clause"),
    [
        ("pl", "c", "lossy", "BC-PL-RELIABLE"),
        ("pl", "python", "twice", "BC-PL-ONCE"),
        ("urb", "c", "invent", "BC-URB-REAL"),
        ("urb", "c", "forget", "BC-URB-AGREE"),
        ("urb", "c", "cut", "BC-IO-OUT"),
        ("urb", "python", "stray", "BC-URB-REAL"),
        ("urb", "python", "order", "BC-URB-REAL"),
        ("fifo", "c", "hurry", "BC-FIFO-ORDER"),
        ("fifo", "c", "stall", "BC-FIFO-FLOW"),
        ("fifo", "python", "gaps", "BC-FIFO-ORDER"),
        ("lcb", "c", "hurry", "BC-LCB-FIFO"),
    ],
)
def test_a_wrong_program_fails_by_its_clause(
    peers: dict[str, str], level: str, language: str, fault: str, clause: str, tmp_path: Path
) -> None:
    judgement, _ = judged_in_time(
        lambda found: clause in failed(found), f"{peers[language]} {level} {fault}", level, tmp_path, seconds=2.5
    )

    assert clause in failed(judgement), told(judgement)


def test_a_program_that_looks_at_no_clock_delivers_before_dependencies(peers: dict[str, str], tmp_path: Path) -> None:
    judgement, _ = judged_in_time(
        lambda found: bool(failed(found)), f"{peers['python']} lcb carefree", "lcb", tmp_path, messages=150, seconds=60
    )
    assert failed(judgement) == {"BC-LCB-CAUSAL"}, told(judgement)


def test_delivering_alone_and_dying_breaks_uniform_agreement(peers: dict[str, str], tmp_path: Path) -> None:
    """Process 1 delivers at once what it begins with, and is gone before others have it: nobody forwards."""
    steps = (PlannedStep(0.0, Act.TERMINATE, 0),)
    faults = Faults(loss=0.6, delay_ns=20 * MS)
    judgement, _ = judged_in_time(
        lambda found: "BC-URB-AGREE" in failed(found), f"{peers['python']} urb selfish", "urb", tmp_path, messages=100,
        seconds=4, steps=steps, faults=faults,
    )  # fmt: skip
    assert "BC-URB-AGREE" in failed(judgement), told(judgement)


def test_output_written_only_at_the_end_is_judged_all_the_same(peers: dict[str, str], tmp_path: Path) -> None:
    judgement, course = judged_in_time(
        lambda found: found.verdict is Verdict.PASS, f"{peers['python']} fifo late", "fifo", tmp_path, messages=20,
        seconds=3,
    )  # fmt: skip
    assert not course.complete
    assert judgement.verdict is Verdict.PASS, told(judgement)
    assert judgement.seconds < course.woke_s + course.seconds
    assert any("only at the end" in note for note in judgement.notes)


def test_what_lacks_is_lost_where_output_comes_at_the_end_and_programs_repeat_themselves_for_ever(
    peers: dict[str, str], tmp_path: Path
) -> None:
    judgement, course = judged_in_time(
        lambda found: found.verdict is Verdict.FAIL, f"{peers['python']} fifo frozen", "fifo", tmp_path, seconds=8
    )
    assert "BC-URB-VALID" in failed(judgement), told(judgement)
    assert course.at_a_stand
    assert "no new datagram got through" in told(judgement)
    assert "process 2 wrote to stderr: KeyError: 'who'" in told(judgement)


def test_with_a_deadline_what_lacks_at_the_end_is_lost(peers: dict[str, str], tmp_path: Path) -> None:
    judgement, _ = judged(f"{peers['python']} fifo none", "fifo", tmp_path, messages=100_000, seconds=2, due=True)
    assert judgement.verdict is Verdict.FAIL, told(judgement)
    assert "--deadline says that they suffice" in told(judgement)


def test_who_listens_elsewhere_than_the_hosts_file_says_breaks_io_hosts_alone(
    peers: dict[str, str], tmp_path: Path
) -> None:
    judgement, _ = judged(f"{peers['python']} urb elsewhere", "urb", tmp_path, seconds=2.5)
    if sys.platform != "linux":  # the system does not tell which ports are open
        assert "BC-URB-VALID" in failed(judgement)
        return
    assert failed(judgement) == {"BC-IO-HOSTS"}, told(judgement)
    assert "process 2 never opened the UDP port that the hosts file gives it, though it sent" in told(judgement)


def test_a_run_that_is_cut_while_programs_go_on_is_inconclusive(peers: dict[str, str], tmp_path: Path) -> None:
    judgement, _ = judged_in_time(
        lambda found: found.verdict is Verdict.INCONCLUSIVE, f"{peers['python']} fifo none", "fifo", tmp_path,
        messages=100_000, seconds=2,
    )  # fmt: skip
    assert judgement.verdict is Verdict.INCONCLUSIVE, told(judgement)
    reasons = " ".join(result.reason for result in judgement.clauses)
    assert "give more time, for instance --seconds" in reasons


REFERENCE = f"{sys.executable} -m scatterproof.impl.broadcast.program"


@pytest.mark.slow
@pytest.mark.parametrize("level", programs.LEVELS)
def test_the_reference_program_passes_under_stress(level: str, tmp_path: Path) -> None:
    judgement, _ = judged(REFERENCE, level, tmp_path, messages=300, steps=steps_for(level, 3, active_s=1))
    assert judgement.verdict is Verdict.PASS, told(judgement)


@pytest.mark.slow
@pytest.mark.parametrize("level", programs.LEVELS)
def test_the_reference_program_passes_with_nine_processes_a_minority_killed_and_much_lost(
    level: str, tmp_path: Path
) -> None:
    """Its messages are few enough for one machine, and many enough to be on the way when processes die."""
    faults = Faults(loss=0.3, duplicate=0.1, reorder=0.1, delay_ns=10 * MS, jitter_ns=10 * MS, hold_ns=50 * MS)
    judgement, course = judged(
        REFERENCE, level, tmp_path, processes=9, messages=5000, seconds=120,
        steps=steps_for(level, 9, active_s=5), faults=faults,
    )  # fmt: skip
    assert judgement.verdict is Verdict.PASS, told(judgement)
    assert sum(outcome.ending is not None for outcome in course.outcomes) == 4


FLOOD = """
import socket, sys
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
homes = [line.split() for line in open(sys.argv[4])]
while True:
    for number, host, port in homes:
        own.sendto(b'x' * 1000, (host, int(port)))
"""
GARBAGE = """
import os, signal, sys
file = open(sys.argv[6], "wb")
file.write(b"b 1\\nd 1 1\\n" + os.urandom(300_000) + b"\\n")
file.flush()
signal.pause()
"""


IDLE = """
import signal, socket, sys
homes = [line.split() for line in open(sys.argv[4])]
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
own.bind(("127.0.0.1", int(homes[int(sys.argv[2]) - 1][2])))
open(sys.argv[6], "w").close()
signal.pause()
"""


def script(words: str) -> str:
    return f"{sys.executable} -c {shlex.quote(words)}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "clauses", "sentence"),
    [
        ("sleep 60 #", {"BC-IO-OUT"}, "was not written"),
        ("exit 3 #", {"BC-IO-STRESS"}, "ended with exit code 3"),
        ("kill -ABRT $$ #", {"BC-IO-STRESS"}, "was ended by SIGABRT"),
        (": > $6; exec sleep 60 #", {"BC-IO-HOSTS"}, "never opened the UDP port that the hosts file gives it"),
        (script(IDLE), {"BC-IO-CONFIG"}, "began with 0 of its 60 messages"),
        ("trap '' TERM; while :; do sleep 0.05; done #", {"BC-IO-OUT"}, "did not end within 0.5 s of SIGTERM"),
        ("(trap '' TERM; sleep 60) & : > $6; sleep 60 #", {"BC-IO-OUT", "BC-IO-HOSTS"}, "of its processes running"),
        ("yes 'd 1 1' > $6 #", {"BC-IO-STRESS", "BC-URB-ONCE"}, "again, after line 1"),
        # By echo, not by yes: that writes a gigabyte before a loaded machine cuts its log, and is ended by its bound.
        ("while :; do echo chatter; done #", {"BC-IO-OUT"}, "was not written"),
        (script(FLOOD), {"BC-IO-OUT"}, "was not written"),
        (script(GARBAGE), {"BC-IO-OUT", "BC-IO-HOSTS"}, "which is neither"),
    ],
    ids=[
        "silent",
        "crashing",
        "aborting",
        "writing-nothing",
        "idle",
        "stubborn",
        "forking",
        "huge",
        "chatty",
        "flooding",
        "garbage",
    ],
)
def test_a_hostile_program_fails_and_the_run_ends(
    command: str, clauses: set[str], sentence: str, tmp_path: Path
) -> None:
    if not command.startswith(sys.executable):
        command = f"sh -c {shlex.quote(command)} sh"
        command = command.replace(" #", "")
    bound = 4_000_000 if "$6" in command else 1 << 30
    judgement, _ = judged_in_time(
        lambda found: clauses <= failed(found) and sentence in told(found), command, "urb", tmp_path, seconds=0.8,
        wake_s=0.8, patience_s=0.5, file_bytes=bound,
    )  # fmt: skip

    assert judgement.verdict is Verdict.FAIL
    assert clauses <= failed(judgement), told(judgement)
    assert sentence in told(judgement)
