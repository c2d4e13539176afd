"""Tests in a browser are not run where there is none, and that is said."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from conformance.report.tests.browser import Tab, launched, why_not

Open = Callable[..., Tab]


@pytest.fixture(scope="package")
def chromium() -> Iterator[Any]:
    with launched() as browser:
        yield browser


@pytest.fixture
def browse(chromium: Any) -> Iterator[Open]:
    """Opens an address in a tab of its own; options are those of a browser's context."""
    with ExitStack() as opened:

        def go(url: str, **options: Any) -> Tab:
            tab = Tab(chromium, **options)
            opened.callback(tab.page.context.close)
            tab.page.goto(url)
            return tab

        yield go


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    here = [i for i in items if "conformance/report/" in i.nodeid and "browse" in getattr(i, "fixturenames", ())]
    reason = why_not() if here else None
    if reason is not None:
        items[:] = [item for item in items if item not in here]
        config.hook.pytest_deselected(items=here)
        warnings.warn(pytest.PytestWarning(f"not run: {len(here)} tests in a browser: {reason}"), stacklevel=1)
