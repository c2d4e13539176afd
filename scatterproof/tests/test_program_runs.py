"""`conform --iut-command` and `race` as a user meets them: verdicts, exit codes, files, and sentences for bad input."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from scatterproof import cli
from scatterproof.conformance.judge import refuse
from scatterproof.conformance.protocol import programs_of
from scatterproof.conformance.relay.faults import Faults
from scatterproof.conformance.stress.contract import Course, EndedProcess
from scatterproof.conformance.verdict import Verdict
from scatterproof.spec import trace_ndjson
from scatterproof.spec.clauses import protocols
from scatterproof.spec.errors import BadInput
from scatterproof.stress_options import StressOptions

PLACES = "--id {id} --hosts {hosts} --output {output} {config}"
SMALL = ("--processes", "3", "--messages", "30", "--seconds", "60", "--pause", "0", "--delay", "1", "--jitter", "1")


def protocol_with_programs() -> str:
    for name in protocols():
        try:
            programs_of(name)
        except BadInput:
            continue
        return name
    raise AssertionError("no protocol judges programs")


NAME = protocol_with_programs()
LEVEL = programs_of(NAME).levels[-1]
REFERENCE = f"{sys.executable} -m scatterproof.impl.{NAME}.program {PLACES}"
SILENT = f"sh -c 'exec sleep 60' {PLACES}"


class Console:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        self._monkeypatch, self._capsys, self._folder = monkeypatch, capsys, folder

    def __call__(self, *words: str) -> tuple[int, str, str]:
        named = ("--protocol", NAME, "--results", str(self._folder))
        self._monkeypatch.setattr(sys, "argv", ["scatterproof", *words, *named])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = self._capsys.readouterr()
        code = ended.value.code
        return (code if isinstance(code, int) else 0), said.out, said.err

    def json(self, *words: str) -> tuple[int, Any]:
        code, said, _ = self(*words, "--json")
        return code, json.loads(said)


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Console:
    return Console(monkeypatch, capsys, tmp_path / "results")


def test_a_program_that_conforms_exits_with_0_and_leaves_all_its_files(console: Console, tmp_path: Path) -> None:
    code, said, _ = console("conform", "--iut-command", REFERENCE, "--level", LEVEL, *SMALL)
    assert code == 0, said
    assert "pass: " in said
    assert "not applicable, for the reasons in run.json: " in " ".join(said.split())
    assert all("not applicable" not in line for line in said.splitlines() if line.startswith("│"))
    kept = tmp_path / "results" / "latest" / "programs"
    for process in ("process-1", "process-2", "process-3"):
        assert {path.name for path in (kept / process).iterdir()} >= {"hosts", "config", "stdout", "stderr"}
    report = json.loads((kept / "run.json").read_text())
    assert report["verdict"] == "pass"
    assert report["relay"]["received"] > 0
    assert len(report["processes"]) == 3
    trace = trace_ndjson.read(kept / "trace.ndjson")
    refuse(trace)
    assert report["trace"] == {"file": "trace.ndjson", "rows": len(trace.rows), "left_out": ""}
    assert len(trace.rows) > report["deliveries"] > 0
    assert f"trace.ndjson ({len(trace.rows)} rows)" in " ".join(said.split())


def test_a_program_that_does_nothing_exits_with_1_and_says_why(console: Console) -> None:
    words = ("--level", LEVEL, "--processes", "2", "--seconds", "0.3", "--kill", "0", "--pause", "0")
    code, found = console.json("conform", "--iut-command", SILENT, *words)
    assert code == 1
    assert found["verdict"] == "fail"
    said = [each["sentence"] for clause in found["clauses"] for each in clause["violations"]]
    assert any("was not written" in sentence for sentence in said)


# Each datagram is new, and half of what it began with lacks in the end.
RESTLESS = """
import signal, socket, sys
me, asked = int(sys.argv[2]), []
homes = [line.split() for line in open(sys.argv[4])]
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
own.bind(("127.0.0.1", int(homes[me - 1][2])))
own.settimeout(0.01)
signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
count = 0
while not asked:
    for number, host, port in homes:
        if int(number) != me:
            own.sendto(b"%d" % count, (host, int(port)))
    count += 1
    try:
        own.recv(100)
    except TimeoutError:
        pass
with open(sys.argv[6], "w") as file:
    for number in range(1, 6):
        file.write("b %d" % number + chr(10))
"""


@pytest.mark.slow
def test_what_time_would_tell_exits_with_4_and_says_what_the_reference_needs(console: Console, tmp_path: Path) -> None:
    script = tmp_path / "restless.py"
    script.write_text(RESTLESS)
    words = ("--level", LEVEL, "--processes", "2", "--messages", "5", "--kill", "0", "--pause", "0")
    command = f"{sys.executable} {script} {PLACES}"
    code, found = console.json("conform", "--iut-command", command, *words, "--seconds", "8")
    assert (code, found["verdict"]) == (4, "inconclusive")
    reasons = " ".join(clause["reason"] for clause in found["clauses"])
    assert "--deadline, and what lacks at the end counts as lost" in reasons
    reference = json.loads((tmp_path / "results" / "latest" / "programs" / "reference" / "run.json").read_text())
    assert reference["complete"] == (found["reference_s"] > 0)
    assert ("enough for what the reference does" in reasons) == reference["complete"]

    code, found = console.json("conform", "--iut-command", command, *words, "--seconds", "1", "--deadline")
    assert (code, found["verdict"]) == (1, "fail")


@pytest.mark.slow
def test_a_race_has_the_same_schedules_for_all_and_orders_them(console: Console) -> None:
    words = ("--level", LEVEL, *SMALL, "--rounds", "2", "--seed", "7")
    code, found = console.json("race", "--iut-command", REFERENCE, "--iut-command", f"nice {REFERENCE}", *words)
    assert code == 0
    assert [len(one["rounds"]) for one in found] == [2, 2]
    for turn in (0, 1):
        first, second = (one["rounds"][turn] for one in found)
        assert first["seed"] == second["seed"] == 7 + turn
        assert first["plan"] == second["plan"]
    assert all(one["deliveries_per_second"] > 0 and one["verdict"] == "pass" for one in found)


def not_applicable() -> list[str]:
    """Clauses that no output shows at this level."""
    part = programs_of(NAME)
    workload = StressOptions(level=LEVEL, processes=2).workload(part.levels)
    folder = Path("/nowhere")
    tester = part.tester(workload, [folder, folder])
    course = Course(
        outcomes=(EndedProcess(process=0), EndedProcess(process=1)), seconds=1, still_s=0, quiet_s=0, window_s=1,
        busy_s=0, woke_s=0, complete=False, faults={},
    )  # fmt: skip
    tester.look([0, 1])
    return [each.clause for each in tester.judge(course).clauses if each.verdict is Verdict.NOT_APPLICABLE]


def test_a_race_with_a_loser_exits_with_1_and_shows_both(console: Console) -> None:
    words = ("--level", LEVEL, "--processes", "2", "--messages", "5", "--seconds", "0.5", "--kill", "0", "--pause", "0")
    code, said, _ = console("race", "--iut-command", SILENT, "--iut-command", REFERENCE, *words)
    assert code == 1
    assert "deliveries/s" in said
    assert "fail" in said
    assert not [clause for clause in not_applicable() if clause in said]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--iut-command", REFERENCE), "--level is needed"),
        (("--iut-command", REFERENCE, "--level", "nonsense"), "nonsense"),
        (("--iut-command", "prog {id}", "--level", LEVEL), "{hosts} {output} {config}"),
        (("--iut-command", "prog '", "--level", LEVEL), "no shell command"),
        (("--iut-command", REFERENCE, "--level", LEVEL, "--loss", "1.5"), "loss is 1.5"),
        (("--iut-command", REFERENCE, "--level", LEVEL, "--processes", "1"), "--processes is 1"),
        (("--iut-command", REFERENCE, "--level", LEVEL, "--processes", "3", "--kill", "2"), "a majority stays"),
        (("--iut-command", REFERENCE, "--level", LEVEL, "--seconds", "0"), "--seconds comes to 0"),
        (("--iut-command", REFERENCE, "--level", LEVEL, "--seconds", "nan"), "--seconds comes to nan"),
        (("--iut-command", REFERENCE, "--level", LEVEL, "--delay", "-1"), "--delay comes to -0.001"),
        (("--iut-command", REFERENCE, "--level", LEVEL, "--case", "X"), "--case goes with a case"),
        (("--level", LEVEL, "--seed", "3"), "--level, --seed goes with a program"),
    ],
)
def test_bad_input_ends_with_one_sentence_and_exit_code_2(
    console: Console, tmp_path: Path, words: tuple[str, ...], named: str
) -> None:
    code, said, complaint = console("conform", *words)
    assert code == 2
    assert named in complaint.replace("\n", " ")
    assert "Traceback" not in complaint
    assert said == ""
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("name", ["conform", "race"])
def test_a_command_that_is_not_there_is_told_before_anything_runs(console: Console, tmp_path: Path, name: str) -> None:
    plain = tmp_path / "plain"
    plain.write_text("")
    for missing, why in ((f"{plain}x", "it is not there"), (f"{plain}", "it is no file that may be executed")):
        others = ("--iut-command", REFERENCE) if name == "race" else ()
        code, _, complaint = console(name, *others, "--iut-command", f"{missing} {PLACES}", "--level", LEVEL)
        assert code == 3
        assert f"{missing}: cannot be started: {why}" in " ".join(complaint.split())
        assert not (tmp_path / "results").exists()


def test_a_protocol_without_programs_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = next(name for name in protocols() if name != NAME)
    monkeypatch.setattr(sys, "argv", ["scatterproof", "race", "--iut-command", "x", "--protocol", other])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "no way yet to judge programs" in said
    assert "`conform --iut`" in said  # `race` has no --iut of its own


def test_no_loss_alone_is_a_clean_network_and_what_is_given_counts() -> None:
    def faults(**given: Any) -> Faults:
        options = StressOptions(level="any", **given)
        return options.stress(options.workload(("any",)), frozenset()).faults

    clean = faults(loss=0)
    assert (clean.loss, clean.delay_ns, clean.jitter_ns, clean.reorder, clean.duplicate) == (0, 0, 0, 0, 0)
    assert faults(loss=0, delay=3).delay_ns == 3_000_000
    assert faults(loss=0, reorder=0.5).reorder == 0.5
    usual, lossy = faults(), faults(loss=0.3)
    assert (usual.loss, usual.duplicate, usual.reorder) == (0.1, 0.05, 0.1)
    assert (lossy.loss, lossy.duplicate, lossy.delay_ns) == (0.3, 0.05, 10_000_000)


def test_reordered_datagrams_are_held_longer_than_any_delay() -> None:
    options = StressOptions(level="any", delay=30, jitter=20, seconds=9, partition=0.5)
    stress = options.stress(options.workload(("any",)), frozenset())
    assert stress.faults.hold_ns > stress.faults.delay_ns + stress.faults.jitter_ns
    [cut] = stress.faults.partitions
    assert cut.end_ns - cut.start_ns == 500_000_000
    assert cut.start_ns <= 3_000_000_000
