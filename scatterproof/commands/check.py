"""`scatterproof check`: the models, by TLC and Z3."""

from __future__ import annotations

from typing import Annotated

import typer

from models.claim import ClaimResult
from models.expected import ModelResult, Tier, check_models
from models.finding import FindingResult, decide, findings_of
from models.z3_claims import check_claims
from scatterproof import layers
from scatterproof.console import CANNOT_RUN, OK, VIOLATIONS, Progress, err, print_json, print_table
from scatterproof.layer_report import LayerReport
from scatterproof.options import Json, Protocol, resolve
from spec.errors import CannotRun


def command(
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
    """Model-check the specification (TLC) and prove its claims for any number of nodes (Z3).

    The models of every day check each clause that TLC checks, with a damaged rule that it refutes where there is one.
    At the end stand the findings: rules of the source document, and whether they were confirmed to be wrong.
    """
    chosen = resolve(protocol)
    missing: dict[str, str] = {}
    models: list[ModelResult] = []
    claims: list[ClaimResult] = []
    try:
        with Progress("TLC") as progress:
            for tier in (Tier.DEEP if deep else Tier.FULL if full else Tier.QUICK, *([Tier.RANDOM] if random else [])):
                models += check_models(chosen, tier, on_progress=lambda news: progress(str(news)))
    except CannotRun as error:
        missing["tlc"] = str(error)
    try:
        with Progress("Z3"):
            claims = check_claims(chosen)
    except CannotRun as error:
        missing["z3"] = str(error)
    findings = decide(findings_of(chosen), models, claims)
    if as_json:
        parts = {"models": models, "claims": claims, "findings": findings}
        print_json({"protocol": chosen, **parts, "not_run": missing})
    else:
        _print(layers.summarise_models(models), missing.get("tlc"))
        _print(layers.summarise_claims(chosen, claims), missing.get("z3"))
        _print_findings(findings)
    agrees = all(result.agrees for result in models) and all(result.counts for result in claims)
    raise typer.Exit(VIOLATIONS if not agrees else CANNOT_RUN if missing else OK)


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
