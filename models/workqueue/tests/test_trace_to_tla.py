"""TLC on the labelled traces of the work queue: it accepts what conforms, and rejects the others by their clauses."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from scatterproof.models import trace_validation
from scatterproof.models.trace_validation import Judgement, Validation, validate_all
from scatterproof.spec import trace_ndjson

LABELLED = Path(trace_validation.__file__).parents[1] / "conformance/traces/workqueue"
CONFORMING, VIOLATING = (sorted((LABELLED / label).glob("*.ndjson")) for label in ("conforming", "violating"))
UNREAD = ("Q-ANSWER",)  # about packets, and the module reads calls alone
OTHERWISE = {
    "Q-DEDUP.handed-out-before-its-put-ends": "a call is read with its end, so that the put may come after the window",
    "Q-NEXT.nothing-as-one-that-is-gone-was-closed": "of two calls ahead of it that overlap one alone can succeed",
    "Q-ORDER-MSG.sent-by-one-meanwhile": "the group is closed, so that what is read was not sent there at all",
    "Q-ORDER-MSG.the-third-is-sent-meanwhile": "the group is closed, so that what is read was not sent there at all",
}
pytestmark = pytest.mark.slow  # one TLC reads them all, for whatever test comes first


@cache
def _judged() -> dict[Path, Validation]:
    files = [*CONFORMING, *VIOLATING]
    return dict(zip(files, validate_all([trace_ndjson.read(file) for file in files]), strict=True))


def test_there_are_traces_of_both_kinds() -> None:
    assert min(len(CONFORMING), len(VIOLATING)) > 10


@pytest.mark.parametrize("file", CONFORMING, ids=lambda file: file.stem)
def test_a_conforming_trace_is_accepted(file: Path) -> None:
    assert _judged()[file].judgement is Judgement.ACCEPTED, _judged()[file].reason


@pytest.mark.parametrize("file", VIOLATING, ids=lambda file: file.stem)
def test_a_violating_trace_is_rejected_by_its_clause(file: Path) -> None:
    clause, judged = file.stem.partition(".")[0], _judged()[file]
    if file.stem in OTHERWISE or clause in UNREAD:
        assert clause not in judged.clauses
        assert judged.judgement is Judgement.ACCEPTED or file.stem in OTHERWISE
    else:
        assert judged.judgement is Judgement.REJECTED
        assert clause in judged.clauses
