"""Which results count against an implementation: all failures but the known ones, and those of clauses that only SHOULD
be kept.

Known failures are a file with a case id a line, blank lines and # comments left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scatterproof.conformance.case import CaseResult, cases
from scatterproof.conformance.verdict import Verdict
from scatterproof.spec import clauses
from scatterproof.spec.clauses import Level
from scatterproof.spec.errors import BadInput
from scatterproof.spec.files import read_bytes


@dataclass(frozen=True, slots=True)
class Baseline:
    """cases: the ids of those that are known to fail.
    advised: clauses that do not count when they are broken.
    """

    cases: tuple[str, ...] = ()
    advised: frozenset[str] = frozenset()

    def unexpected(self, results: Sequence[CaseResult]) -> list[str]:
        """One sentence for each case that fails and is not known to, or that is known to fail and passes. An
        inconclusive run counts as a failure: an implementation that does nothing must not pass."""
        sentences = []
        for result in results:
            known = result.case.id in self.cases
            if self.counts(result) and not known:
                sentences.append(f"{result.case.id}: {result.verdict}, and not in the baseline")
            elif known and result.verdict is Verdict.PASS:
                sentences.append(f"{result.case.id}: passes, though the baseline says that it fails; take it out")
        return sentences

    def violated(self, results: Sequence[CaseResult]) -> bool:
        """Whether an unexpected result is certain: a run that breaks a clause, or a known failure that passes."""
        certain = (result for result in results if result.verdict is not Verdict.INCONCLUSIVE)
        return bool(self.unexpected(list(certain)))

    def counts(self, result: CaseResult) -> bool:
        """Whether the result is a failure, known or not."""
        return _failed(result) and not self.is_advice(result)

    def is_advice(self, result: CaseResult) -> bool:
        """Whether the result is a failure that does not count: it breaks only clauses that SHOULD be kept."""
        return _failed(result) and bool(result.blamed) and self.advised.issuperset(result.blamed)


def advised(protocol: str) -> frozenset[str]:
    """The clauses that only SHOULD be kept."""
    return frozenset(clause.id for clause in clauses.load(protocol).clauses if clause.level is Level.SHOULD)


def read_baseline(path: Path, protocol: str) -> tuple[str, ...]:
    """The ids of the cases that the file names. Raises BadInput, which names the line, for one that is no case."""
    known = {case.id for case in cases(protocol)}
    found: list[str] = []
    try:
        text = read_bytes(path, "baseline").decode()
    except UnicodeDecodeError:
        raise BadInput(f"{path}: not a text file in UTF-8; write one case id a line") from None
    for number, line in enumerate(text.splitlines(), 1):
        case = line.partition("#")[0].strip().removeprefix(f"{protocol}/")
        if not case:
            continue
        if case not in known:
            raise BadInput(f"{path}: line {number}: no case is named {case!r}; `conform --list` shows them")
        found.append(case)
    return tuple(found)


def _failed(result: CaseResult) -> bool:
    return result.verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE)
