"""Programs under stress, whatever they do: each run ends, says what came of every process, and leaves none behind."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from scatterproof.conformance.relay.faults import Faults, Partition
from scatterproof.conformance.relay.ports import Address
from scatterproof.conformance.stress.contract import Course, ProgramJudgement, ProgramStanding, Recorded, Workload
from scatterproof.conformance.stress.plan import ENDINGS, Act, PlannedStep, plan
from scatterproof.conformance.stress.program import Bounds, Program, kill_marked, marked
from scatterproof.conformance.stress.run import Stress, fresh_folders, run, split
from scatterproof.conformance.supervisor import Child, stop, wait
from scatterproof.spec.errors import BadInput, CannotRun

MS = 1_000_000

TALK = """
import signal, socket, sys
number, addresses, output = int(sys.argv[1]), sys.argv[2].split(","), sys.argv[3]
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
own.bind(("127.0.0.1", int(addresses[number])))
own.settimeout(0.02)
asked = []
signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
heard = set()
with open(output, "w") as file:
    while not asked:
        for other, port in enumerate(addresses):
            if other != number:
                own.sendto(str(number).encode(), ("127.0.0.1", int(port)))
        try:
            word, (_, port) = own.recvfrom(100)
        except TimeoutError:
            continue
        if word not in heard and str(port) == addresses[int(word)]:
            heard.add(word)
            file.write("heard " + word.decode() + chr(10))
            file.flush()
    file.write("ended" + chr(10))
"""


class Listening:
    """Each program is to write that it heard each other one, and that it ended."""

    placeholders = ("number", "output")
    spared: frozenset[int] = frozenset()

    def __init__(self, folders: Sequence[Path]) -> None:
        self.outputs = [folder / "output" for folder in folders]

    def write(self, process: int, addresses: Sequence[Address]) -> Mapping[str, str]:
        ports = ",".join(str(port) for _, port in addresses)
        return {"number": str(process), "ports": ports, "output": str(self.outputs[process])}

    def text(self, process: int) -> str:
        path = self.outputs[process]
        return path.read_text(errors="replace") if path.is_file() else ""

    def look(self, expected: Sequence[int]) -> ProgramStanding:
        words = [self.text(process) for process in range(len(self.outputs))]
        heard = [word.count("heard") for word in words]
        others = len(words) - 1
        return ProgramStanding(sum(heard), sum(map(len, words)), all(heard[process] == others for process in expected))

    def judge(self, course: Course) -> ProgramJudgement:
        raise NotImplementedError

    def trace(self, course: Course) -> Recorded:
        raise NotImplementedError


def program(script: str) -> list[str]:
    return [sys.executable, "-c", script, "{number}", "{ports}", "{output}"]


def shell(script: str) -> list[str]:
    return ["sh", "-c", script, "{number}", "{output}"]


def stressed(command: list[str], folder: Path, stress: Stress, processes: int = 3) -> tuple[Course, Listening]:
    folders = fresh_folders(folder / "run", processes)
    tester = Listening(folders)
    workload = Workload(level="any", processes=processes, messages=1, seed=1)
    return run(command, tester, workload, stress, folders), tester


def ended(pid: int, folder: Path) -> bool:
    script = f"while kill -0 {pid} 2>/dev/null && ! grep -q '^State:.Z' /proc/{pid}/status; do :; done"
    watcher = Child("watcher", ["sh", "-c", script], folder)
    gone = wait([watcher], 5)
    stop([watcher])
    return gone


def test_programs_hear_each_other_and_the_run_ends_when_all_is_there(tmp_path: Path) -> None:
    course, tester = stressed(program(TALK), tmp_path, Stress(faults=Faults(loss=0.3), wake_s=60, seconds=60))

    assert course.complete
    assert course.seconds < 60
    for outcome in course.outcomes:
        assert (outcome.crashed, outcome.stubborn, outcome.left, outcome.exited) == ("", "", 0, False)
        assert outcome.sent
        assert set(outcome.heard or ()) == {0, 1, 2} - {outcome.process}
        assert tester.text(outcome.process).endswith("ended\n")
    assert course.faults["lost"]


def test_the_plan_ends_pauses_and_kills_whom_it_says(tmp_path: Path) -> None:
    steps = (
        PlannedStep(0.0, Act.PAUSE, 0), PlannedStep(0.05, Act.TERMINATE, 1), PlannedStep(0.1, Act.KILL, 2),
        PlannedStep(0.15, Act.RESUME, 0), PlannedStep(0.2, Act.PAUSE, 3), PlannedStep(0.25, Act.TERMINATE, 3),
    )  # fmt: skip
    apart = Partition(start_ns=0, end_ns=400 * MS, members=frozenset({0}))
    faults = Faults(partitions=(apart,))
    course, tester = stressed(
        program(TALK), tmp_path, Stress(faults=faults, steps=steps, wake_s=60, seconds=3), processes=7
    )

    endings = {outcome.process: outcome.ending and outcome.ending.act for outcome in course.outcomes}
    assert endings == {0: None, 1: Act.TERMINATE, 2: Act.KILL, 3: Act.TERMINATE, 4: None, 5: None, 6: None}
    assert [(outcome.crashed, outcome.stubborn) for outcome in course.outcomes] == [("", "")] * 7
    assert [tester.text(process).endswith("ended\n") for process in range(7)] == [True, True, False, True, *[True] * 3]
    assert course.faults["parted"]


@pytest.mark.parametrize(
    ("script", "crashed", "stubborn"),
    [
        ("echo sorry >&2; exit 3", "ended with exit code 3", ""),
        ("rm -r $(dirname $1); exit 4", "ended with exit code 4", ""),
        ("kill -SEGV $$", "was ended by SIGSEGV", ""),
        ("exec sleep 60", "", ""),
        ("trap '' TERM; while :; do sleep 0.05; done", "", "did not end within 0.5 s of SIGTERM"),
    ],
)
def test_what_became_of_a_program_is_said(tmp_path: Path, script: str, crashed: str, stubborn: str) -> None:
    # Where all end by themselves, the run does.
    seconds = 60 if crashed else 0.5
    stress = Stress(faults=Faults(), wake_s=seconds, seconds=seconds, patience_s=0.5)
    course, _ = stressed(shell(script), tmp_path, stress, processes=2)

    for outcome in course.outcomes:
        assert outcome.crashed.startswith(crashed)
        assert bool(outcome.crashed) == bool(crashed)
        assert ("stderr ends: sorry" in outcome.crashed) == ("sorry" in script)
        assert outcome.stubborn == stubborn
    assert not course.complete


@pytest.mark.parametrize(
    ("wrote", "ends", "raised"),
    [
        ("", "", ""),
        ("one\ntwo\n\nthree\nfour\n", "two / three / four", ""),
        (
            'Exception in thread "x" java.io.IOException: no\n\tat A.b(A.java:1)\n\t... 3 more\nclosing\n',
            'Exception in thread "x" java.io.IOException: no / closing',
            'Exception in thread "x" java.io.IOException: no',
        ),
        (
            'Traceback (most recent call last):\n  File "x", line 1, in y\nKeyError: 1\nbye\n',
            "KeyError: 1 / bye",
            "KeyError: 1",
        ),
        ("panic: no\n\ngoroutine 1 [running]:\nmain.main()\n", "panic: no / goroutine 1", "panic: no"),
        ("terminate called after throwing\n  what():  no\n", "terminate called after throwing / what():", "terminate"),
        ("x" * 1000 + "\n", "x" * 200, ""),
    ],
)
def test_the_last_lines_of_stderr_and_the_first_exception_are_told_of_a_program_that_goes_on(
    tmp_path: Path, wrote: str, ends: str, raised: str
) -> None:
    (tmp_path / "wrote").write_text(wrote)
    folder = fresh_folders(tmp_path / "run", 1)[0]
    telling = Program("one", ["sh", "-c", f"cat {tmp_path}/wrote >&2; echo >&2 told; exec sleep 60"], folder, "telling")
    deadline = time.monotonic() + 20
    while "told" not in (folder / "stderr").read_text() and time.monotonic() < deadline:
        pass
    (folder / "stderr").write_text((folder / "stderr").read_text().removesuffix("told\n"))
    assert telling.is_running()
    telling.collect()
    assert telling.last_words().startswith(ends)
    assert bool(telling.last_words()) == bool(ends)
    assert telling.first_raised().startswith(raised)
    assert bool(telling.first_raised()) == bool(raised)


AGAIN = """
import signal, socket, sys, time
number, addresses, output, kind = int(sys.argv[1]), sys.argv[2].split(","), sys.argv[3], sys.argv[4]
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
own.bind(("127.0.0.1", int(addresses[number])))
print("KeyError: 7", file=sys.stderr, flush=True)
count = 0
while True:
    count += kind == "new"
    for other, port in enumerate(addresses):
        if other != number:
            own.sendto(b"%d" % count, ("127.0.0.1", int(port)))
    time.sleep(0.01)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["same", "new"])
def test_a_run_in_which_programs_only_repeat_themselves_ends_and_one_with_news_goes_on(
    tmp_path: Path, kind: str
) -> None:
    stress = Stress(faults=Faults(loss=0.3), wake_s=60, seconds=12)
    course, _ = stressed([*program(AGAIN), kind], tmp_path, stress, processes=2)

    assert not course.complete
    assert course.at_a_stand == (kind == "same")
    assert (course.seconds < stress.seconds) == (kind == "same")
    assert [outcome.at_home for outcome in course.outcomes] == [True if sys.platform == "linux" else None] * 2
    assert [outcome.raised for outcome in course.outcomes] == ["KeyError: 7"] * 2


def test_who_opens_another_port_than_its_own_is_not_at_home(tmp_path: Path) -> None:
    stress = Stress(faults=Faults(), wake_s=60, seconds=0.5)
    elsewhere = AGAIN.replace("int(addresses[number])", "int(addresses[number]) if number else 0")
    course, _ = stressed([*program(elsewhere), "new"], tmp_path, stress, processes=2)
    if sys.platform == "linux":
        assert [outcome.at_home for outcome in course.outcomes] == [False, True]


@pytest.mark.slow
def test_a_victim_that_ignores_its_end_is_killed_when_patience_is_over(tmp_path: Path) -> None:
    steps = (PlannedStep(0.0, Act.TERMINATE, 0),)
    stress = Stress(faults=Faults(), steps=steps, wake_s=0.5, seconds=5, patience_s=0.3)
    script = "trap '' TERM; while :; do date +%s.%N >> $1; sleep 0.05; done"
    course, tester = stressed(shell(script), tmp_path, stress)

    last = [float(tester.text(process).split()[-1]) for process in range(3)]
    assert last[0] < min(last[1:])
    assert course.outcomes[0].ending is not None
    assert all(outcome.stubborn == "did not end within 0.3 s of SIGTERM" for outcome in course.outcomes)


def test_a_program_that_ends_early_with_0_has_exited_and_not_crashed(tmp_path: Path) -> None:
    course, _ = stressed(shell("exit 0"), tmp_path, Stress(faults=Faults(), seconds=20))
    assert [(outcome.exited, outcome.crashed) for outcome in course.outcomes] == [(True, "")] * 3
    assert course.seconds < 20


DAEMON = (
    "python = '''"
    + sys.executable
    + "'''"
    + """
import os, subprocess, sys, time
if os.fork():
    time.sleep(60)
os.setsid()
if os.fork():
    os._exit(0)
subprocess.Popen(["sh", "-c", "trap '' TERM; echo $$ > " + sys.argv[3] + ".pid; exec sleep 60"])
open(sys.argv[3], "w").write(str(os.getpid()))
time.sleep(60)
"""
)


def test_grandchildren_in_sessions_of_their_own_are_found_and_killed(tmp_path: Path) -> None:
    for seconds in (1, 8, 64):  # on a busy machine they take long to be there
        stress = Stress(faults=Faults(), wake_s=0.1, seconds=seconds, patience_s=0.3)
        course, tester = stressed(program(DAEMON), tmp_path, stress, 2)
        if all(path.is_file() and path.with_name("output.pid").is_file() for path in tester.outputs):
            break

    assert [outcome.left > 0 for outcome in course.outcomes] == [True, True]
    for process, path in enumerate(tester.outputs):
        assert ended(int(tester.text(process)), tmp_path)
        assert ended(int(path.with_name("output.pid").read_text()), tmp_path)


def test_programs_that_fork_without_end_are_all_killed(tmp_path: Path) -> None:
    script = "trap '' TERM; i=0; while [ $i -lt 40 ]; do setsid sleep 60 & i=$((i+1)); done; wait"
    folder = fresh_folders(tmp_path / "run", 1)[0]
    forking = Program("one", ["sh", "-c", script], folder, "forking-test")
    deadline = time.monotonic() + 20
    while len(marked("forking-test").get(forking.mark, ())) < 41 and time.monotonic() < deadline:
        pass
    assert kill_marked("forking-test") > 0
    assert marked("forking-test") == {}
    forking.collect()


def test_who_clears_its_environment_and_leaves_its_session_is_killed_with_its_program(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    script = f"setsid env -i sh -c 'echo $$ > {hidden}.new; mv {hidden}.new {hidden}; exec sleep 600' & exit 0"
    folder = fresh_folders(tmp_path / "run", 1)[0]
    hiding = Program("one", ["sh", "-c", script], folder, "hidden-test")
    deadline = time.monotonic() + 60
    while (hiding.is_running() or not hidden.exists()) and time.monotonic() < deadline:
        pass
    assert hiding.how_it_ended() == "ended with exit code 0"
    child = int(hidden.read_text())
    os.kill(child, 0)  # it is there
    assert marked("hidden-test") == {}  # and nobody would know
    hiding.collect()
    assert ended(child, tmp_path)


def test_logs_of_a_program_that_floods_stay_short_and_keep_their_beginning(tmp_path: Path) -> None:
    for seconds in (1, 8, 64):
        stress = Stress(faults=Faults(), wake_s=0.1, seconds=seconds, bounds=Bounds(log_bytes=1 << 20))
        course, tester = stressed(shell("echo first; exec yes"), tmp_path, stress, processes=2)
        if all(outcome.logs_cut for outcome in course.outcomes):
            break

    for outcome, output in zip(course.outcomes, tester.outputs, strict=True):
        log = output.with_name("stdout")
        assert outcome.logs_cut
        assert log.stat().st_size <= 1 << 20
        assert log.read_bytes()[:6] == b"first\n"


def test_a_program_cannot_write_endless_files(tmp_path: Path) -> None:
    stress = Stress(faults=Faults(), seconds=20, bounds=Bounds(file_bytes=100_000))
    course, tester = stressed(["sh", "-c", "yes > {output} {number}"], tmp_path, stress, processes=2)

    assert [output.stat().st_size for output in tester.outputs] == [100_000] * 2
    assert all(outcome.crashed for outcome in course.outcomes)


FLOOD = """
import socket, sys
ports = sys.argv[2].split(",")
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    for port in ports:
        own.sendto(b"x" * 1400, ("127.0.0.1", int(port)))
"""


def test_a_flood_of_datagrams_neither_stops_the_run_nor_takes_its_memory(tmp_path: Path) -> None:
    stress = Stress(faults=Faults(delay_ns=100 * MS), wake_s=60, seconds=1.0)
    course, _ = stressed(program(FLOOD), tmp_path, stress, processes=2)

    assert all(outcome.sent > 100 and not outcome.stubborn for outcome in course.outcomes)


def test_a_command_that_does_not_exist_cannot_run_and_nothing_stays(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match="/no/such: cannot be started: No such file"):
        stressed(["/no/such", "{number}"], tmp_path, Stress(faults=Faults()))


def test_an_earlier_run_leaves_nothing_to_be_judged_again(tmp_path: Path) -> None:
    old = fresh_folders(tmp_path, 3)
    (old[0] / "output").write_text("d 1 1\n")
    assert [list(folder.iterdir()) for folder in fresh_folders(tmp_path, 2)] == [[], []]
    assert not (tmp_path / "process-3").exists()


GATHER = """
import signal, socket, sys
def connect(place):
    host, port = place.split(":")
    return socket.create_connection((host, int(port)))
said = connect(sys.argv[5])
with connect(sys.argv[4]) as waiting:
    waiting.sendall(bytes(8))
    open(sys.argv[3], "a").write("waited" + chr(10))
    assert waiting.recv(1) == b""
said.close()
open(sys.argv[3], "a").write("heard heard" + chr(10))
signal.pause()
"""


def test_programs_wait_at_the_barrier_until_all_are_there(tmp_path: Path) -> None:
    command = [*program(GATHER), "{barrier}", "{signal}"]
    course, tester = stressed(command, tmp_path, Stress(faults=Faults(), wake_s=0.5, seconds=60), processes=3)
    assert course.complete
    assert {tester.text(process) for process in range(3)} == {"waited\nheard heard\n"}


def test_where_one_does_not_come_the_others_wait_to_the_end(tmp_path: Path) -> None:
    absent = f"import sys\nif sys.argv[1] == '0': sys.exit(open(sys.argv[3], 'w').write('absent') and 0)\n{GATHER}"
    command = [*program(absent), "{barrier}", "{signal}"]
    course, tester = stressed(command, tmp_path, Stress(faults=Faults(), wake_s=0.5, seconds=1), processes=3)
    assert not course.complete
    assert all("heard" not in tester.text(process) for process in range(3))


@pytest.mark.parametrize("seed", range(30))
def test_a_plan_keeps_a_majority_spares_whom_it_must_and_pauses_nobody_twice(seed: int) -> None:
    steps = plan(seed=seed, processes=9, kills=4, pauses=12, active_s=6, spared={3})
    assert steps == plan(seed=seed, processes=9, kills=4, pauses=12, active_s=6, spared={3})
    assert [step.time_s for step in steps] == sorted(step.time_s for step in steps)
    victims = [step.process for step in steps if step.act in ENDINGS]
    assert len(victims) == len(set(victims)) == 4
    assert 3 not in victims
    for process in range(9):
        acts = [step.act for step in steps if step.process == process]
        for before, after in pairwise(acts):
            assert before not in ENDINGS
            assert (after is Act.RESUME) == (before is Act.PAUSE) or after in ENDINGS
        assert acts.count(Act.PAUSE) == acts.count(Act.RESUME) or acts[-1] in ENDINGS


def test_plans_pause_resume_terminate_and_kill() -> None:
    acts = {step.act for seed in range(10) for step in plan(seed=seed, processes=5, kills=2, pauses=3, active_s=5)}
    assert acts == set(Act)


@pytest.mark.parametrize(("kills", "pauses"), [(3, 0), (-1, 0), (0, -1)])
def test_a_plan_without_a_majority_is_refused(kills: int, pauses: int) -> None:
    with pytest.raises(BadInput, match="cannot be"):
        plan(seed=1, processes=5, kills=kills, pauses=pauses, active_s=5)


@pytest.mark.parametrize(
    "command", ["", "prog {number}", "prog {output}", "prog '{number} {output}", "prog number output"]
)
def test_a_command_without_its_places_is_refused(command: str) -> None:
    with pytest.raises(BadInput, match="--iut-command"):
        split(command, ("number", "output"))


def test_a_command_that_is_not_there_or_not_executable_is_told_before_anything_runs(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("")
    with pytest.raises(CannotRun, match="it is no file that may be executed"):
        split(f"{plain} {{number}}", ("number",))
    for missing in (f"{plain}x", "no-such-program-anywhere"):
        with pytest.raises(CannotRun, match="cannot be started: it is not there"):
            split(f"{missing} {{number}}", ("number",))
    assert split("sh {number}", ("number",)) == ["sh", "{number}"]


def test_a_command_keeps_other_braces_and_quoted_words() -> None:
    words = split("sh '{a b}' --n={number} {output}", ("number", "output"))
    assert words == shlex.split("sh '{a b}' --n={number} {output}")
