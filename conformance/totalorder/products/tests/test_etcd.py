"""What etcdctl prints, as rows; what is drawn; and what is said where etcd is not installed."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence

import pytest

from scatterproof.conformance.totalorder.products import etcd
from scatterproof.conformance.totalorder.products.etcd import PRODUCT, PROGRESS, PUT, WATCH, Move, Step, Told, drawn
from scatterproof.conformance.verdict import Verdict
from scatterproof.spec.schedule import Call

PROGRESS_IN_WORDS = b"progress notify: 3"


def change(revision: int) -> bytes:
    value = b64encode(b"1.%d" % revision).decode()
    return _line(revision, [{"kv": {"mod_revision": revision, "value": value}}])


def progress(revision: int) -> bytes:
    return _line(revision, [])


def _line(revision: int, events: Sequence[object]) -> bytes:
    return json.dumps({"Header": {"revision": revision}, "Events": events, "Created": False}).encode()


@pytest.mark.parametrize(
    ("lines", "broken"),
    [
        ((change(2), PROGRESS_IN_WORDS, progress(2), change(3)), set()),
        ((progress(3), change(2), change(3)), {"TO-BAR-LINK"}),
        ((progress(2), change(2)), {"TO-BAR-LINK"}),
        ((change(2), change(3), change(3)), {"TO-ORDER"}),
        ((change(3), change(2)), {"TO-ORDER"}),
    ],
)
def test_what_a_client_of_it_prints_is_judged(lines: Sequence[bytes], broken: set[str]) -> None:
    told = Told()
    for line in lines:
        told.note(1, line)
    verdicts = {one.clause: one.verdict for one in PRODUCT.judged(told.trace(0, "etcd 0"))}
    assert {clause for clause, verdict in verdicts.items() if verdict is Verdict.FAIL} == broken
    assert broken or set(verdicts.values()) == {Verdict.PASS}


def test_each_client_has_a_link_and_an_order_of_its_own() -> None:
    told = Told()
    for client, line in ((1, progress(3)), (2, change(2)), (2, change(3)), (1, change(4))):
        told.note(client, line)
    assert {one.verdict for one in PRODUCT.judged(told.trace(0, "etcd 0"))} == {Verdict.PASS}


def test_every_move_and_call_is_drawn() -> None:
    steps = [step for seed in range(30) for step in drawn(seed, quiet=False)]
    assert {step.move for step in steps if isinstance(step, Step)} == {Move.KILL}
    assert {step.call for step in steps if isinstance(step, Call)} == {PUT, WATCH, PROGRESS}


def test_in_a_quiet_run_a_client_has_all_when_it_asks_and_nothing_is_killed() -> None:
    for seed in range(30):
        steps = PRODUCT.steps(seed, True)
        asked = [at for at, step in enumerate(steps) if isinstance(step, Call) and step.call == PROGRESS]
        assert [steps[at - 1] for at in asked] == [Step(Move.TAKE, steps[at].node) for at in asked]
        assert Step(Move.KILL) not in steps


def test_without_what_it_needs_a_sentence_says_how_to_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(etcd, "program", lambda name: None)
    assert PRODUCT.why_not() == (
        "there is no etcd and no etcdctl; "
        "install etcd-server and etcd-client of Debian (apt-get install etcd-server etcd-client)"
    )
