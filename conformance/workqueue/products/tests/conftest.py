"""Tests on a product's server run where it is installed; elsewhere they are not run, and that is said."""

from __future__ import annotations

import warnings

import pytest

from scatterproof.conformance.adapters.products import Product

PRODUCT = "product"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    given = [(item, _product(item)) for item in items]
    for name, product in sorted({one.name: one for _, one in given if one is not None}.items()):
        reason = product.why_not()
        if reason is not None:
            here = [item for item, one in given if one is not None and one.name == name]
            items[:] = [item for item in items if item not in here]
            config.hook.pytest_deselected(items=here)
            what = f"not run: {len(here)} tests on the server of {name}: {reason}"
            warnings.warn(pytest.PytestWarning(what), stacklevel=1)
    # One after the other, so that each server is started once.
    names = {item: product.name for item, product in given if product is not None}
    items.sort(key=lambda item: names.get(item, ""))


def _product(item: pytest.Item) -> Product | None:
    """Whose server the test is about."""
    if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
        return None
    found = item.callspec.params.get(PRODUCT)
    return found if isinstance(found, Product) else None
