"""What counts as new among the datagrams that get through, and what of the lost ones is still due."""

from __future__ import annotations

import pytest

from scatterproof.conformance.relay import news as module
from scatterproof.conformance.relay.news import News


def test_only_what_gets_through_to_its_target_for_the_first_time_is_new() -> None:
    news = News()
    news.lost(0, b"a", 1)
    assert news.latest_ns == 0
    for now, pair, contents, latest in [
        (2, 0, b"a", 2),
        (3, 0, b"a", 2),
        (4, 1, b"a", 4),
        (5, 0, b"b", 5),
        (6, 0, b"", 6),
    ]:
        news.carried(pair, contents, now)
        assert news.latest_ns == latest
    news.carried(0, b"", 7)
    assert news.latest_ns == 6


def test_what_was_always_lost_is_due_until_its_next_copy_is_late() -> None:
    news = News()
    news.lost(0, b"a", 100)
    assert not news.is_due(100)  # a sender that does not repeat it knows better
    news.lost(0, b"a", 150)
    assert [news.is_due(now) for now in (150, 299, 300)] == [True, True, False]
    news.lost(0, b"a", 400)
    assert [news.is_due(now) for now in (400, 1149, 1150)] == [True, True, False]
    news.lost(0, b"a", 500)
    news.carried(0, b"a", 501)
    news.lost(0, b"a", 502)
    assert not news.is_due(502)


def test_where_there_are_too_many_contents_to_tell_them_apart_all_are_new(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BITS", 64)
    news = News()
    for number in range(1000):
        news.carried(0, b"%d" % number, number)
    news.carried(0, b"0", 1001)
    assert news.latest_ns == 1001
