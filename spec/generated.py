"""The command of a file that is made from others and kept with them: `python -m ...` writes it; with `--check` it
writes nothing, and exits with 1 when the file is stale."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from scatterproof.spec.errors import ScatterproofError
from scatterproof.spec.files import write_atomically


def command(prog: str, target: Path, make: Callable[[], str], arguments: Sequence[str] | None) -> int:
    """Write what is made, whole or not at all, or compare it; the exit code. prog: what people type."""
    import argparse  # nodes of runs import what calls this, and call it never

    parser = argparse.ArgumentParser(prog=prog, description=f"Write {target.name}.")
    parser.add_argument("--check", action="store_true", help=f"write nothing; exit with 1 when {target.name} is stale")
    try:
        check, made = parser.parse_args(arguments).check, make().encode()
        if not check:
            write_atomically(target, made)
            print(f"wrote {target}")
        elif not target.is_file() or target.read_bytes() != made:
            print(f"{target} is stale: run `{prog}` and commit the result.", file=sys.stderr)
            return 1
    except ScatterproofError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0
