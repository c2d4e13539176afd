"""The one command line of products: start them, drive them at random, and judge each by what its documentation
promises. What is not installed is not run. With `--quiet` runs keep clear of the mistakes that are known: what breaks
then is new, or a false alarm."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.verdict import ClauseResult, Verdict
from scatterproof.spec import trace_ndjson
from scatterproof.spec.errors import ScatterproofError


def run(program: str, products: Sequence[Product], words: Sequence[str] | None = None) -> int:
    """The exit code: 0 when nothing is broken, 1 when something is, 2 for wrong usage, 3 when a product was not run.
    program: what the command is called."""
    parser = argparse.ArgumentParser(prog=program)
    known = {product.name: product for product in products}
    listed = "; ".join(f"{product.name}: {product.text}" for product in products)
    parser.add_argument("products", metavar="PRODUCT", nargs="*", help=f"all when left out. {listed}")
    parser.add_argument("--runs", type=int, default=10, help="how many, 10 when left out")
    parser.add_argument("--seed", type=int, default=0, help="of the first run; each next one has the next")
    parser.add_argument("--quiet", action="store_true", help="keep clear of the mistakes that are known of a product")
    parser.add_argument(
        "--small", action="store_true", help="leave steps out of the first run that breaks a clause, while it does"
    )
    parser.add_argument("--results", type=Path, default=Path("results/products"), help="where traces are kept")
    given = parser.parse_args(words)
    strangers = [name for name in given.products if name not in known]
    if strangers:
        parser.error(f"product {strangers[0]!r} is unknown; choose of {', '.join(known)}")
    broken = missing = 0
    for product in [known[name] for name in given.products] or products:
        reason = product.why_not()
        if reason is not None:
            missing += 1
            print(f"{product.name}: not run: {reason}", file=sys.stderr)
            continue
        try:
            failed = _run(
                product,
                range(given.seed, given.seed + given.runs),
                given.results / product.name,
                quiet=given.quiet,
                small=given.small,
            )
        except ScatterproofError as error:
            print(f"{product.name}: {error}", file=sys.stderr)
            return error.exit_code
        broken += failed
        print(f"{product.name}: {failed} of {given.runs} runs break a clause that the profile claims")
    return 1 if broken else 3 if missing else 0


def judged_runs(
    product: Product, seeds: Iterable[int], folder: Path, *, quiet: bool
) -> Iterator[tuple[int, Play, list[ClauseResult]]]:
    """For each seed: it, what plays more runs at the same server, and the results. Traces are kept in the folder."""
    with product.served(folder) as play:
        for seed in seeds:
            trace = play(f"run-{seed}", product.steps(seed, quiet), seed)
            trace_ndjson.write(folder / f"run-{seed}.ndjson", trace)
            yield seed, play, product.judged(trace)


def was_at_stake(result: ClauseResult) -> bool:
    """Whether the run says anything of the clause."""
    return result.held + result.broken > 0


def _run(product: Product, seeds: Sequence[int], folder: Path, *, quiet: bool, small: bool) -> int:
    """How many of the runs break something."""
    broken, stakes = 0, Counter[str]()
    told = set[str]()
    for seed, play, results in judged_runs(product, seeds, folder, quiet=quiet):
        failed = [result for result in results if result.verdict is Verdict.FAIL]
        stakes.update({result.clause: int(was_at_stake(result)) for result in results})
        broken += bool(failed)
        for result in failed:
            print(f"{product.name}: run {seed}: {result.violations[0].sentence}")
            if small and result.clause not in told:
                told.add(result.clause)
                left = smaller(product, play, product.steps(seed, quiet), seed, result.clause)
                for line in product.vocabulary.words(left):
                    print(f"{product.name}: {result.clause}: {line}")
    print(f"{product.name}: at stake: {', '.join(f'{clause} in {runs}' for clause, runs in stakes.items())}")
    return broken


def smaller(product: Product, play: Play, steps: Sequence[Any], seed: int, clause: str) -> list[Any]:
    """The steps that are left when none of them can be left out without the clause being kept, or undecided. Each try
    is a run of its own."""
    left, size, tries = list(steps), max(1, len(steps) // 2), count(1)

    def breaks(some: Sequence[Any]) -> bool:
        trace = play(f"small-{seed}-{clause.lower()}-{next(tries)}", some, seed)
        return any(one.clause == clause and one.verdict is Verdict.FAIL for one in product.judged(trace))

    while size:
        before = len(left)
        for at in range(len(left) - size, -1, -size):
            rest = left[:at] + left[at + size :]
            left = rest if breaks(rest) else left
        size = size if size == 1 and len(left) < before else size // 2
    return left
