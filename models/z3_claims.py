"""Finds the Z3 claims of a protocol, and runs them.

A module below ``models/<protocol>/`` that has a ``CLAIMS`` tuple contributes its claims; there is no list to keep.
``python -m scatterproof.models.z3_claims PROTOCOL`` prints one line a claim.
"""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from scatterproof.models.claim import (
    Claim,
    ClaimResult,
    ClaimVerdict,
    ObligationResult,
    Rules,
    first_refuted,
    prove,
    prove_under,
)
from scatterproof.models.protocol import load
from scatterproof.spec.errors import BadInput, CannotRun, ScatterproofError
from scatterproof.spec.extras import left_out


def claims_of(protocol: str, *, if_any: bool = False) -> tuple[Claim, ...]:
    """All claims. BadInput for an unknown protocol, CannotRun without Z3, and without claims, unless `if_any`."""
    try:
        claims = load(protocol).claims()
    except ModuleNotFoundError as error:
        raise left_out(error.name or "") or error from error
    if not claims and not if_any:
        raise CannotRun(f"protocol {protocol!r} has no Z3 claims yet; add a module with CLAIMS to models/{protocol}")
    return claims


def claims_in(package: ModuleType) -> tuple[Claim, ...]:
    """The CLAIMS of all modules of the package and of packages in it, by module name, then in the order of the tuple.
    Tests are left out."""
    claims: list[Claim] = []
    for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda found: found.name):
        found = import_module(f"{package.__name__}.{module.name}")
        if module.ispkg and module.name != "tests":
            claims += claims_in(found)
        claims += getattr(found, "CLAIMS", ())
    return tuple(claims)


def check_claims(protocol: str, names: Sequence[str] | None = None) -> list[ClaimResult]:
    """Proves every claim of the protocol, or those of these names, and tries its mutants; the results serialise with
    msgspec as they are."""
    return [prove(claim) for claim in claims_of(protocol) if names is None or claim.name in names]


def refutations(protocol: str, rules: Rules) -> dict[str, ObligationResult]:
    """Which claims fail under these rules (by name, as plain Python functions): claim name to its first failing
    obligation.

    Only normative claims that use one of the rules are asked. An empty answer does not show the rules right or
    equivalent.
    """
    failed: dict[str, ObligationResult] = {}
    for claim in claims_of(protocol):
        if not claim.normative or not rules.keys() & claim.rules.keys():
            continue
        refuted = first_refuted(prove_under(claim, rules))
        if refuted is not None:
            failed[claim.name] = refuted
    return failed


def main(arguments: list[str]) -> int:
    """One line a claim and a mutant; 0 when all claims count, 1 when one does not."""
    if len(arguments) != 1:
        raise BadInput("usage: python -m scatterproof.models.z3_claims PROTOCOL")
    results = check_claims(arguments[0])
    for result in results:
        remark = "" if result.hypotheses_satisfiable else ", hypotheses not shown satisfiable"
        clauses = ", ".join(result.clauses)
        print(
            f"{result.verdict.upper():8} {result.name} ({clauses}) for {result.scope}{remark}, "
            f"{result.milliseconds:.0f} ms"
        )
        for obligation in result.obligations:
            if obligation.verdict is not ClaimVerdict.PROVED or not obligation.satisfiable:
                print(f"    obligation {obligation.name}: {obligation.verdict}, {obligation.counterexample}")
        for mutant in result.mutants:
            print(f"    mutant {mutant.name}: {mutant.verdict} by {mutant.obligation}: {mutant.counterexample}")
    return 0 if all(result.counts for result in results) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except ScatterproofError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
