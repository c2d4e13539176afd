"""Looks for damaged traces that tell judge mutants, and keeps them: see `scatterproof.fuzz.damage_search`.

.venv/bin/python ci/damage_search.py workqueue --seconds 900 --seed 6 --sample 700 --hold-out 300
"""

from __future__ import annotations

import argparse
import gc
import time

from scatterproof.fuzz.damage_search import DamageSearch
from scatterproof.fuzz.damages import write_kept
from scatterproof.fuzz.judging import JudgeBench
from scatterproof.fuzz.trying import sampled
from scatterproof.spec.clauses import protocols

_LONGEST_CASE = 60  # rows; longer runs of cases tell few mutants, and take long


def main() -> None:
    parser = argparse.ArgumentParser(description="Look for damaged traces that tell judge mutants.")
    parser.add_argument("protocol", choices=sorted(protocols()))
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=None, help="how many mutants are tried; all when left out")
    parser.add_argument("--hold-out", type=int, default=0, help="how many are left to measure with, and never tried")
    parser.add_argument("--hold-out-seed", type=int, default=77, help="that of `core-mutants --judges`")
    given = parser.parse_args()
    until = time.monotonic() + given.seconds
    bench = JudgeBench(given.protocol, 0, longest=_LONGEST_CASE)
    every = list(bench.mutants.values())
    held = {mutant.name for mutant in sampled(every, given.hold_out, given.hold_out_seed)}
    search = DamageSearch(bench, given.seed, lambda title: print(f"checks and oracles part: {title}", flush=True))
    gc.freeze()  # the forks would copy what the collector touches
    search.try_first(sampled([mutant for mutant in every if mutant.name not in held], given.sample, given.seed))
    print(f"{len(search.alive)} are alive at first", flush=True)
    while search.alive and time.monotonic() < until:
        for found in search.search(until):
            print(found, flush=True)
            write_kept(given.protocol, search.kept)


if __name__ == "__main__":
    main()
