"""Runs of programs under stress, for the commands: one run and its report as a document, a table, and files."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.text import Text

from scatterproof.conformance.protocol import programs_of
from scatterproof.conformance.report.run import printable
from scatterproof.conformance.report.terminal import STYLES
from scatterproof.conformance.stress.contract import Course, ProgramJudgement
from scatterproof.conformance.stress.run import fresh_folders, run, split
from scatterproof.conformance.verdict import Verdict
from scatterproof.console import INCONCLUSIVE, OK, VIOLATIONS, out, print_table
from scatterproof.impl.protocol import ImplPlugin
from scatterproof.spec import clauses, plugins, trace_ndjson
from scatterproof.spec.files import write_atomically
from scatterproof.stress_options import StressOptions

TRACE = "trace.ndjson"
REFERENCE = "reference"  # the folder of its run, beside those of the processes


class ProgramRun(msgspec.Struct, frozen=True, kw_only=True):
    """One command's run.

    seed: with the same options, it gives the same workload and faults.
    left_out: what its trace does not have.
    """

    protocol: str
    level: str
    command: str
    seed: int
    processes: int
    messages: int
    catalogue: str
    course: Course
    judgement: ProgramJudgement
    trace_rows: int
    left_out: str

    @property
    def rate(self) -> float:
        """Deliveries a second, all processes together."""
        return self.judgement.deliveries / self.judgement.seconds if self.judgement.seconds > 0 else 0.0


def reference_command(protocol: str) -> str | None:
    """The command of the protocol's reference program, with the placeholders of `--iut-command`; None where there is no
    such program."""
    plugin = plugins.find("impl", ImplPlugin, protocol)
    return f"{shlex.quote(sys.executable)} {plugin.program}" if plugin is not None and plugin.program else None


def refuse_commands(protocol: str, commands: Sequence[str], options: StressOptions) -> None:
    """Raise BadInput or CannotRun for options that are out of range, and for commands that cannot be started."""
    part = programs_of(protocol)
    workload = options.workload(part.levels)
    asked = part.tester(workload, [Path()] * workload.processes)
    options.stress(workload, asked.spared)
    for command in commands:
        split(command, asked.placeholders)


def run_program(
    protocol: str, command: str, options: StressOptions, folder: Path, progress: Callable[[str], None]
) -> ProgramRun:
    """Run the command's processes and judge them; `folder` is made anew, and keeps what they read and wrote. Where
    nobody saw whether they were at a standstill, the reference is run, too, to see how long it needs."""
    # What is out of range is refused before anything is removed.
    refuse_commands(protocol, [command], options)
    part = programs_of(protocol)
    workload = options.workload(part.levels)
    folders = fresh_folders(folder, workload.processes)
    tester = part.tester(workload, folders)
    words, stress = split(command, tester.placeholders), options.stress(workload, tester.spared)
    course = run(words, tester, workload, stress, folders, progress)
    progress("judging the output")
    judgement = tester.judge(course)
    reference = reference_command(protocol)
    if judgement.lacks_reference and reference not in (None, command):
        needed = run_program(
            protocol, reference, options, folder / REFERENCE, lambda text: progress(f"the reference: {text}")
        )
        if needed.course.complete:
            course = msgspec.structs.replace(course, reference_s=needed.judgement.seconds)
            judgement = tester.judge(course)
    recorded = tester.trace(course)
    trace_ndjson.write(folder / TRACE, recorded.trace)
    found = ProgramRun(
        protocol=protocol,
        level=workload.level,
        command=command,
        seed=workload.seed,
        processes=workload.processes,
        messages=workload.messages,
        catalogue=clauses.load(protocol).version,
        course=course,
        judgement=judgement,
        trace_rows=len(recorded.trace.rows),
        left_out=recorded.left_out,
    )
    content = msgspec.json.format(msgspec.json.encode(plain(found)), indent=1)
    write_atomically(folder / "run.json", content + b"\n")
    return found


def plain(one: ProgramRun) -> dict[str, Any]:
    """The run as a JSON document."""
    course, judgement = one.course, one.judgement
    return {
        "protocol": one.protocol,
        "level": one.level,
        "command": one.command,
        "seed": one.seed,
        "catalogue": one.catalogue,
        "verdict": str(judgement.verdict),
        "workload": {"processes": one.processes, "messages": one.messages},
        "clauses": msgspec.to_builtins(judgement.clauses),
        "deliveries": judgement.deliveries,
        "seconds": round(judgement.seconds, 3),
        "deliveries_per_second": round(one.rate, 1),
        "complete": course.complete,
        "ran_for_s": round(course.seconds, 3),
        "still_for_s": round(course.still_s, 3),
        "quiet_for_s": round(course.quiet_s, 3),
        "reference_s": round(course.reference_s, 3),
        "processes": msgspec.to_builtins(course.outcomes),
        "plan": msgspec.to_builtins(course.steps),
        "relay": course.faults,
        "notes": list(judgement.notes),
        "trace": {"file": TRACE, "rows": one.trace_rows, "left_out": one.left_out},
    }


def show(one: ProgramRun, folder: Path) -> None:
    """The clauses, the violations in words, what the relay and the plan did, and the run in one line."""
    rows = [
        (result.clause, result.name, result.verdict, result.held, result.broken, printable(result.reason))
        for result in one.judgement.clauses
        if result.verdict is not Verdict.NOT_APPLICABLE
    ]
    folded = [result.clause for result in one.judgement.clauses if result.verdict is Verdict.NOT_APPLICABLE]
    title = f"{one.protocol} at level {one.level}, {one.processes} processes, {one.messages} messages each"
    print_table(title, ("clause", "name", "verdict", "held", "broken", "why"), rows)
    if folded:
        _say(f"not applicable, for the reasons in run.json: {', '.join(folded)}")
    for result in one.judgement.clauses:
        for violation in result.violations:
            _say(violation.sentence, "red")
        if result.broken > len(result.violations):
            _say(f"{result.clause}: broken {result.broken} times in all")
    for note in one.judgement.notes:
        _say(f"note: {note}")
    ends = [f"{step.act} process {step.process + 1} at {step.time_s:.1f} s" for step in one.course.steps]
    _say(f"plan (seed {one.seed}): {', '.join(ends) or 'nothing'}")
    _say(
        "relay: " + ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in one.course.faults.items() if count)
    )
    _say(f"{one.judgement.deliveries} deliveries in {one.judgement.seconds:.1f} s, {one.rate:.0f} a second")
    if one.left_out:
        _say(f"{TRACE} leaves out {one.left_out}")
    _say(f"files, logs, run.json and {TRACE} ({one.trace_rows} rows) are in {folder}")
    verdict = one.judgement.verdict
    _say(f"{verdict}: {one.command}", STYLES[verdict])


def exit_code(verdicts: Sequence[Verdict]) -> int:
    """The exit code: 1 for a violation, 4 where nothing can be said of the program."""
    if Verdict.FAIL in verdicts:
        return VIOLATIONS
    return OK if set(verdicts) == {Verdict.PASS} else INCONCLUSIVE


def _say(sentence: str, style: str = "") -> None:
    out.print(Text(printable(sentence), style=style), soft_wrap=True)
