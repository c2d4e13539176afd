"""Tests on a broker run where it is installed; elsewhere they are not run, and that is said."""

from __future__ import annotations

from scatterproof.conformance.workqueue.products.tests.conftest import (
    pytest_collection_modifyitems as pytest_collection_modifyitems,
)
