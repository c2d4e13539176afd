"""`python -m scatterproof.conformance.systems [SETUP...]`: run set-ups of real systems, judge them, and print the
table."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scatterproof.conformance.systems.report import page, run_all, table
from scatterproof.conformance.systems.setup import SETUPS
from scatterproof.spec.errors import ScatterproofError
from scatterproof.spec.files import write_atomically

RECORD = Path(__file__).with_name("RESULTS.md")


def main() -> int:
    """The exit code: 0 when all did what they were meant to, 1 when one did not, 2 for wrong usage, 3 for not run."""
    parser = argparse.ArgumentParser(prog="python -m scatterproof.conformance.systems", description=__doc__)
    known = {setup.name: setup for setup in SETUPS}
    parser.add_argument("setups", metavar="SETUP", nargs="*", help=f"one of {', '.join(known)}; all when left out")
    parser.add_argument("--results", type=Path, default=Path("results/systems"), help="where logs are kept")
    parser.add_argument("--record", action="store_true", help=f"write the table to {RECORD.name}, too")
    given = parser.parse_args()
    strangers = [name for name in given.setups if name not in known]
    if strangers:
        parser.error(f"set-up {strangers[0]!r} is unknown; choose of {', '.join(known)}")
    try:
        outcomes = run_all(
            [known[name] for name in given.setups] or SETUPS, given.results, lambda text: print(text, file=sys.stderr)
        )
        if given.record:
            write_atomically(RECORD, page(outcomes).encode())
    except ScatterproofError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(table(outcomes), end="")
    if any(not outcome.as_meant for outcome in outcomes if not outcome.not_run):
        return 1
    return 3 if any(outcome.not_run for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
