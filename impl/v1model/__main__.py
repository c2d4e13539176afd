"""`python -m impl.v1model PROGRAM.json --source`: prints the Python source that a compiled program becomes."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from impl.v1model.program import load
from spec.errors import ScatterproofError


def main(arguments: list[str] | None = None) -> int:
    """The exit code: 0, or that of the error."""
    parser = argparse.ArgumentParser(
        prog="python -m impl.v1model", description="Loads a program compiled by p4c-bm2-ss."
    )
    parser.add_argument("program", type=Path, metavar="PROGRAM.json")
    parser.add_argument("--source", action="store_true", help="print the Python source made from it")
    chosen = parser.parse_args(arguments)
    try:
        program = load(chosen.program)
    except ScatterproofError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    if chosen.source:
        print(program.source, end="")
    else:
        for name, table in sorted(program.tables.items()):
            keys = ", ".join(f"{key.name}: {key.kind}<{key.width}>" for key in table.keys)
            print(f"{name}({keys}) size {table.size}: {', '.join(action.name for action in table.actions)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
