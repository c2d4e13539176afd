"""What the user sees: results on stdout, progress on stderr (a live line on a terminal, plain lines elsewhere)."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table

OK, VIOLATIONS, BAD_INPUT, CANNOT_RUN = 0, 1, 2, 3
INCONCLUSIVE = 4  # nothing is broken, and not everything could be judged


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # rich would end with 1, which says here that a clause is broken


# Off a terminal rich would fold tables at 80 columns; logs are wider than that.
_WIDTH = None if sys.stdout.isatty() else 140
out = _Console(width=_WIDTH, soft_wrap=False)
err = _Console(stderr=True, width=None if sys.stderr.isatty() else 140)

STYLES = {
    "pass": "green",
    "as expected": "green",
    "as recorded": "green",
    "proved": "green",
    "killed": "green",
    "fail": "bold red",
    "not as recorded": "bold red",
    "open": "bold red",
    "inconclusive": "yellow",
    "not run": "yellow",
    "not yet": "dim",
    "not applicable": "dim",
    "equivalent": "cyan",
}


class Progress:
    """Says what is going on. On a terminal one line is rewritten; elsewhere a line is written at the start and the
    end, and at most every ten seconds between, so that a log shows life without being flooded. Where
    Ctrl-C stops it, it says what was under way."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._live = err.is_terminal and not os.environ.get("CI")
        self._status = err.status(title) if self._live else None
        self._last = 0.0
        self._text = ""
        self._started = time.monotonic()

    def __enter__(self) -> Progress:
        if self._status is not None:
            self._status.start()
        else:
            err.print(f"{self._title} ...", highlight=False)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._status is not None:
            self._status.stop()
        spent = f"{time.monotonic() - self._started:.1f} s"
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            place = f" at {self._text}" if self._text else ""
            err.print(f"{self._title}: stopped{place}, after {spent}", highlight=False, markup=False)
        else:
            err.print(f"{self._title}: {spent}", highlight=False)

    def __call__(self, text: str) -> None:
        """The latest news; may be called often. Ctrl-C shows the last."""
        self._text = text
        if self._status is not None:
            self._status.update(f"{self._title}: {text}")
        elif time.monotonic() - self._last > 10:
            self._last = time.monotonic()
            err.print(f"  {text}", highlight=False, markup=False)


def print_json(value: Any) -> None:
    """One JSON document on stdout, and nothing else there."""
    sys.stdout.write(json.dumps(msgspec.to_builtins(value, enc_hook=_plain), indent=1) + "\n")
    sys.stdout.flush()  # here, where a reader that has left is noticed


def _plain(value: Any) -> Any:
    """Dataclasses with slots, paths and sets, which msgspec leaves to us."""
    if isinstance(value, set | frozenset):
        return sorted(value)
    return str(value)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table in which words of verdict have their colours."""
    table = Table(title=title, title_justify="left", header_style="bold", show_lines=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
    out.print(table)


def _cell(value: object) -> str:
    text = str(value).replace("[", "\\[")
    style = STYLES.get(str(value).split(" (")[0])
    return f"[{style}]{text}[/{style}]" if style else text
