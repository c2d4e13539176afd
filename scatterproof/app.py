"""The console's commands by name. A command's module is imported when it is called: whoever asks for help or for a list
does not wait for compilers, solvers and Spark. Here errors become sentences and exit codes.

A protocol may bring groups of commands of its own: `commands/<protocol>/commands.toml` names each group, with its
module in that folder, whose `app` is the group, and the sentence that the list shows.
"""

from __future__ import annotations

import os
import sys
import tomllib
from functools import cache
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from scatterproof.console import err, out
from scatterproof.spec.errors import ScatterproofError

INTERRUPTED, READER_LEFT = 130, 141  # as in shells: 128 plus the number of SIGINT, and of SIGPIPE
SETTINGS = {"help_option_names": ["-h", "--help"]}
# Each with the first sentence of its help, and in the order of the list.
COMMANDS = {
    "verify": "Run everything: models, proofs, cases over three transports, fuzzing, mutants, mining. The main job.",
    "doctor": "Show which tools are found, and which layers can run on this machine.",
    "protocols": "Show what each protocol gives to each package, and what it leaves out.",
    "clauses": "List the clauses of a protocol, and which layers check each now.",
    "check": "Model-check the specification (TLC) and prove its claims, each for the scope that it names (Z3).",
    "conform": "Give the conformance cases to an implementation, or run a program under stress, and judge what it"
    " does.",
    "compare": "Compare conformance runs: a table of clauses against implementations, and a page with their cases and"
    " failures.",
    "race": "Run several programs under the same schedules, one after the other, and compare speed and verdicts.",
    "track-record": "Play the known mistakes of systems that others made: the bad side of each breaks a clause, the"
    " good one keeps it.",
    "bisect": "Find the releases of a system between which the verdict on a known mistake changes: where it began, and"
    " where it was mended.",
    "fuzz": "Run random schedules; each failure is shrunk, and saved as a schedule that `replay` plays again.",
    "core-mutants": "Change the reference cores in one place, thousands of times, and count what tells: the rate, area"
    " by area.",
    "replay": "Replay a schedule, or a run of a corpus, against an implementation, and judge the trace that it leaves.",
    "explore": "Step forwards and backwards through a run: what each node has and knows, and what breaks a clause.",
    "validate": "Let TLC accept recorded traces step by step, or say at which row each is no behaviour of the"
    " specification.",
    "histories": "Say of histories of calls whether some order explains each (linearisability), by trying every order.",
    "export": "Write recorded traces as histories that other judges read: Jepsen's EDN, Porcupine's JSON.",
    "corpus": "Simulate many runs for `mine`: every kind that the protocol has in turn, each of its own random"
    " configuration.",
    "import": "Bring recorded traces into the layout that `mine` reads. What cannot be read is kept in quarantine.",
    "mine": "Judge every run of a corpus by every clause; violations and a report are kept in the corpus's folder"
    " `mined`.",
}


def command_group(text: str) -> typer.Typer:
    """A group of commands with this text as its help."""
    return typer.Typer(
        no_args_is_help=True, add_completion=False, rich_markup_mode="rich", context_settings=SETTINGS, help=text
    )


@cache
def groups() -> dict[str, tuple[str, str]]:
    """The groups that protocols bring: by name, the module and the sentence."""
    found = {}
    for file in sorted(Path(__file__).parent.glob("commands/*/commands.toml")):
        for name, told in tomllib.loads(file.read_text(encoding="utf-8")).items():
            found[name] = (f"scatterproof.commands.{file.parent.name}.{told['module']}", told["says"])
    return found


def whole(name: str) -> TyperCommand | TyperGroup:
    """The command with its options; its module is imported."""
    if name in groups():
        group = typer.main.get_command(import_module(groups()[name][0]).app)
        assert isinstance(group, TyperGroup)
        return group
    module = import_module(f"scatterproof.commands.{'import_' if name == 'import' else name.replace('-', '_')}")
    alone = typer.Typer(add_completion=False, rich_markup_mode="rich", context_settings=SETTINGS)
    # Within a paragraph the terminal breaks the lines: those of the source are longer than many terminals.
    said = cleandoc(module.command.__doc__ or "").split("\n\n")
    flowing = (part if "\n " in f"\n{part}" else part.replace("\n", " ") for part in said)
    alone.command(name=name, help="\n\n".join(flowing))(module.command)
    command = typer.main.get_command(alone)
    assert isinstance(command, TyperCommand)
    return command


class _Late(TyperCommand):
    """A command as the list shows it; the whole one takes its place when it is called."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        assert self.name is not None
        return whole(self.name).make_context(info_name, args, parent, **extra)


class _Commands(TyperGroup):
    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, sentence in (COMMANDS | {name: says for name, (_, says) in groups().items()}).items():
            self.add_command(_Late(name, help=sentence))

    def invoke(self, ctx: Any) -> Any:
        # Here, as typer would end some of these itself: without a word, or with the exit code of violations.
        try:
            return self._invoke(ctx)
        except ScatterproofError as error:
            err.print(f"scatterproof: {error}", style="bold red", markup=False, highlight=False, soft_wrap=True)
            raise typer.Exit(error.exit_code) from None
        except BrokenPipeError:
            # The reader of our output (`head`, a pager) has left; there is nobody to tell.
            for stream in (sys.stdout, sys.stderr):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            raise typer.Exit(READER_LEFT) from None
        except KeyboardInterrupt:
            err.print("scatterproof: interrupted; what was written is whole", highlight=False)
            raise typer.Exit(INTERRUPTED) from None

    def _invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except ImportError as error:
            from scatterproof.spec.plugins import lacking  # late, as the commands are

            raise lacking(error) or error from None


app = typer.Typer(
    name="scatterproof",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings=SETTINGS,
    help="Checks ordered messaging: model-check the specification, judge an implementation in any language, fuzz it,"
    " and mine its traces.\n\nStart with [bold]scatterproof doctor[/bold] to see what can run here, and"
    " [bold]scatterproof verify[/bold] to run everything.\n\nExit codes: 0 all that ran holds; 1 violations; 2 wrong"
    " usage or bad input; 3 could not run; 4 nothing is broken, and something is inconclusive; 130 interrupted.",
)


def _tell_version(asked: bool) -> None:
    if asked:
        from importlib import metadata  # it brings the modules of e-mail with it

        out.print(f"scatterproof {metadata.version('scatterproof')}", highlight=False)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options of all commands; the help is that of `app`."""
