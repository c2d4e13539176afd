"""The track record: what it says is there, what it says is shown, and it is red where it is wrong."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec.structs import replace as altered

from scatterproof.conformance.adapters.products import Product
from scatterproof.conformance.profile import read_profile
from scatterproof.conformance.protocol import load
from scatterproof.conformance.systems import track_runs
from scatterproof.conformance.systems.bisection import Change, Releases, changes, mistake_of
from scatterproof.conformance.systems.track_record import THIRDS, Good, Mistake, chosen, known, page, read
from scatterproof.conformance.systems.track_runs import Played, Side, Standing, played, sides, verdict
from scatterproof.conformance.workqueue.products.history import vocabulary
from scatterproof.conformance.workqueue.products.tests.toys import toy
from scatterproof.spec.clauses import load as clauses_of
from scatterproof.spec.errors import BadInput, CannotRun

ROOT = Path(__file__).resolve().parents[3]
PRODUCTS = [product for protocol in ("totalorder", "pubsub", "workqueue") for product in load(protocol).products()]
SWAPPED = Mistake(
    name="swapped",
    system="toy",
    version="1",
    mistake="message 2 comes ahead of 1",
    protocol="workqueue",
    product="broken",
    clause="Q-LEASE",
    says="put into its group before it",
    steps=("2 * put_message 1", "receive 2"),
    good=Good(product="sound"),
    upstream="not reported",
    report="none.md",
)


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {"broken": toy((1, 0)), "sound": toy((0, 1)), "missing": toy((0, 1), "there is no toy; install toys")}
    named = {name: replace(one, name=name, vocabulary=vocabulary()) for name, one in made.items()}
    monkeypatch.setattr(track_runs, "product_of", lambda protocol, name: named[name])


def play(*mistakes: Mistake, folder: Path, runs: int = 2) -> list[Played]:
    return played(mistakes, folder, lambda _: None, runs=runs)


# ---------------------------------------------------------------- what is recorded


def test_there_are_as_many_as_it_is_to_have() -> None:
    assert len(known()) >= 25
    assert len({one.system for one in known()}) >= 8


@pytest.mark.parametrize("mistake", known(), ids=lambda one: one.name)
def test_what_a_record_names_is_there(mistake: Mistake) -> None:
    bad, good = sides(mistake)
    assert len(bad.steps) > 1
    assert (bad.product.name, bad.steps) != (good.product.name, good.steps)
    for side in (bad, good):
        assert read_profile(side.product.profile).claims(mistake.clause)
    assert {mistake.clause, *mistake.besides} <= set(clauses_of(mistake.protocol).by_id)
    assert (ROOT / "docs/reports" / mistake.report.partition("#")[0]).is_file()


def test_the_page_says_what_the_record_has() -> None:
    assert (ROOT / "docs/track-record.md").read_text() == page(known()), "run scatterproof track-record --write"


@pytest.mark.parametrize("mistake", [one for one in known() if one.again], ids=lambda one: one.name)
def test_what_is_ready_to_be_sent_has_a_script_with_nothing_of_ours(mistake: Mistake) -> None:
    text = (ROOT / "docs" / "reports" / mistake.report.partition("#")[0]).read_text(encoding="utf-8")
    scripts = re.findall(r"^```(?:python|js)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert mistake.upstream.startswith("not reported")
    assert scripts
    assert not any("scatterproof" in script for script in scripts)
    assert mistake.version in text


def test_three_thirds_are_all() -> None:
    parts = [chosen((), third) for third in range(1, THIRDS + 1)]
    assert sorted(one.name for part in parts for one in part) == sorted(one.name for one in known())


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda one: one.name)
def test_steps_are_what_their_words_say(product: Product) -> None:
    for seed in range(3):
        lines = product.vocabulary.words(product.steps(seed, False))
        assert product.vocabulary.words(product.vocabulary.read(lines)) == lines


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("publish 2", "'publish' is unknown; choose of delete, extend"),
        ("put_message", "not enough values"),
        ("put_message 1 topic=1", "put_message has no topic; it has group, dedup"),
        ("receive 1 most=some", "invalid literal"),
    ],
)
def test_a_step_that_says_nothing_is_refused(line: str, why: str) -> None:
    with pytest.raises(BadInput, match=f"step {line!r}: .*{why}"):
        vocabulary().read([line])


def test_a_record_that_is_wrong_is_refused_with_its_name() -> None:
    with pytest.raises(BadInput, match=r"track_record.toml: Object missing required field `system`"):
        read("[one]\nversion = '1'")
    with pytest.raises(BadInput, match="'stranger' is not in the record; choose of nats-filters-hide"):
        chosen(("stranger",), None)


# ---------------------------------------------------------------- what is shown


@pytest.mark.usefixtures("toys")
def test_the_bad_side_breaks_the_clause_and_the_good_one_keeps_it(tmp_path: Path) -> None:
    (outcome,) = play(SWAPPED, folder=tmp_path)
    assert (outcome.state, outcome.why) == (Standing.AS_RECORDED, "")
    assert (outcome.bad.named, outcome.good.held) == (2, 2)
    assert len(list(tmp_path.glob("swapped/*.ndjson"))) == 4


@pytest.mark.usefixtures("toys")
@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"good": Good(steps=SWAPPED.steps)}, "the good side broke another rule: Q-LEASE"),
        ({"product": "sound"}, "the mistake was in 0 of 2 bad runs; it is in each, by the record"),
        ({"clause": "Q-RECEIPT"}, "the bad side broke another rule: Q-LEASE"),
        ({"says": "no such words"}, "the bad side broke another rule: Q-LEASE"),
        ({"good": Good(steps=("put_message 1", "delete 2"))}, "Q-LEASE was at stake in 0 of 2 good runs"),
    ],
)
def test_a_record_that_is_wrong_is_red(wrong: dict[str, object], why: str, tmp_path: Path) -> None:
    (outcome,) = play(altered(SWAPPED, **wrong), folder=tmp_path)
    assert outcome.state is Standing.NOT_AS_RECORDED
    assert why in outcome.why


@pytest.mark.usefixtures("toys")
def test_what_is_not_installed_or_of_another_version_is_not_run(tmp_path: Path) -> None:
    missing, other = play(
        altered(SWAPPED, good=Good(product="missing")), altered(SWAPPED, version="2"), folder=tmp_path
    )
    assert (missing.state, missing.why) == (Standing.NOT_RUN, "missing: there is no toy; install toys")
    assert (other.state, other.why) == (Standing.NOT_RUN, "broken 1 is here, and the record is of 2")


@pytest.mark.parametrize(
    ("runs", "named", "state"),
    [(20, 1, Standing.AS_RECORDED), (20, 0, Standing.NOT_AS_RECORDED), (9, 0, Standing.INCONCLUSIVE)],
)
def test_a_mistake_that_comes_by_chance_need_not_come_in_a_few_runs(runs: int, named: int, state: Standing) -> None:
    of = altered(SWAPPED, seen=(1, 2))
    assert verdict(Side(of, toy((1, 0)), (), is_bad=True, runs=runs, named=named))[0] is state


# ---------------------------------------------------------------- releases

RELEASES = [f"1.{number}" for number in range(32)]


@pytest.mark.parametrize(("begins", "ends"), [(0, 32), (0, 7), (5, 32), (5, 6), (12, 31), (31, 32)])
@pytest.mark.parametrize("missing", [(), (4, 6, 13), (0, 31)])
def test_bisection_finds_where_a_mistake_begins_and_ends(begins: int, ends: int, missing: Sequence[int]) -> None:
    asked: list[str] = []

    def ask(version: str) -> bool | None:
        asked.append(version)
        number = RELEASES.index(version)
        return None if number in missing else begins <= number < ends

    left = [number for number in range(32) if number not in missing]
    inside = [number for number in left if begins <= number < ends]
    if not inside:
        with pytest.raises(CannotRun, match=r"1\.31 does not break the clause, or could not be run"):
            changes(RELEASES, RELEASES[31], ask)
        return
    before, after = ([n for n in left if n < begins], [n for n in left if n >= ends])
    expected = [Change(RELEASES[before[-1]], RELEASES[inside[0]], True)] if before else []
    expected += [Change(RELEASES[inside[-1]], RELEASES[after[0]], False)] if after else []
    assert changes(RELEASES, RELEASES[inside[0]], ask) == expected
    assert len(asked) < 20


def test_what_cannot_be_bisected_is_refused_with_what_can(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no mistake of nats under Q-LEASE is known; there are: activemq PS-PERSISTED"):
        mistake_of("nats", "Q-LEASE", None)
    with pytest.raises(BadInput, match="give --entry: one of nats-filters-hide, nats-wildcard-hides"):
        mistake_of("nats", "PS-QOS-GD", None)
    with pytest.raises(BadInput, match="no other release of it can be installed by pip or npm"):
        Releases(mistake_of("pgq", "Q-LEASE-ALL", None), tmp_path, 1, lambda _: None)


# ---------------------------------------------------------------- on real systems


@pytest.mark.slow
def test_a_third_of_the_record_is_as_recorded(tmp_path: Path) -> None:
    """Another third with each commit. What is not installed is not run."""
    told = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    third = int(told.strip() or "0", 16) % THIRDS + 1
    outcomes = played(chosen((), third), tmp_path, lambda _: None, runs=1, seconds=20.0)
    wrong = [f"{one.of.name}: {one.why}" for one in outcomes if one.state is Standing.NOT_AS_RECORDED]
    assert wrong == []
