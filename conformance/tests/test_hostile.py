"""Whatever an implementation does, it gets a verdict with a reason in time, leaves nothing behind, and the next one is
judged as ever."""

from __future__ import annotations

import gc
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from scatterproof.conformance.adapters.datagram import DatagramIut
from scatterproof.conformance.adapters.stdio import StdioIut
from scatterproof.conformance.case import CaseResult, run_case, select
from scatterproof.conformance.supervisor import Child, stop
from scatterproof.conformance.tests.hostile import (
    DATAGRAM,
    HOSTILE,
    LIMITS,
    MARK,
    NODE,
    Hostile,
    open_files,
    resident_bytes,
    strays,
)
from scatterproof.conformance.verdict import Verdict
from scatterproof.spec.files import IMPORTED_FROM
from scatterproof.spec.schedule import Failure, FailureKind
from scatterproof.spec.topology import Role
from scatterproof.spec.trace import Kind

(CASE,) = select("totalorder", ["TO-DELIVER/itself-only"])
# For the answers of the nodes, and for their ends; and room for a busy machine.
MOST_S = LIMITS.answers_s + 2 * LIMITS.stop_s + 20


@pytest.fixture(autouse=True, scope="module")
def first_child(tmp_path_factory: pytest.TempPathFactory) -> None:
    """With it the keeper starts, which stays as long as this process."""
    stop([Child("first", ["true"], tmp_path_factory.mktemp("first"))])


@pytest.fixture(autouse=True)
def nothing_stays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(MARK, str(os.getpid()))
    files = open_files()
    yield
    assert strays() == []
    assert open_files() == files


def judged(hostile: Hostile, folder: Path | None = None) -> CaseResult:
    return run_case(CASE, StdioIut(hostile.name, hostile.command, folder, hostile.limits))


def broken(found: CaseResult) -> set[str]:
    return {result.clause for result in found.results if result.verdict is Verdict.FAIL}


def check(hostile: Hostile, found: CaseResult) -> None:
    assert found.verdict is not Verdict.PASS if hostile.verdict is None else found.verdict is hostile.verdict
    assert hostile.reason in found.reason or hostile.reason in broken(found), found.reason
    assert found.reason or found.verdict is Verdict.PASS


@pytest.mark.slow
@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: hostile.name)
def test_it_gets_a_verdict_and_a_reason_in_time(hostile: Hostile, tmp_path: Path) -> None:
    begun = time.monotonic()
    found = judged(hostile, tmp_path)

    assert time.monotonic() - begun < MOST_S
    check(hostile, found)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 4 * LIMITS.file_bytes


@pytest.mark.parametrize("hostile", DATAGRAM, ids=lambda hostile: hostile.name)
def test_over_real_sockets_it_gets_a_verdict_and_a_reason(hostile: Hostile, tmp_path: Path) -> None:
    """Its hosts are hostile; the switch between them is not."""
    reference = [sys.executable, "-m", "scatterproof.impl.drivers.udp"]
    iut = DatagramIut(hostile.name, hostile.command, tmp_path, hostile.limits, roles={Role.HOST}, others=reference)
    check(hostile, run_case(CASE, iut))


def test_what_did_not_stop_when_it_was_asked_to_is_said() -> None:
    (hostile,) = (hostile for hostile in HOSTILE if hostile.name == "does-not-stop")
    trace = judged(hostile).trace

    assert trace is not None
    assert trace.notes[0] == "node 0-h0 did not stop on SIGTERM and was killed"


def test_a_daemon_is_ended_that_outlives_a_node_which_the_schedule_crashes(tmp_path: Path) -> None:
    script = HOSTILE[0].command[:-1]
    daemon = next(hostile for hostile in HOSTILE if hostile.name == "forks-a-daemon").script
    schedule = msgspec.structs.replace(CASE.schedule, failures=(Failure(0, FailureKind.CRASH, node=0),), end_ns=0)
    limits = replace(LIMITS, answer_s=1)  # the others are asked, and hang
    trace = StdioIut("it", [*script, daemon.replace("sys.exit(6)", "hang()")], tmp_path, limits).run(schedule)

    assert Kind.CRASHED in trace.column("kind")


def test_the_rest_of_the_suite_goes_on(tmp_path: Path) -> None:
    """Every second time the program is as it should be."""
    script = HOSTILE[0].command[:-1]
    flag = tmp_path / "flag"
    program = (
        f"{NODE}config = hear()['config']\nimport pathlib\nflag = pathlib.Path({str(flag)!r})\n"
        "if config['node'] == 2 and flag.exists():\n    flag.unlink()\n    os.abort()\n"
        "node = NODE.Host(config) if config['role'] == 'host' else NODE.Switch(config)\n"
        "say(json.dumps({'type': 'ready', 'deadline': node.deadline()}))\n"
        "for line in map(json.loads, sys.stdin):\n    if line['type'] == 'stop': break\n"
        "    print(*(json.dumps(one) for one in NODE.answer(node, line)), sep='\\n', flush=True)\n"
    )
    iut, verdicts = StdioIut("moody", [*script, program], tmp_path / "nodes", LIMITS), []
    for number in range(4):
        if number % 2:
            flag.touch()
        verdicts.append(run_case(CASE, iut).verdict)

    assert verdicts == [Verdict.PASS, Verdict.INCONCLUSIVE] * 2


@pytest.mark.slow
def test_two_hundred_runs_leave_nothing_behind(tmp_path: Path) -> None:
    """No file descriptor, no process, and no memory: what the first runs have taken, the others need not."""
    quick = [hostile for hostile in HOSTILE if hostile.limits is LIMITS and not hostile.name.startswith("floods")]
    files, resident = open_files(), 0
    for number in range(200):
        check(quick[number % len(quick)], judged(quick[number % len(quick)], tmp_path))
        if number == 60:
            resident = resident_bytes()
    gc.collect()

    assert strays() == []
    assert open_files() == files
    assert resident_bytes() - resident < 16 << 20


UNDER_A_LIMIT = """
from scatterproof.conformance.tests.hostile import HOSTILE
from scatterproof.conformance.tests.test_hostile import CASE, check
from scatterproof.conformance.adapters.stdio import StdioIut
from scatterproof.conformance.case import run_case
for hostile in HOSTILE:
    if hostile.name in NAMES:
        check(hostile, run_case(CASE, StdioIut(hostile.name, hostile.command)))
        print(hostile.name)
"""


@pytest.mark.slow
def test_floods_do_not_take_more_memory_than_there_is() -> None:
    """With the limits that users have, and a gibibyte of address space for the harness."""
    names = ["floods", "floods-with-effects", "megabytes", "endless-line", "nested", "floods-with-payloads"]
    script = f"NAMES = {names!r}\n{UNDER_A_LIMIT}"
    command = f"ulimit -v {1 << 20}; exec {shlex.quote(sys.executable)} -c {shlex.quote(script)}"
    ended = subprocess.run(["bash", "-c", command], cwd=IMPORTED_FROM, capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr) == (0, "")
    assert sorted(ended.stdout.split()) == sorted(names)
