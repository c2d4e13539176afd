"""How Hypothesis draws in the tests: the same examples each time, so that a red run says something about a change.

`pytest --hypothesis-profile=random` draws anew. What the product itself draws (fuzzing, the walks of state machines)
has seeds of its own, and asks no profile.
"""

from __future__ import annotations

import pytest
from hypothesis import settings

FIXED, RANDOM = "fixed", "random"

settings.register_profile(FIXED, derandomize=True)
settings.register_profile(RANDOM, derandomize=False)
# Before any test module is read: its settings begin with those of the profile. An option loads another one after it.
settings.load_profile(FIXED)


def pytest_report_header(config: pytest.Config) -> str:
    drawn = "the same examples each time" if settings().derandomize else "other examples each time"
    return f"hypothesis draws {drawn} (--hypothesis-profile={FIXED} or {RANDOM})"
