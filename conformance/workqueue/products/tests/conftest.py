"""Tests on a product's server run where it is installed; elsewhere they are not run, and that is said."""

from __future__ import annotations

import warnings

import pytest

from scatterproof.conformance.workqueue.products.emulators import Emulator

SERVER = "server"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    given = [(item, _emulator(item)) for item in items]
    for emulator in sorted({one for _, one in given if one is not None}, key=lambda one: one.name):
        reason = emulator.why_not()
        if reason is not None:
            here = [item for item, one in given if one is emulator]
            items[:] = [item for item in items if item not in here]
            config.hook.pytest_deselected(items=here)
            what = f"not run: {len(here)} tests on the server of {emulator.name}: {reason}"
            warnings.warn(pytest.PytestWarning(what), stacklevel=1)


def _emulator(item: pytest.Item) -> Emulator | None:
    """Whose server the test is about."""
    if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
        return None
    found = item.callspec.params.get(SERVER)
    return found if isinstance(found, Emulator) else None
