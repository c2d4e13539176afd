"""The layers of the main job, each a function that runs it and returns its report.

A tool that is missing makes the layer *not run*; nothing here turns that into a pass.
"""

from __future__ import annotations

import shlex
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.adapters.real_time import longest_s
from conformance.case import Case, CaseResult, cases, ended_as_planned, run_case
from conformance.report.run import broken, folder_name
from conformance.verdict import Verdict
from fuzz.fuzzer import fuzz
from fuzz.kill_matrix import KillMatrix, Standing, kill_matrix
from fuzz.layers import LAYERS as MUTANT_LAYERS
from models.claim import ClaimResult
from models.claim import Verdict as ClaimVerdict
from models.expected import ModelResult, Tier, check_models
from models.z3_claims import check_claims, claims_of
from scatterproof import iuts
from scatterproof.layer_report import Cell, Detail, LayerReport, Status, detail, gravest, not_run
from scatterproof.program_layer import programs
from scatterproof.program_runs import reference_command
from spark.corpus import make_corpus
from spark.mine import mine
from spark.session import MASTER
from spec.errors import CannotRun, ScatterproofError
from spec.iut import Iut

Say = Callable[[str], None]

MOST_REAL_S = 8.0  # of a case over real sockets, in an everyday run
REAL_TIME_TRIES = 3

_OF_VERDICT = {
    Verdict.PASS: Status.PASS,
    Verdict.FAIL: Status.FAIL,
    Verdict.INCONCLUSIVE: Status.INCONCLUSIVE,
    Verdict.NOT_RUN: Status.NOT_RUN,
    Verdict.NOT_APPLICABLE: Status.NONE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run of the main job. effort: 1 for the everyday run; schedules and runs are multiplied by it. models: what
    TLC found, for the kill matrix; None when TLC is not among the layers."""

    protocol: str
    seed: int
    results: Path
    effort: int = 1
    models: Future[list[ModelResult]] | None = None


@dataclass(frozen=True, slots=True)
class Layer:
    """title: the heading of its column. run: the work, told to `say` as it goes on."""

    name: str
    title: str
    run: Callable[[Job, Say], LayerReport]


def run_layer(layer: Layer, job: Job, say: Say) -> LayerReport:
    """The layer's report; `not run`, with the reason, when this machine lacks what it needs."""
    start = time.monotonic()
    try:
        report = layer.run(job, say)
    except CannotRun as error:
        return not_run(layer.name, layer.title, str(error))
    return LayerReport(
        layer=layer.name,
        title=layer.title,
        status=report.status,
        sentence=report.sentence,
        seconds=round(time.monotonic() - start, 1),
        cells=report.cells,
        details=report.details,
    )


def _report(status: Status, sentence: str, cells: Mapping[str, Cell], *details: Detail) -> LayerReport:
    return LayerReport(
        layer="", title="", status=status, sentence=sentence, seconds=0.0, cells=dict(cells), details=details
    )


def _by_clause(parts: Iterable[tuple[str, Status]], noun: str) -> dict[str, Cell]:
    """One cell a clause: the gravest status of its parts, and how many there are; `noun` is one of them."""
    statuses: dict[str, list[Status]] = defaultdict(list)
    for clause, status in parts:
        statuses[clause].append(status)
    return {
        clause: Cell(gravest(found), f"{len(found)} {noun}{'' if len(found) == 1 else 's'}")
        for clause, found in statuses.items()
    }


def tlc(job: Job, say: Say) -> LayerReport:
    try:
        results = check_models(job.protocol, Tier.QUICK, on_progress=lambda news: say(str(news)))
        if job.models is not None:
            job.models.set_result(results)
    except ScatterproofError as error:
        if job.models is not None:
            job.models.set_exception(error)
        raise
    finally:
        # Whatever else went wrong, the kill matrix must not wait for ever.
        if job.models is not None:
            job.models.cancel()
    return summarise_models(results)


def summarise_models(results: list[ModelResult]) -> LayerReport:
    agreeing = sum(result.agrees for result in results)
    states = sum(result.seen.distinct for result in results)
    cells = _by_clause(
        ((clause, Status.PASS if result.agrees else Status.FAIL) for result in results for clause in result.clauses),
        "model",
    )
    rows = [
        (
            result.name,
            result.kind,
            result.seen.violates or result.seen.result,
            result.seen.distinct,
            result.seen.depth,
            result.seen.trace or "",
            f"{result.seen.seconds:.1f}",
            "; ".join(result.differences) or "as expected",
        )
        for result in results
    ]
    return _report(
        Status.PASS if results and agreeing == len(results) else Status.FAIL,
        f"{agreeing} of {len(results)} models as expected, {states} distinct states",
        cells,
        detail(
            "TLC models",
            ("model", "kind", "found", "distinct states", "depth", "counterexample", "s", "compared"),
            rows,
        ),
    )


def z3(job: Job, say: Say) -> LayerReport:
    say("proving")
    return summarise_claims(job.protocol, check_claims(job.protocol))


def summarise_claims(protocol: str, results: list[ClaimResult]) -> LayerReport:
    """Claims that judge no rule (equivalences, say) must be proved too, but speak for no clause."""
    speaking = {claim.name for claim in claims_of(protocol) if claim.normative}
    counting = sum(result.counts for result in results)
    refuted = {r.name: sum(mutant.verdict is ClaimVerdict.REFUTED for mutant in r.mutants) for r in results}
    mutants = sum(len(result.mutants) for result in results)
    cells = _by_clause(
        (
            (clause, Status.PASS if result.counts else Status.FAIL)
            for result in results
            if result.name in speaking
            for clause in result.clauses
        ),
        "claim",
    )
    rows = [
        (
            result.name,
            ", ".join(result.clauses),
            result.verdict,
            "yes" if result.hypotheses_satisfiable else "no",
            f"{refuted[result.name]} of {len(result.mutants)}",
            f"{result.milliseconds:.0f}",
            result.sentence,
        )
        for result in results
    ]
    return _report(
        Status.PASS if results and counting == len(results) else Status.FAIL,
        f"{counting} of {len(results)} claims proved for any number of nodes;"
        f" {sum(refuted.values())} of their {mutants} mutants refuted",
        cells,
        detail(
            "Z3 claims",
            ("claim", "clauses", "verdict", "hypotheses satisfiable", "mutants refuted", "ms", "sentence"),
            rows,
        ),
    )


def conform(
    iut_name: str,
    chosen: Callable[[Job], Sequence[Case]] = lambda job: cases(job.protocol),
    give: Callable[[Case, Iut], CaseResult] = run_case,
) -> Callable[[Job, Say], LayerReport]:
    """The layer that gives every case, or those chosen, to that implementation."""

    def run(job: Job, say: Say) -> LayerReport:
        folder = job.results / "latest" / iut_name
        iut = iuts.find(iut_name, job.protocol, folder)
        results: list[CaseResult] = []
        for case in chosen(job):
            say(case.id)
            results.append(give(case, iut))
        return summarise_cases(iut_name, results)

    return run


def over_udp(job: Job, say: Say) -> LayerReport:
    """The cases over real sockets; of a protocol whose reference is a program, that program under stress."""
    command = reference_command(job.protocol)
    if command is None:
        return conform("reference-udp", _for_real_time, _in_real_time)(job, say)
    return programs(job.protocol, command, job.seed, job.results / "latest" / "programs", say)


def _for_real_time(job: Job) -> Sequence[Case]:
    """Real time cannot be hurried, nor can clocks be made to drift: in an everyday run the first case of each clause
    that asks for neither."""
    everything = cases(job.protocol)
    if job.effort > 1:
        return everything
    fit = [
        case
        for case in everything
        if longest_s(case.schedule) <= MOST_REAL_S and not any(clock.drift_ppb for clock in case.schedule.clocks)
    ]
    return list({case.clause: case for case in reversed(fit)}.values())[::-1]


def _in_real_time(case: Case, iut: Iut) -> CaseResult:
    """Give the case again when its run ended as planned and its stimulus did not come about: that is up to the machine,
    and in the end the case is not run."""
    for _ in range(REAL_TIME_TRIES):
        found = run_case(case, iut)
        if found.verdict is not Verdict.INCONCLUSIVE or found.trace is None or not ended_as_planned(found.trace):
            return found
    return replace(found, verdict=Verdict.NOT_RUN, reason=f"{REAL_TIME_TRIES} runs left it open: {found.reason}")


def summarise_cases(iut_name: str, results: list[CaseResult]) -> LayerReport:
    """A clause passes with the cases that are about it; any case in which it is broken fails it."""
    parts = [(result.case.clause, _OF_VERDICT[result.verdict]) for result in results]
    parts += [
        (judged.clause, Status.FAIL)
        for result in results
        for judged in result.results
        if judged.verdict is Verdict.FAIL and judged.clause != result.case.clause
    ]
    passed = sum(result.verdict is Verdict.PASS for result in results)
    ran = [result for result in results if result.verdict is not Verdict.NOT_RUN]
    status = gravest(_OF_VERDICT[result.verdict] for result in ran or results)
    left_out = f"; {len(results) - len(ran)} not run, with the reason each" if len(ran) < len(results) else ""
    rows = [(r.case.id, r.verdict, r.case.stimulus, r.case.duty, r.reason) for r in results]
    again = [_explored(iut_name, result) for result in results]
    return _report(
        Status.INCONCLUSIVE if status is Status.NONE else status,
        f"{passed} of {len(results)} cases passed by {iut_name}{left_out}",
        _by_clause(parts, "case"),
        detail(f"Cases given to {iut_name}", ("case", "verdict", "stimulus", "duty", "reason"), rows, again),
    )


def _explored(iut: str, result: CaseResult) -> str:
    """The commands that give a failing case again, and open the explorer at the row that breaks a clause."""
    found = broken(result)
    if not found:
        return ""
    trace = f"results/latest/{folder_name(result.case.id)}/trace.ndjson"
    give = shlex.join(["scatterproof", "conform", "--case", result.case.address, "--iut", iut])
    return f"{give}; {shlex.join(['scatterproof', 'explore', trace, '--row', str(found[0].violations[0].position)])}"


def fuzzing(job: Job, say: Say) -> LayerReport:
    examples = 400 * job.effort
    result = fuzz(
        job.protocol,
        iuts.find("reference", job.protocol, job.results),
        examples=examples,
        seed=job.seed,
        on_progress=lambda done, failed: say(f"{done} of {examples} schedules, {failed} clauses broken"),
        folder=job.results / "failures",
    )
    failed = {failure.clause: failure for failure in result.failures}
    cells = {
        clause: Cell(
            Status.FAIL if clause in failed else Status.PASS if at_stake else Status.INCONCLUSIVE,
            failed[clause].file if clause in failed else f"{at_stake} times at stake",
        )
        for clause, at_stake in result.at_stake.items()
    }
    status = Status.FAIL if failed else gravest(cell.status for cell in cells.values())
    return _report(
        status,
        f"{result.examples} schedules, {result.rows} events, seed {job.seed}: {len(failed)} clauses broken",
        cells,
        detail(
            "Failures found by fuzzing",
            ("clause", "verdict", "schedule"),
            [(f.clause, Status.FAIL, f.file) for f in result.failures],
            [_replayed(f.file) for f in result.failures],
        ),
    )


def _replayed(file: str) -> str:
    """The commands that run a schedule again, and step through what it leaves."""
    trace = f"results/replay/{Path(file).stem}.ndjson"
    return f"{shlex.join(['scatterproof', 'replay', file])}; {shlex.join(['scatterproof', 'explore', trace])}"


def mutants(job: Job, say: Say) -> LayerReport:
    models: list[ModelResult] = []
    layers = [layer for layer in MUTANT_LAYERS if layer != "tlc"]
    if job.models is not None:
        say("waiting for TLC")
        with suppress(CannotRun, CancelledError):
            models, layers = job.models.result(), list(MUTANT_LAYERS)
    matrix = kill_matrix(
        job.protocol,
        layers,
        models=models,
        seed=job.seed,
        on_progress=lambda done, of, name: say(f"{done} of {of} mutants: {name}"),
        folder=job.results / "mutants",
    )
    return summarise_matrix(matrix)


def summarise_matrix(matrix: KillMatrix) -> LayerReport:
    score = {standing: matrix.score.get(standing, 0) for standing in Standing}
    rows = [
        (
            row.mutant,
            row.standing,
            row.proof or ", ".join(row.clauses),
            *(_cell_text(row.cells[layer].outcome, row.cells[layer].instance) for layer in matrix.layers),
        )
        for row in matrix.rows
    ]
    return _report(
        Status.FAIL if score[Standing.OPEN] or not score[Standing.KILLED] else Status.PASS,
        f"{score[Standing.KILLED]} mutants killed, {score[Standing.EQUIVALENT]} proved equivalent,"
        f" {score[Standing.OPEN]} open",
        {clause: Cell(Status.PASS, f"{len(names)} killed") for clause, names in matrix.by_clause.items()},
        detail("Kill matrix", ("mutant", "standing", "clauses, or proof", *matrix.layers), rows),
    )


def _cell_text(outcome: str, instance: str) -> str:
    return f"{outcome} ({instance})" if instance else str(outcome)


def mining(job: Job, say: Say) -> LayerReport:
    runs, folder = 60 * job.effort, job.results / "corpus"
    make_corpus(
        job.protocol, runs, job.seed, folder, MASTER, on_progress=lambda done, of: say(f"{done} of {of} runs simulated")
    )
    result = mine(folder, MASTER, on_progress=lambda done, of: say(f"{done} of {of} events judged"))
    cells = {
        clause.clause: Cell(_OF_VERDICT[clause.verdict], f"{clause.held} times at stake") for clause in result.clauses
    }
    status = gravest(cell.status for cell in cells.values())
    return _report(
        status,
        f"{result.runs} runs, {result.events} events, {result.violations} violations",
        cells,
        detail(
            "Mined clauses",
            ("clause", "verdict", "held", "broken", "reason"),
            [(c.clause, c.verdict, c.held, c.broken, c.reason) for c in result.clauses],
        ),
    )


LAYERS = (
    Layer("tlc", "TLC", tlc),
    Layer("z3", "Z3", z3),
    Layer("conform", "in process", conform("reference")),
    Layer("conform-stdio", "over stdio", conform("reference-stdio")),
    Layer("conform-udp", "over UDP", over_udp),
    Layer("fuzz", "fuzzing", fuzzing),
    Layer("mine", "Spark", mining),
    Layer("mutants", "mutants", mutants),
)
