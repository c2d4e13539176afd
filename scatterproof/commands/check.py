"""`scatterproof check`: the models, by TLC and Z3."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

import typer

from scatterproof.console import CANNOT_RUN, OK, VIOLATIONS, Progress, err, print_json, print_table
from scatterproof.layer_report import LayerReport
from scatterproof.layers import models as of_models
from scatterproof.models.claim import Claim, ClaimResult, prove
from scatterproof.models.expected import Model, ModelResult, Tier, check_model, check_models, models_of
from scatterproof.models.finding import FindingResult, decide, findings_of
from scatterproof.models.z3_claims import check_claims, claims_of
from scatterproof.options import Json, Protocol, resolve
from scatterproof.spec.errors import BadInput, CannotRun

Named = TypeVar("Named", Model, Claim)


def command(
    names: Annotated[
        list[str] | None, typer.Argument(help="Only these models and claims, of any tier; also with * and ?.")
    ] = None,
    protocol: Protocol = None,
    full: Annotated[
        bool,
        typer.Option("--full", help="Run all models that take seconds, not only one for each thing that can break."),
    ] = False,
    deep: Annotated[
        bool, typer.Option("--deep", help="Run large instances, too (minutes each); includes --full.")
    ] = False,
    random: Annotated[
        bool, typer.Option("--random", help="Try random behaviours of instances that are too large to enumerate, too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Model-check the specification (TLC) and prove its claims, each for the scope that it names (Z3).

    The models of every day check each clause that TLC checks, with a damaged rule that it refutes where there is one.
    At the end stand the findings: rules of the source document, and whether they were confirmed to be wrong.
    """
    chosen = resolve(protocol)
    if names and (full or deep or random):
        raise BadInput("--full, --deep and --random choose among all models; leave them out where some are named")
    only_models, only_claims = _named(chosen, names) if names else (None, None)
    tiers = (Tier.DEEP if deep else Tier.FULL if full else Tier.QUICK, *([Tier.RANDOM] if random else []))
    missing: dict[str, str] = {}
    models: list[ModelResult] = []
    claims: list[ClaimResult] = []
    if only_models != []:
        try:
            with Progress("TLC") as progress:
                for model in only_models or ():
                    progress(model.name + (f", {model.distinct:,} states" if model.distinct else ""))
                    models.append(check_model(model, chosen).result)
                for tier in tiers if only_models is None else ():
                    models += check_models(chosen, tier, on_progress=lambda news: progress(str(news)))
        except CannotRun as error:
            missing["tlc"] = str(error)
    if only_claims != []:
        try:
            with Progress("Z3"):
                claims = check_claims(chosen) if only_claims is None else [prove(claim) for claim in only_claims]
        except CannotRun as error:
            missing["z3"] = str(error)
    findings = [] if names else decide(findings_of(chosen), models, claims)
    if as_json:
        parts = {"models": models, "claims": claims, "findings": findings}
        print_json({"protocol": chosen, **parts, "not_run": missing})
    else:
        if only_models != []:
            _print(of_models.summarise_models(models), missing.get("tlc"))
        if only_claims != []:
            _print(of_models.summarise_claims(chosen, claims), missing.get("z3"))
        if findings:
            _print_findings(findings)
    agrees = all(result.agrees for result in models) and all(result.counts for result in claims)
    raise typer.Exit(VIOLATIONS if not agrees else CANNOT_RUN if missing else OK)


def _named(protocol: str, names: Sequence[str]) -> tuple[list[Model], list[Claim]]:
    """The models and the claims that are named; BadInput for a name that none has. A protocol need not have both."""
    lacking: list[CannotRun] = []
    models, claims = _those(models_of, protocol, lacking), _those(claims_of, protocol, lacking)
    known = [*(model.name for model in models), *(claim.name for claim in claims)]
    for name in names:
        if not fnmatch.filter(known, name):
            if lacking:
                raise lacking[0]
            near = ", ".join(difflib.get_close_matches(name, known, n=3, cutoff=0.0))
            raise BadInput(f"no model and no claim of {protocol} is named {name!r}; near it are {near}")
    wanted = {found for name in names for found in fnmatch.filter(known, name)}
    return [one for one in models if one.name in wanted], [one for one in claims if one.name in wanted]


def _those(of: Callable[[str], tuple[Named, ...]], protocol: str, lacking: list[CannotRun]) -> tuple[Named, ...]:
    try:
        return of(protocol)
    except CannotRun as error:
        lacking.append(error)
        return ()


def _print(report: LayerReport, missing: str | None) -> None:
    if missing is not None:
        err.print(f"not run: {missing}", style="yellow", markup=False, highlight=False)
        return
    for table in report.details:
        print_table(f"{table.title}: {report.sentence}", table.columns, table.rows)


def _print_findings(findings: list[FindingResult]) -> None:
    rows = [
        (
            str(finding.number),
            finding.title,
            finding.verdict,
            ", ".join(f"{one.trace - 1} steps ({one.violates})" for one in finding.refutations if one.violates),
            ", ".join(finding.claims),
            finding.reason,
        )
        for finding in findings
    ]
    columns = ("no.", "rule of the source document", "suspicion", "counterexamples", "claims", "")
    print_table("Findings", columns, rows)
