"""Looks for damaged traces that tell judge mutants, and keeps them: see `scatterproof.fuzz.damage_search`.

.venv/bin/python ci/damage_search.py workqueue --seconds 600 --seed 6 --sample 700
"""

from __future__ import annotations

import argparse
import gc
import os
import time
from collections.abc import Sequence
from contextlib import closing
from functools import partial

from scatterproof.fuzz.core_mutants import CoreMutant
from scatterproof.fuzz.damage_search import DamageSearch
from scatterproof.fuzz.damages import write_kept
from scatterproof.fuzz.judging import JudgeBench
from scatterproof.fuzz.trying import Tried, sampled
from scatterproof.jobs import JobQueue, as_done
from scatterproof.spec.clauses import protocols
from scatterproof.spec.errors import ScatterproofError

_LONGEST_CASE = 60  # rows; longer runs of cases tell few mutants, and take long


def _try_all(bench: JudgeBench, mutants: Sequence[CoreMutant]) -> list[Tried]:
    gc.collect()
    gc.freeze()  # the forks would copy what the collector touches
    results: list[Tried] = []
    queue = JobQueue(range(len(mutants)), os.cpu_count() or 1)
    with closing(as_done(lambda number: bench.try_mutant(mutants[number]), [queue])) as found:
        for _, one in found:
            if isinstance(one, ScatterproofError):
                raise one
            results.append(one)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description="Look for damaged traces that tell judge mutants.")
    parser.add_argument("protocol", choices=sorted(protocols()))
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=None, help="how many mutants are tried; all when left out")
    given = parser.parse_args()
    until = time.monotonic() + given.seconds
    bench = JudgeBench(given.protocol, 0, longest=_LONGEST_CASE)
    search = DamageSearch(bench, given.seed, partial(_try_all, bench))
    search.try_first(sampled(list(bench.mutants.values()), given.sample, given.seed))
    print(f"{len(search.alive)} are alive at first", flush=True)
    while time.monotonic() < until:
        print(search.search(min(20.0, max(1.0, until - time.monotonic()))), flush=True)
        write_kept(given.protocol, search.kept)
    for title in search.parted:
        print(f"checks and oracles part: {title}")


if __name__ == "__main__":
    main()
