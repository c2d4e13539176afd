"""Known failures of an implementation: a file with a case id a line, blank lines and # comments left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.case import CaseResult, cases
from conformance.verdict import Verdict
from spec.errors import BadInput
from spec.files import read_bytes


@dataclass(frozen=True, slots=True)
class Baseline:
    cases: tuple[str, ...] = ()

    def unexpected(self, results: Sequence[CaseResult]) -> list[str]:
        """One sentence a case that fails and is not known to, or is known to and passes. A run that shows nothing
        (inconclusive) counts as a failure: an implementation that does nothing must not pass."""
        sentences = []
        for result in results:
            fails = result.verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE)
            known = result.case.id in self.cases
            if fails and not known:
                sentences.append(f"{result.case.id}: {result.verdict}, and not in the baseline")
            elif known and result.verdict is Verdict.PASS:
                sentences.append(f"{result.case.id}: passes, though the baseline says that it fails; take it out")
        return sentences


def read_baseline(path: Path, protocol: str) -> Baseline:
    """Read the file; BadInput names the line that is no case."""
    known = {case.id for case in cases(protocol)}
    found: list[str] = []
    try:
        text = read_bytes(path, "baseline").decode()
    except UnicodeDecodeError:
        raise BadInput(f"{path}: not a text file in UTF-8; write one case id a line") from None
    for number, line in enumerate(text.splitlines(), 1):
        case = line.partition("#")[0].strip()
        if not case:
            continue
        if case not in known:
            raise BadInput(f"{path}: line {number}: no case is named {case!r}; `conform --list` shows them")
        found.append(case)
    return Baseline(tuple(found))
