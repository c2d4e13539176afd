"""Tests on the real switch are not run where BMv2 is missing, and that is said."""

from __future__ import annotations

import warnings

import pytest

from impl.bmv2.session import why_not


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    real = [item for item in items if "impl/bmv2/" in item.nodeid and "bmv2" in getattr(item, "fixturenames", ())]
    reason = why_not() if real else None
    if reason is not None:
        items[:] = [item for item in items if item not in real]
        config.hook.pytest_deselected(items=real)
        warnings.warn(pytest.PytestWarning(f"not run: {len(real)} tests on BMv2: {reason}"), stacklevel=1)
