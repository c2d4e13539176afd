"""The console command: one module a command, and one place where errors become sentences and exit codes."""

from __future__ import annotations

import sys

import typer

from scatterproof.commands import (
    check,
    clauses,
    compare,
    conform,
    corpus,
    doctor,
    explore,
    fuzz,
    import_,
    mine,
    race,
    replay,
    validate,
    verify,
)
from scatterproof.console import err
from spec.errors import ScatterproofError

app = typer.Typer(
    name="scatterproof",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Checks ordered messaging: model-check the specification, judge an implementation in any language, fuzz it,"
    " and mine its traces.\n\nStart with [bold]scatterproof doctor[/bold] to see what can run here, and"
    " [bold]scatterproof verify[/bold] to run everything.\n\nExit codes: 0 all that ran holds; 1 violations; 2 wrong"
    " usage or bad input; 3 could not run.",
)
for module in (
    verify,
    doctor,
    clauses,
    check,
    conform,
    compare,
    race,
    fuzz,
    replay,
    explore,
    validate,
    corpus,
    import_,
    mine,
):
    app.command(name=module.__name__.rpartition(".")[2].rstrip("_"))(module.command)


def main() -> None:
    """Run the command; a user sees a sentence, never a traceback."""
    try:
        app()
    except ScatterproofError as error:
        err.print(f"scatterproof: {error}", style="bold red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of our output (`head`, a pager) has left; there is nobody to tell.
        sys.stderr.close()
        sys.exit(141)
    except KeyboardInterrupt:
        err.print("scatterproof: interrupted; what was written is whole")
        sys.exit(130)


if __name__ == "__main__":
    main()
