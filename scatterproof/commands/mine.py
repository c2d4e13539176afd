"""`scatterproof mine`: the compiled checks over a corpus, in Spark tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import pyarrow.parquet as pq
import typer
from rich.console import Console

from scatterproof.conformance.verdict import Verdict
from scatterproof.console import BAD_INPUT, INCONCLUSIVE, OK, VIOLATIONS, Progress, err, out, print_json, print_table
from scatterproof.options import MASTERS, PLACE, Json, Protocol, resolve
from scatterproof.spark.coverage import CoveragePart
from scatterproof.spark.judge_part import MOST_KEPT
from scatterproof.spark.layout import is_corpus
from scatterproof.spark.mapping import Mapping, no_mapping, read_mapping
from scatterproof.spark.mine import mine
from scatterproof.spark.mined import MineResult
from scatterproof.spark.recall import Recall, recall
from scatterproof.spark.report import NOT_MEASURED
from scatterproof.spark.violations import read_violations
from scatterproof.spec.errors import BadInput
from scatterproof.spec.storage import Remote, opened, place_of

if TYPE_CHECKING:  # it loads Spark
    from scatterproof.spark.follow import Batch

SHOWN = 20


def command(
    corpus: Annotated[
        Path,
        typer.Argument(
            help=f"{PLACE} that `corpus` or `import` has written; or a folder of Parquet files in any layout."
        ),
    ],
    mapping: Annotated[
        Path | None,
        typer.Option("--mapping", help="TOML file for files in a layout of your own; they are sorted first."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Judge all files, those too that are known and have not changed.")
    ] = False,
    following: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="Go on with what comes into CORPUS/events and CORPUS/runs, until SIGINT or SIGTERM. Write a file under"
            " a name that begins with a dot, and move it to its own when it is whole. It counts when both files of its"
            " name are there; one that is not sound is left out, and looked at again when it changes. A file that is"
            " replaced is judged again when the next new one comes.",
        ),
    ] = False,
    until_idle_s: Annotated[
        float | None,
        typer.Option("--until-idle", min=0, help="With --follow: end when nothing has come for this many seconds."),
    ] = None,
    protocol: Protocol = None,
    master: Annotated[
        str | None,
        typer.Option("--master", help=f"Judge on Spark, few rows too: {MASTERS} (spark/README.md)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Judge every run of a corpus by every clause; violations and a report are kept in the corpus's folder `mined`.

    A corpus of few rows is judged in this process, a larger one on Spark; the result is the same. Files that were
    judged before are known there, and not judged again unless they or the checks have changed. One that is not sound is
    left out, and named with run and row. When it is killed, the same command goes on with the files that are left.
    Exit code 1 when a clause is broken, else 2 when a file was left out.
    """
    if until_idle_s is not None and not following:
        raise BadInput("--until-idle says when --follow ends; give both")
    corpus = place_of(corpus)
    if following:
        if mapping is not None or again:
            raise BadInput("--follow takes files as `corpus` and `import` write them; leave --mapping and --again out")
        result = _follow(corpus, master, until_idle_s, as_json)
    else:
        result = _mine(corpus, master, _own_layout(corpus, mapping, protocol), again)
    if protocol is not None and resolve(protocol) != result.protocol:
        raise BadInput(f"{corpus}: holds traces of {result.protocol}, not of {protocol}; leave --protocol out")
    told = recall(place_of(result.path), (read_violations([path]) for path in result.results()))
    if as_json:
        print_json({**msgspec.to_builtins(result), "recall": told})
    else:
        _print(result, told)
    fails = not result.holds or (told is not None and not told.exact)
    raise typer.Exit(VIOLATIONS if fails else BAD_INPUT if result.left_out else _without_violations(result))


def _without_violations(result: MineResult) -> int:
    return INCONCLUSIVE if any(clause.verdict is Verdict.INCONCLUSIVE for clause in result.clauses) else OK


def _own_layout(corpus: Path, mapping: Path | None, protocol: str | None) -> Mapping | None:
    # Nothing but a corpus is mined at an address, and mining says what is wrong with one.
    if mapping is None and (isinstance(corpus, Remote) or is_corpus(corpus)):
        return None
    chosen = resolve(protocol)
    return no_mapping(chosen) if mapping is None else read_mapping(mapping, chosen)


def _mine(corpus: Path, master: str | None, mapping: Mapping | None, again: bool) -> MineResult:
    with Progress(f"Mining {corpus}") as progress:
        return mine(
            corpus,
            master,
            on_progress=lambda done, total: progress(f"{done} of {total} events"),
            mapping=mapping,
            again=again,
            say=_say,
        )


def _follow(corpus: Path, master: str | None, until_idle_s: float | None, as_json: bool) -> MineResult:
    from scatterproof.spark.follow import follow

    console = err if as_json else out

    def on_batch(batch: Batch) -> None:
        known = f" ({batch.known} known)" if batch.known else ""
        if batch.result is None:
            said = "no files yet"
        else:
            so_far = f"{batch.result.violations} violations so far in {batch.result.files} files"
            said = f"{batch.files} files judged{known}, {batch.events} events; {so_far}"
        _sentence(console, said)
        for violation in batch.new.slice(0, SHOWN).to_pylist():
            _sentence(console, f"  run {violation['run']}: {violation['sentence']}")
        if batch.new.num_rows > SHOWN:
            _sentence(console, f"  and {batch.new.num_rows - SHOWN} more")

    _say(f"Following {corpus}; end with Ctrl-C or SIGTERM")
    result = follow(corpus, master, on_batch=on_batch, say=_say, until_idle_s=until_idle_s)
    if result is None:
        raise BadInput(f"{corpus}: no traces came (events/*.parquet, and runs/*.parquet of the same names)")
    return result


def _say(sentence: str) -> None:
    _sentence(err, sentence)


def _sentence(console: Console, sentence: str) -> None:
    console.print(sentence, markup=False, highlight=False, soft_wrap=True)


def _print(result: MineResult, told: Recall | None) -> None:
    rows = [
        (clause.clause, clause.name, clause.verdict, clause.held, clause.broken, clause.reason)
        for clause in result.clauses
    ]
    print_table(
        f"{result.runs} runs, {result.events} events, {result.violations} violations",
        ("clause", "name", "verdict", "held", "broken", "why"),
        rows,
    )
    found = read_violations(result.results(), SHOWN).to_pylist()
    kept = sum(pq.read_metadata(opened(path)).num_rows for path in result.results())
    for violation in found:
        _sentence(out, f"run {violation['run']}: {violation['sentence']}")
    if kept > len(found):
        _sentence(out, f"and {kept - len(found)} more in {result.path}/mined/violations")
    if result.violations > kept:
        more = result.violations - kept
        _sentence(out, f"and {more} more that are only counted: of a clause in a run, the first {MOST_KEPT} are kept")
    if found:
        _sentence(out, f"replay the first: {found[0]['replay']}")
    if told is not None:
        planted = [(one.name, one.runs, one.found, one.recall, one.precision) for one in told.plants]
        _sentence(out, str(told))
        print_table("recall", ("planted", "runs", "found", "recall", "precision"), planted)
    if result.quarantined:
        said = f"{result.quarantined} rows could not be read ({result.path}/quarantine)"
        _sentence(out, f"{said}: the runs that they belong to are inconclusive")
    for sentence in result.left_out:
        _sentence(out, f"left out: {sentence}")
    if result.coverage is not None:
        for what, part in (("clauses at stake", result.coverage.clauses), ("actions", result.coverage.actions)):
            _sentence(out, f"{what}: {exercised(part)}")
    _sentence(out, f"report: {result.path}/mined/report.html")


def exercised(part: CoveragePart) -> str:
    """How much of it was met, and what never; or that nobody looks."""
    if not part.counts and not part.never:
        return NOT_MEASURED
    never = f"; never: {', '.join(part.never)}" if part.never else ""
    return f"{len(part.counts)}{never}"
