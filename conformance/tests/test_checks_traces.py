"""The little traces of `conformance/traces`: each violating one breaks its clause in the marked rows, and nothing else;
each conforming one puts its clause at stake; so does each overlooked one, which another judge rejects; each refused one
cannot be judged. A row's extra column `breaks`, clauses by blanks, is the expectation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scatterproof.conformance.judge import judge, judge_by_oracles, judge_compiled
from scatterproof.conformance.protocol import load
from scatterproof.conformance.verdict import Verdict
from scatterproof.spec import trace_ndjson
from scatterproof.spec.errors import BadInput

FOLDER = Path(__file__).parents[1] / "traces"
PROTOCOLS = sorted(path.name for path in FOLDER.iterdir())
VIOLATING = sorted(FOLDER.glob("*/violating/*.ndjson"))
CONFORMING = sorted(FOLDER.glob("*/conforming/*.ndjson"))
OVERLOOKED = sorted(FOLDER.glob("*/overlooked/*.ndjson"))
REFUSED = sorted(FOLDER.glob("*/refused/*.ndjson"))
CLAUSES = [check.clause for protocol in PROTOCOLS for check in load(protocol).checks]


def name(path: Path) -> str:
    return path.stem


def marked(path: Path) -> dict[str, set[int]]:
    """clause -> positions of the rows that are marked as breaking it."""
    found: dict[str, set[int]] = {}
    for position, line in enumerate(path.read_text().splitlines()[1:]):
        for clause in json.loads(line).get("breaks", "").split():
            found.setdefault(clause, set()).add(position)
    return found


@pytest.mark.parametrize("path", VIOLATING, ids=name)
def test_violating_trace_breaks_its_clause_in_the_marked_rows_and_nothing_else(path: Path) -> None:
    trace = trace_ndjson.read(path)
    for results in (judge(trace), judge_compiled(trace), judge_by_oracles(trace)):
        broken = {
            result.clause: {violation.position for violation in result.violations}
            for result in results
            if result.verdict is Verdict.FAIL
        }
        assert broken == marked(path)
        assert path.stem.split(".")[0] in broken


@pytest.mark.parametrize("path", [*CONFORMING, *OVERLOOKED], ids=name)
def test_conforming_trace_passes_its_clause_and_breaks_none(path: Path) -> None:
    trace = trace_ndjson.read(path)
    for results in (judge(trace), judge_compiled(trace), judge_by_oracles(trace)):
        verdicts = {result.clause: result.verdict for result in results}
        assert verdicts[path.stem.split(".")[0]] is Verdict.PASS
        assert Verdict.FAIL not in verdicts.values()


@pytest.mark.parametrize("clause", CLAUSES)
def test_every_clause_has_a_conforming_and_a_violating_trace(clause: str) -> None:
    for paths in (VIOLATING, CONFORMING):
        assert any(path.stem.split(".")[0] == clause for path in paths)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_way_to_break_a_clause_has_a_trace(protocol: str) -> None:
    """Two ways may share no sentence, so the sentences of all violating traces name all ways; and all doubts those of
    conforming ones."""
    told = [
        violation.sentence
        for path in (FOLDER / protocol / "violating").glob("*.ndjson")
        for result in judge(trace_ndjson.read(path))
        for violation in result.violations
    ]
    told += [
        result.reason
        for path in (FOLDER / protocol / "conforming").glob("*.ndjson")
        for result in judge(trace_ndjson.read(path))
        if result.verdict is Verdict.INCONCLUSIVE
    ]
    for check in load(protocol).checks:
        for way in check.ways:
            # The longest stretch between two values is enough to know a way by.
            words = max(way.replace("}", "{").split("{")[::2], key=len)
            assert any(words in sentence and sentence.startswith(check.clause) for sentence in told), way


@pytest.mark.parametrize("path", REFUSED, ids=name)
def test_refused_trace_breaks_a_premise(path: Path) -> None:
    trace = trace_ndjson.read(path)
    said = []
    for judging in (judge, judge_compiled):
        with pytest.raises(BadInput, match="PREMISE") as refused:
            judging(trace)
        said.append(str(refused.value))
    assert said[0] == said[1]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_said_of_each_trace_is_written_down(protocol: str) -> None:
    """Row, expected, found and witness: a check may find the right row for a wrong reason. `said.txt` is read, and
    changed, by hand: a line a violation, and a line a trace that is refused."""
    said = [
        f"{path.stem}: {sentence}"
        for path in (*VIOLATING, *REFUSED)
        if path.parts[-3] == protocol
        for sentence in sentences(path)
    ]
    assert said == (FOLDER / protocol / "said.txt").read_text().splitlines()


def sentences(path: Path) -> list[str]:
    try:
        results = judge(trace_ndjson.read(path))
    except BadInput as error:
        return [str(error)]
    return [violation.sentence for result in results for violation in result.violations]
