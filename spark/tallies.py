"""What the runs of one file add up to, by clause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from scatterproof.conformance.protocol import load
from scatterproof.conformance.verdict import ClauseResult, Verdict
from scatterproof.spark.judge_part import JudgedRun

VERDICTS = tuple(Verdict)
_GRAVEST = (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.NOT_RUN)
_STANDINGS_KEPT = 1 << 12
_STANDINGS: dict[tuple[str, tuple[str | None, ...], bytes], _Standing] = {}


class Tally(msgspec.Struct):
    """One clause over the runs of one file.

    runs: how many runs gave each verdict of `VERDICTS`.
    held: at how many rows it held.
    broken_in: by run, how many rows break it, where some do.
    reason: the first that a result gives.
    """

    runs: list[int]
    held: int = 0
    broken_in: dict[int, int] = {}
    reason: str = ""


class _Standing(NamedTuple):
    """What a run says of its clauses.

    verdicts: clause, verdict, and why it is neither pass nor fail.
    counted: of shape (checks,), whether it counts how often a check held.
    """

    verdicts: tuple[tuple[str, Verdict, str], ...]
    counted: npt.NDArray[np.bool_]


class Tallies:
    """What the runs of one file add up to."""

    def __init__(self, protocol: str) -> None:
        self._protocol, self._checks = protocol, load(protocol).checks
        self._standings: dict[int, _Standing] = {}  # by `id`
        self._times = Counter[int]()
        self._held = np.zeros(len(self._checks), dtype=np.int64)
        self._broken_in: dict[str, dict[int, int]] = {}

    def add(self, judged: JudgedRun) -> list[ClauseResult]:
        """Count a run, and return the results of clauses that it breaks."""
        network, run = judged.network, judged.span.header.run
        # Runs that lack nothing and break nothing say the same where the same checks apply, and held: to conclude each
        # would take as long as two checks do.
        is_clean = network.shown is None and not judged.told and not (judged.counts * network.around["applies"]).any()
        key = (self._protocol, network.reasons, (judged.held > 0).tobytes())
        standing, failed = _STANDINGS.get(key) if is_clean else None, list[ClauseResult]()
        if standing is None:
            results = judged.results(listed=False)
            standing = self._standing(results)
            failed = [result for result in results if result.broken]
            if is_clean:
                if len(_STANDINGS) == _STANDINGS_KEPT:
                    _STANDINGS.clear()
                _STANDINGS[key] = standing
        self._standings[id(standing)] = standing
        self._times[id(standing)] += 1
        self._held += judged.held[: len(self._held)] * standing.counted
        for result in failed:
            broken_in = self._broken_in.setdefault(result.clause, {})
            broken_in[run] = broken_in.get(run, 0) + result.broken
        return failed

    def by_clause(self) -> dict[str, Tally]:
        tallies: dict[str, Tally] = {}
        for key, standing in self._standings.items():
            for clause, verdict, reason in standing.verdicts:
                if clause not in tallies:
                    tallies[clause] = Tally([0] * len(VERDICTS), broken_in=self._broken_in.get(clause, {}))
                tally = tallies[clause]
                tally.runs[VERDICTS.index(verdict)] += self._times[key]
                tally.reason = tally.reason or reason
        for check, held in zip(self._checks, self._held.tolist(), strict=True):
            if check.clause in tallies:
                tallies[check.clause].held += held
        return tallies

    def _standing(self, results: Sequence[ClauseResult]) -> _Standing:
        of_clause: dict[str, list[ClauseResult]] = {}
        for result in results:
            of_clause.setdefault(result.clause, []).append(result)
        counted = {result.name for result in results if result.held}
        return _Standing(
            # A clause may have several checks, one of which leaves open what another one passes.
            verdicts=tuple(
                (
                    clause,
                    min((result.verdict for result in own), key=_GRAVEST.index),
                    next((result.reason for result in own if result.reason), ""),
                )
                for clause, own in of_clause.items()
            ),
            counted=np.array([check.name in counted for check in self._checks]),
        )
