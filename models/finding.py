"""Findings: what the source document says, what becomes of it, and what takes its place.

``spec/<protocol>/findings.toml`` lists them, each with the TLC models and Z3 claims that decide it. A finding stands as
long as those come out as expected; nothing here repeats their results.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import msgspec

from scatterproof.models.claim import ClaimResult
from scatterproof.models.expected import SPEC_FOLDER, ModelResult
from scatterproof.spec.errors import BadInput


class Suspicion(StrEnum):
    """What became of the suspicion that the rule is wrong."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"


class Finding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """rule: as the document has it, in our words.
    source: where.
    happens: what comes of it.
    corrected: the rule that takes its place.
    weakest: why no weaker one was found.
    models, claims: by name, what decides the finding.
    mutant: the literal rule in the reference core, which then breaks clause `shows` in a run with these `parameters`;
        `unplayed` says why there is none.
    """

    number: int
    name: str
    title: str
    suspicion: Suspicion
    expected: bool
    clauses: tuple[str, ...]
    rule: str
    source: str
    happens: str
    corrected: str
    weakest: str
    models: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    mutant: str = ""
    shows: str = ""
    parameters: dict[str, int | str] = {}
    unplayed: str = ""


class Refutation(msgspec.Struct, frozen=True, kw_only=True):
    """One model of a finding: the property violated, the states of the counterexample, whether none is shorter."""

    model: str
    violates: str | None
    trace: int
    shortest: bool
    agrees: bool


class FindingResult(msgspec.Struct, frozen=True, kw_only=True):
    """verdict: confirmed or refuted; open where a model or claim did not come out as expected, or none was run.
    reason: which, and what was not run, as models of other tiers are not.
    """

    number: int
    name: str
    title: str
    verdict: str
    clauses: tuple[str, ...]
    refutations: tuple[Refutation, ...]
    claims: tuple[str, ...]
    reason: str = ""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    finding: list[Finding]


def findings_of(protocol: str, spec_folder: Path = SPEC_FOLDER) -> tuple[Finding, ...]:
    """The findings of a protocol in their order; none where it has no file. BadInput for a malformed one."""
    path = spec_folder / protocol / "findings.toml"
    if not path.is_file():
        return ()
    try:
        found = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _File).finding
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: not TOML: {error}") from None
    except msgspec.ValidationError as error:
        raise BadInput(f"{path}: {error}; see the fields of Finding in models/finding.py") from None
    for place, finding in enumerate(found, start=1):
        if finding.number != place:
            raise BadInput(f"{path}: finding {finding.name} has number {finding.number}; number them in their order")
        if not finding.models and not finding.claims:
            raise BadInput(f"{path}: finding {finding.name} names no model and no claim that decides it")
        if bool(finding.mutant) == bool(finding.unplayed):
            raise BadInput(f"{path}: finding {finding.name} needs either `mutant` or `unplayed`")
    return tuple(found)


def decide(
    findings: Sequence[Finding], models: Sequence[ModelResult], claims: Sequence[ClaimResult]
) -> list[FindingResult]:
    """What the models and claims that ran say of each finding; those that did not run are named."""
    model_results = {result.name: result for result in models}
    claim_results = {result.name: result for result in claims}
    return [_decided(finding, model_results, claim_results) for finding in findings]


def _decided(finding: Finding, models: dict[str, ModelResult], claims: dict[str, ClaimResult]) -> FindingResult:
    missing = [name for name in finding.models if name not in models]
    missing += [name for name in finding.claims if name not in claims]
    apart = [name for name in finding.models if name in models and not models[name].agrees]
    apart += [name for name in finding.claims if name in claims and not claims[name].counts]
    ran = len(missing) < len(finding.models) + len(finding.claims)
    told = (("not as expected", apart), ("not run", missing))
    return FindingResult(
        number=finding.number,
        name=finding.name,
        title=finding.title,
        verdict=finding.suspicion.value if ran and not apart else "open",
        clauses=finding.clauses,
        refutations=tuple(
            Refutation(
                model=name,
                violates=models[name].seen.violates,
                trace=models[name].seen.trace,
                shortest=models[name].seen.shortest,
                agrees=models[name].agrees,
            )
            for name in finding.models
            if name in models
        ),
        claims=finding.claims,
        reason="; ".join(f"{what}: {', '.join(names)}" for what, names in told if names),
    )
