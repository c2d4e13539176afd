"""A conformance run on the terminal: a line for each case, then every violation in words, then a line for each reason
why cases were not applicable."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.table import Table
from rich.text import Text

from scatterproof.conformance.report.run import ConformanceRun, broken, printable, rows_of
from scatterproof.conformance.verdict import Verdict

STYLES = {
    Verdict.PASS: "green",
    Verdict.FAIL: "bold red",
    Verdict.INCONCLUSIVE: "yellow",
    Verdict.NOT_RUN: "yellow",
    Verdict.NOT_APPLICABLE: "dim",
}


def show(run: ConformanceRun, console: Console) -> None:
    """Print the table of cases, the violations of those that fail, and the run in one line."""
    table = Table(title=_text(f"Conformance of {run.iut}"), title_justify="left", header_style="bold")
    for column in ("case", "verdict", "rows", "why"):
        table.add_column(column, overflow="fold")
    for result in run.results:
        if result.verdict is Verdict.NOT_APPLICABLE and result.trace is None:
            continue
        rows = "" if result.trace is None else str(len(result.trace.rows))
        verdict = _text(result.verdict, style=STYLES[result.verdict])
        table.add_row(_text(result.case.id), verdict, _text(rows), _text(result.reason))
    console.print(table)
    for result in run.results:
        for clause in broken(result):
            said = f"{result.case.id} breaks {clause.clause} in {rows_of(clause.broken)}"
            console.print(_text(said, style="bold red"))
            console.print(_text(f"  when {result.case.stimulus}, it {result.case.duty}"))
            for violation in clause.violations:
                console.print(_text(f"  {violation.sentence}"))
            if clause.broken > len(clause.violations):
                console.print(_text(f"  and {rows_of(clause.broken - len(clause.violations))} more"))
    untried = (result for result in run.results if result.verdict is Verdict.NOT_APPLICABLE and result.trace is None)
    for reason, count in Counter(result.reason for result in untried).most_common():
        cases = "1 case" if count == 1 else f"{count} cases"
        console.print(_text(f"not applicable, {cases}: {reason}", style=STYLES[Verdict.NOT_APPLICABLE]))
    console.print(_text(run.sentence, style=STYLES[run.verdict]))


def _text(said: str, style: str = "") -> Text:
    """Text, not markup, and nothing that a terminal would obey: an implementation's words may be in it."""
    return Text(printable(said), style=style)
