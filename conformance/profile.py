"""Capability profiles: what an implementation claims. All else is *not applicable*, with the reason.

A profile is a TOML file:

    profile = 1                        # version of this format
    protocol = "..."
    roles = ["host", "switch"]         # the nodes that are the implementation's; others are the reference's
    clauses = ["..."]                  # ids, or patterns with * and ?; all of the protocol when left out
    [unclaimed]                        # clauses that are not claimed though `clauses` names them
    "..." = "the reason"
    [parameters]                       # those that it understands, with their values; all when left out
    name = ["value", 7]
    other = "any"

A case that sets a parameter to a value that is not claimed, or is about a clause that is not, is not given to the
implementation. One that is about a clause of nodes of a role that is not claimed is given to it all the same, as its
nodes may break something else there; but that the reference's nodes keep the clause is not to its credit.
"""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from scatterproof.conformance.case import CaseResult, Claims, cases
from scatterproof.conformance.protocol import Case, load
from scatterproof.conformance.verdict import ClauseResult, Verdict
from scatterproof.spec.core import Parameter
from scatterproof.spec.errors import BadInput
from scatterproof.spec.files import read_bytes
from scatterproof.spec.place import Place
from scatterproof.spec.schedule import FailureKind, Schedule
from scatterproof.spec.topology import Role

VERSION = 1
ANY = "any"
# What a node that begins anew is set to besides, which is in no schedule.
INCARNATION = "incarnation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile(Claims):
    """unclaimed: a reason for each clause that is not claimed.
    parameters: those understood, with their values, None for any; None in place of it all when everything is
        understood.
    """

    name: str
    protocol: str
    roles: frozenset[Role]
    unclaimed: Mapping[str, str]
    parameters: Mapping[str, Sequence[Parameter] | None] | None

    def why_not(self, case: Case) -> str | None:
        """Why the case is not given to the implementation, or None."""
        if case.clause in self.unclaimed:
            return f"{case.clause}: {self.unclaimed[case.clause]}"
        return self.why_not_schedule(case.schedule)

    def why_not_schedule(self, schedule: Schedule) -> str | None:
        """Why the implementation cannot be asked to take part in a run of the schedule, or None."""
        if not any(node.role in self.roles for node in schedule.topology.nodes):
            return f"it has no {' or '.join(sorted(self.roles))}, and {self.name} claims nothing else"
        return self._unclaimed_parameter(schedule)

    def claims(self, clause: str) -> bool:
        return clause not in self.unclaimed

    def foreign(self, clause: str) -> str:
        """Why a run says nothing for the implementation when the clause holds: it binds nodes that are not its own."""
        at = {check.clause: check.at for check in load(self.protocol).checks}.get(clause)
        if at is None or at in self.roles:
            return ""
        return f"{clause} binds each {at}; {self.name} claims none, so that the reference's took part, and kept it"

    def of_claimed(self, results: Sequence[ClauseResult]) -> tuple[ClauseResult, ...]:
        """The results, without the clauses that are not claimed."""
        return tuple(
            _not_applicable(result, self.unclaimed[result.clause]) if result.clause in self.unclaimed else result
            for result in results
        )

    def of_own(self, results: Sequence[ClauseResult]) -> tuple[ClauseResult, ...]:
        """The results, without what the reference's nodes have kept. What was broken is broken, whoever showed it."""
        if not self._others:
            return tuple(results)
        return tuple(
            _not_applicable(result, reason)
            if result.verdict is not Verdict.FAIL and (reason := self.foreign(result.clause))
            else result
            for result in results
        )

    def of_roles(self, found: CaseResult) -> CaseResult:
        """The result, without what the reference's nodes have kept."""
        if not self._others:
            return found
        results, reason = self.of_own(found.results), self.foreign(found.case.clause)
        if found.verdict is Verdict.PASS and reason:
            return replace(found, verdict=Verdict.NOT_APPLICABLE, reason=reason, results=results)
        return replace(found, results=results)

    @property
    def _others(self) -> frozenset[Role]:
        return frozenset(Role) - self.roles

    def _unclaimed_parameter(self, schedule: Schedule) -> str | None:
        if self.parameters is None:
            return None
        for name, value in needed(schedule).items():
            if name not in self.parameters:
                return f"it sets parameter {name} to {value!r}, which {self.name} does not name"
            values = self.parameters[name]
            if values is not None and value not in values:
                claimed = ", ".join(map(str, values))
                return f"it sets parameter {name} to {value!r}; {self.name} claims {claimed or 'no value'}"
        return None


def needed(schedule: Schedule) -> dict[str, Parameter]:
    """What nodes are set to in the schedule's run."""
    again = any(failure.kind is FailureKind.RESTART and failure.node >= 0 for failure in schedule.failures)
    return {**schedule.parameters, INCARNATION: 1} if again else schedule.parameters


def read_profile(path: Path) -> Profile:
    """Read the file; BadInput names it, the key and the mend."""
    place = Place(str(path))
    try:
        table = tomllib.loads(read_bytes(path, "profile").decode())
    except UnicodeDecodeError:
        raise BadInput(f"{path}: not a text file in UTF-8; write a profile in TOML") from None
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: not TOML: {error}; mend that line") from None
    version = table.get("profile", VERSION)  # first: of another version nothing else is known
    if not isinstance(version, int) or isinstance(version, bool):
        place.refuse("'profile' is not a whole number", f"it is the version of this format: write profile = {VERSION}")
    if version != VERSION:
        place.refuse(f"profile is {version}", f"this version reads profile = {VERSION}")
    place.keys(table, "profile protocol", "roles clauses unclaimed parameters")
    protocol = place.string(table, "protocol")
    try:
        known = [check.clause for check in load(protocol).checks]
        parameters = {name for case in cases(protocol) for name in needed(case.schedule)}
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    return Profile(
        name=path.name,
        protocol=protocol,
        roles=_roles(place, table),
        unclaimed=_unclaimed(place, table, known),
        parameters=_parameters(place, table, parameters) if "parameters" in table else None,
    )


def _roles(place: Place, table: Mapping[str, object]) -> frozenset[Role]:
    if "roles" not in table:
        return frozenset(Role)
    roles = frozenset(place.member(Role, word, "role") for word in place.strings(table, "roles"))
    if not roles:
        place.refuse("'roles' names none", f"name one of {', '.join(Role)}, or leave the key out for all")
    return roles


def _unclaimed(place: Place, table: Mapping[str, object], known: Sequence[str]) -> dict[str, str]:
    """A reason for each clause that is not claimed."""
    patterns = place.strings(table, "clauses") if "clauses" in table else ("*",)
    for pattern in patterns:
        _check_pattern(place / "clauses", pattern, known)
    reasons = {
        clause: "the profile does not claim it"
        for clause in known
        if not any(fnmatch.fnmatchcase(clause, pattern) for pattern in patterns)
    }
    for pattern, reason in place.texts(table, "unclaimed").items():
        _check_pattern(place / "unclaimed", pattern, known)
        reasons |= {
            clause: f"the profile does not claim it: {reason}"
            for clause in known
            if fnmatch.fnmatchcase(clause, pattern)
        }
    if len(reasons) == len(set(known)):
        place.refuse("no clause is claimed", "claim one at least")
    return reasons


def _check_pattern(place: Place, pattern: str, known: Sequence[str]) -> None:
    if not any(fnmatch.fnmatchcase(clause, pattern) for clause in known):
        place.refuse(f"no clause is named {pattern!r}", f"take one of {', '.join(known)}, or a pattern with * and ?")


def _parameters(place: Place, table: Mapping[str, object], known: set[str]) -> dict[str, tuple[Parameter, ...] | None]:
    inside = place / "parameters"
    found: dict[str, tuple[Parameter, ...] | None] = {}
    for name, values in place.table(table, "parameters").items():
        if name not in known:
            inside.refuse(f"no case sets {name!r}", f"take some of {', '.join(sorted(known))}")
        if values == ANY:
            found[name] = None
            continue
        if not isinstance(values, list) or not all(isinstance(v, int | str) and v is not True for v in values):
            inside.refuse(f"{name!r} is no list of whole numbers and texts", f'write {name} = [...] or "{ANY}"')
        found[name] = tuple(values)
    return found


def _not_applicable(result: ClauseResult, reason: str) -> ClauseResult:
    return msgspec.structs.replace(
        result, verdict=Verdict.NOT_APPLICABLE, held=0, violations=(), reason=reason, broken=0
    )
