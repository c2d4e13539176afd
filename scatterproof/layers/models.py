"""The layers in which the specification is checked by itself: TLC's models, one process each, and Z3's claims."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec

from scatterproof.layer_report import LayerReport, Status, StatusCell, detail
from scatterproof.layers.job import Depth, Found, MainJob, Unit, by_clause, report_of, shares
from scatterproof.models.claim import ClaimResult
from scatterproof.models.claim import ClaimVerdict as ClaimVerdict
from scatterproof.models.expected import Model, ModelKind, ModelResult, Tier, check_model, make_ready, models_in
from scatterproof.models.java import find_java
from scatterproof.models.z3_claims import check_claims, claims_of

CLAIMS_A_UNIT = 12
CLAIM_S = 0.3
SMALL = 2.0  # seconds that a model of a quick run may take


def tlc_units(job: MainJob) -> list[Unit]:
    find_java()
    models = _chosen(job)
    make_ready(models)
    return [Unit(text=model.name, weight=model.weight, work=partial(_check, model, job.protocol)) for model in models]


def _chosen(job: MainJob) -> Sequence[Model]:
    """The models of the depth; of a quick run the smallest that shows each clause to hold, if it is small."""
    models = models_in(job.protocol, Tier.FULL if job.full else Tier.QUICK)
    if job.depth is not Depth.QUICK:
        return models
    smallest: dict[str, Model] = {}
    for model in sorted(models, key=lambda model: model.weight):
        if model.kind is ModelKind.INSTANCE and model.weight <= SMALL:
            for clause in model.clauses:
                smallest.setdefault(clause, model)
    return [model for model in models if model in smallest.values()]


def _check(model: Model, protocol: str) -> ModelResult:
    return check_model(model, protocol).result


def tlc_report(job: MainJob, found: Found) -> LayerReport:
    """A clause whose models are all left out is not run, with the reason."""
    report = summarise_models(found["tlc"])
    left_out = {
        clause: StatusCell(Status.NOT_RUN, "its models take longer than a quick run has")
        for model in models_in(job.protocol, Tier.FULL)
        for clause in model.clauses
    }
    return msgspec.structs.replace(report, cells=left_out | report.cells)


def summarise_models(results: Sequence[ModelResult]) -> LayerReport:
    agreeing = sum(result.agrees for result in results)
    states = sum(result.seen.distinct for result in results)
    cells = by_clause(
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
    return report_of(
        Status.PASS if results and agreeing == len(results) else Status.FAIL,
        f"{agreeing} of {len(results)} models as expected, {states} distinct states",
        cells,
        detail(
            "TLC models",
            ("model", "kind", "found", "distinct states", "depth", "counterexample", "s", "compared"),
            rows,
        ),
    )


def z3_units(job: MainJob) -> list[Unit]:
    return [
        Unit(
            text=f"{some[0].name} and {len(some) - 1} more claims",
            weight=CLAIM_S * len(some),
            work=partial(check_claims, job.protocol, [claim.name for claim in some]),
        )
        for some in shares(claims_of(job.protocol), CLAIMS_A_UNIT)
    ]


def z3_report(job: MainJob, found: Found) -> LayerReport:
    return summarise_claims(job.protocol, [result for some in found["z3"] for result in some])


def summarise_claims(protocol: str, results: Sequence[ClaimResult]) -> LayerReport:
    """Claims that judge no rule (equivalences, say) must be proved too, but speak for no clause."""
    speaking = {claim.name for claim in claims_of(protocol) if claim.normative}
    counting = sum(result.counts for result in results)
    refuted = {r.name: sum(mutant.verdict is ClaimVerdict.REFUTED for mutant in r.mutants) for r in results}
    mutants = sum(len(result.mutants) for result in results)
    cells = by_clause(
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
            result.scope,
            "yes" if result.hypotheses_satisfiable else "no",
            f"{refuted[result.name]} of {len(result.mutants)}",
            f"{result.milliseconds:.0f}",
            result.sentence,
        )
        for result in results
    ]
    return report_of(
        Status.PASS if results and counting == len(results) else Status.FAIL,
        f"{counting} of {len(results)} claims proved, each for its scope;"
        f" {sum(refuted.values())} of their {mutants} mutants refuted",
        cells,
        detail(
            "Z3 claims",
            ("claim", "clauses", "verdict", "scope", "hypotheses satisfiable", "mutants refuted", "ms", "sentence"),
            rows,
        ),
    )
