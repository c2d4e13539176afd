"""`scatterproof race`: several programs under the same schedules, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer

from scatterproof.case_journal import alone_in
from scatterproof.conformance.report.run import printable
from scatterproof.conformance.stress.contract import ProgramJudgement
from scatterproof.conformance.verdict import Verdict
from scatterproof.console import Progress, out, print_json, print_table
from scatterproof.options import RESULTS, Json, Protocol, Results, resolve
from scatterproof.program_runs import ProgramRun, exit_code, plain, refuse_commands, run_program
from scatterproof.spec.errors import BadInput
from scatterproof.stress_options import IUT_COMMAND_HELP, StressOptions, with_stress


@with_stress
def command(
    iut_commands: Annotated[list[str], typer.Option("--iut-command", help=f"{IUT_COMMAND_HELP} Give several.")],
    rounds: Annotated[int, typer.Option("--rounds", help="Runs of each, with the seeds that follow one another.")] = 1,
    protocol: Protocol = None,
    results: Results = RESULTS,
    as_json: Json = False,
    *,
    stress: StressOptions,
) -> None:
    """Run several programs under the same schedules, one after the other, and compare speed and verdicts."""
    chosen = resolve(protocol)
    if rounds < 1:
        raise BadInput(f"--rounds is {rounds}; give at least 1")
    refuse_commands(chosen, iut_commands, stress)
    first = 1 if stress.seed is None else stress.seed
    runs: list[list[ProgramRun]] = [[] for _ in iut_commands]
    with alone_in(results / "latest"), Progress(f"a race of {len(iut_commands)}") as progress:
        for turn in range(rounds):
            # Round by round, so that a machine that is slow for a while is slow for all.
            for number, one in enumerate(iut_commands):
                place = results / "latest" / "race" / f"program-{number + 1}" / f"seed-{first + turn}"
                progress(f"round {turn + 1} of {rounds}: {one}")
                seeded = replace(stress, seed=first + turn)
                runs[number].append(run_program(chosen, one, seeded, place, lambda text: progress(text)))
    if as_json:
        print_json([_told(each) for each in runs])
    else:
        _show(runs)
    raise typer.Exit(exit_code([_verdict(each) for each in runs]))


def _rate(runs: Sequence[ProgramRun]) -> float:
    """Deliveries a second over all rounds."""
    seconds = sum(one.judgement.seconds for one in runs)
    return sum(one.judgement.deliveries for one in runs) / seconds if seconds else 0.0


def _verdict(runs: Sequence[ProgramRun]) -> Verdict:
    """The gravest of all rounds."""
    found = {one.judgement.verdict for one in runs}
    return next((v for v in (Verdict.FAIL, Verdict.INCONCLUSIVE) if v in found), Verdict.PASS)


def _told(runs: Sequence[ProgramRun]) -> dict[str, object]:
    return {
        "command": runs[0].command,
        "verdict": str(_verdict(runs)),
        "deliveries_per_second": round(_rate(runs), 1),
        "rounds": [plain(one) for one in runs],
    }


def _show(runs: Sequence[Sequence[ProgramRun]]) -> None:
    order = sorted(runs, key=_rate, reverse=True)
    best = _rate(order[0]) or 1.0
    rows = [
        (
            printable(each[0].command),
            _verdict(each),
            f"{_rate(each):,.0f}",
            f"{_rate(each) / best:.0%}",
            sum(one.judgement.deliveries for one in each),
            f"{sum(one.judgement.seconds for one in each):.1f}",
            f"{sum(one.course.faults.get('received_bytes', 0) for one in each) / 1e6:.1f}",
            _broken([one.judgement for one in each]),
        )
        for each in order
    ]
    columns = ("command", "verdict", "deliveries/s", "of the best", "deliveries", "seconds", "sent, MB", "not passed")
    print_table("Race: the same workload and faults for all", columns, rows)
    for each in order:
        for one in each:
            for note in one.judgement.notes:
                out.print(f"{printable(one.command)}, seed {one.seed}: {note}", markup=False, highlight=False)


def _broken(judgements: Sequence[ProgramJudgement]) -> str:
    judged = (Verdict.PASS, Verdict.NOT_APPLICABLE)
    found = [r.clause for each in judgements for r in each.clauses if r.verdict not in judged]
    return ", ".join(dict.fromkeys(found))
