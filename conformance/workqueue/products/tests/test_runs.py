"""Products, driven and judged: what they keep, and the mistakes of docs/reports, each 1-minimal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, count, groupby

import pytest

from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.judge import judge_by_oracles
from scatterproof.conformance.verdict import Verdict
from scatterproof.conformance.workqueue.products.every import PRODUCTS
from scatterproof.conformance.workqueue.products.tests.runs import BROKEN, KEPT
from scatterproof.spec.trace import Trace
from scatterproof.spec.workqueue.messages import CallName

pytestmark = pytest.mark.slow
RUNS = 4
_numbers = count(1)


@pytest.fixture(scope="module")
def play(product: Product, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    with product.serve(tmp_path_factory.mktemp(product.name)) as served:
        yield served


@pytest.fixture(scope="module")
def product(request: pytest.FixtureRequest) -> Product:
    found = request.param
    assert isinstance(found, Product)
    return found


def _name() -> str:
    """Of a queue that is new."""
    return f"queue-{next(_numbers)}"


def _named(given: object) -> str | None:
    return given.name if isinstance(given, Product) else None


def _failed(product: Product, trace: Trace) -> list[str]:
    return [one.violations[0].sentence for one in product.judged(trace) if one.verdict is Verdict.FAIL]


@pytest.mark.parametrize(("product", "clause", "steps"), KEPT, indirect=["product"], scope="module", ids=_named)
def test_what_is_kept_passes(product: Product, play: Play, clause: str, steps: Sequence[object]) -> None:
    trace = play(_name(), steps, 0)
    assert {result.clause: result.verdict for result in product.judged(trace)}[clause] is Verdict.PASS
    assert _failed(product, trace) == []


@pytest.mark.parametrize(
    ("product", "clause", "mistake", "steps"), BROKEN, indirect=["product"], scope="module", ids=_named
)
def test_a_mistake_is_found_by_checks_and_oracles(
    product: Product, play: Play, clause: str, mistake: str, steps: Sequence[object]
) -> None:
    trace = play(_name(), steps, 0)
    (sentence,) = _failed(product, trace)
    assert sentence.startswith(clause)
    assert mistake in sentence
    assert clause in {result.clause for result in judge_by_oracles(trace) if result.verdict is Verdict.FAIL}


@pytest.mark.parametrize(
    ("product", "clause", "mistake", "steps"), BROKEN, indirect=["product"], scope="module", ids=_named
)
def test_without_any_one_step_nothing_is_broken(
    product: Product, play: Play, clause: str, mistake: str, steps: Sequence[object]
) -> None:
    """Of steps that are the same, one after the other, any one is the same to leave out. A receive is only repeated
    because a loaded server now and then has nothing for the first: all of these are left out."""
    alike = [list(group) for _, group in groupby(steps)]
    for place, group in enumerate(alike):
        kept = [] if getattr(group[0], "call", None) in (CallName.RECEIVE, CallName.RECEIVE_ASIDE) else group[1:]
        rest = list(chain(*alike[:place], kept, *alike[place + 1 :]))
        assert _failed(product, play(_name(), rest, 0)) == []


@pytest.mark.parametrize("product", PRODUCTS, indirect=True, scope="module", ids=_named)
def test_what_drawn_runs_break_is_what_the_reports_have(product: Product, play: Play) -> None:
    known = {clause for one, clause, *_ in BROKEN if one.name == product.name}
    for seed in range(RUNS):
        trace = play(_name(), product.steps(seed, False), seed)
        failed = {one.clause for one in product.judged(trace) if one.verdict is Verdict.FAIL}
        assert failed <= known, f"seed {seed}"


@pytest.mark.parametrize("product", PRODUCTS, indirect=True, scope="module", ids=_named)
def test_quiet_runs_break_nothing_and_have_something_at_stake(product: Product, play: Play) -> None:
    held = 0
    for seed in range(RUNS):
        trace = play(_name(), product.steps(seed, True), seed)
        assert _failed(product, trace) == [], f"seed {seed}"
        held += sum(one.held for one in product.judged(trace))
    assert held > 0


@pytest.mark.parametrize("product", PRODUCTS, indirect=True, scope="module", ids=_named)
def test_a_run_names_the_product_and_its_version(product: Product, play: Play) -> None:
    name, _, version = play(_name(), [], 7).header.iut.rpartition(" ")
    assert name.lower().split()[0] in product.name
    assert version[0].isdigit()
