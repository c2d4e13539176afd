"""Languages that this machine has no tool for are not run, and that is said."""

from __future__ import annotations

import warnings

import pytest

from scatterproof.conformance.examples.tests.languages import BUILD, missing


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for language in BUILD:
        reason = missing(language)
        if reason is None:
            continue
        gone = [item for item in items if language in _words(item)]
        if gone:
            items[:] = [item for item in items if item not in gone]
            config.hook.pytest_deselected(items=gone)
            warnings.warn(pytest.PytestWarning(f"not run: {len(gone)} tests in {language}: {reason}"), stacklevel=1)


def _words(item: pytest.Item) -> list[str]:
    """The parts of the id of a test of the examples."""
    if "conformance/examples/" not in item.nodeid:
        return []
    return item.nodeid.partition("[")[2].rstrip("]").split("-")
