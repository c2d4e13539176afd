"""Tests in a browser are not run where there is none, and that is said."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from conformance.report.tests.browser import launched, why_not


@pytest.fixture(scope="package")
def chromium() -> Iterator[Any]:
    with launched() as browser:
        yield browser


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    here = [i for i in items if "conformance/explorer/" in i.nodeid and "chromium" in getattr(i, "fixturenames", ())]
    reason = why_not() if here else None
    if reason is not None:
        items[:] = [item for item in items if item not in here]
        config.hook.pytest_deselected(items=here)
        warnings.warn(pytest.PytestWarning(f"not run: {len(here)} tests in a browser: {reason}"), stacklevel=1)
