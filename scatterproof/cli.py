"""The entry of the console command: Ctrl-C ends it without a traceback even while it is being imported."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command that the user has typed."""
    try:
        from scatterproof.app import app

        app()
    except KeyboardInterrupt:
        sys.stderr.write("scatterproof: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
