"""Tests with clients that others have made are not run, and said so, where those clients are not installed."""

from __future__ import annotations

import importlib.util
import warnings

import pytest

_MISSING = [
    name for name, module in (("paho-mqtt", "paho"), ("nats-py", "nats")) if not importlib.util.find_spec(module)
]
collect_ignore = ["test_clients.py"] if _MISSING else []
if _MISSING:
    said = (
        f"not run: clients of the appliance; install {' and '.join(_MISSING)} of PyPI into this environment (ci/tools)"
    )
    warnings.warn(pytest.PytestWarning(said), stacklevel=1)
