"""What is known of one clause: how often it was at stake and held, what breaks it, and what time did not decide."""

from __future__ import annotations

from scatterproof.conformance.verdict import ClauseResult, Verdict, Violation

SHOWN = 5  # violations of a clause that are put into words


class ProgramTally:
    def __init__(self, clause: str, name: str) -> None:
        self.held = 0
        self._clause, self._name = clause, name
        self._broken = 0
        self._violations: list[Violation] = []
        self._open: list[str] = []

    def breaks(
        self,
        sentence: str,
        *,
        count: int = 1,
        position: int = -1,
        expected: int = -1,
        found: int = -1,
        witness: int = -1,
    ) -> None:
        """`count` things of this kind break the clause. position, witness: lines of an output file, or -1."""
        self._broken += count
        if len(self._violations) < SHOWN:
            self._violations.append(
                Violation(
                    clause=self._clause,
                    position=position,
                    expected=expected,
                    found=found,
                    witness=witness,
                    sentence=f"{self._clause}: {sentence}",
                )
            )

    def leaves_open(self, reason: str) -> None:
        self._open.append(reason)

    @property
    def is_broken(self) -> bool:
        return self._broken > 0

    def result(self, nothing: str) -> ClauseResult:
        """`nothing`: what to say when the clause was never at stake."""
        reason = ""
        if self._broken:
            verdict = Verdict.FAIL
        elif self._open or not self.held:
            verdict = Verdict.INCONCLUSIVE
            more = f" (and {len(self._open) - 1} more such)" if len(self._open) > 1 else ""
            reason = self._open[0] + more if self._open else nothing
        else:
            verdict = Verdict.PASS
        return ClauseResult(
            clause=self._clause,
            name=self._name,
            verdict=verdict,
            held=self.held,
            violations=tuple(self._violations),
            reason=reason,
            broken=self._broken,
        )
