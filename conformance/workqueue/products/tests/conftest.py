"""Tests on moto's server run where it is installed; elsewhere they are not run, and that is said."""

from __future__ import annotations

import warnings

import pytest

from scatterproof.conformance.workqueue.products.sqs import why_not

SERVER = "server"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    here = [item for item in items if "test_sqs.py" in item.nodeid and SERVER in getattr(item, "fixturenames", ())]
    reason = why_not() if here else None
    if reason is not None:
        items[:] = [item for item in items if item not in here]
        config.hook.pytest_deselected(items=here)
        warnings.warn(pytest.PytestWarning(f"not run: {len(here)} tests on moto's server: {reason}"), stacklevel=1)
