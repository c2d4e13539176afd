"""How Hypothesis draws in the tests: the same examples each time, so that a red run says something about a change.

`pytest --hypothesis-profile=random` draws anew. What the product itself draws (fuzzing, the walks of state machines)
has seeds of its own, and asks no profile.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest
from hypothesis import settings

from spec.errors import MachineBusy

FIXED, RANDOM = "fixed", "random"

settings.register_profile(FIXED, derandomize=True)
settings.register_profile(RANDOM, derandomize=False)
# Before any test module is read: its settings begin with those of the profile. An option loads another one after it.
settings.load_profile(FIXED)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    """On a machine that is too busy for it, what needs real time is not run, which the summary says."""
    try:
        return (yield)
    except MachineBusy as busy:
        pytest.skip(f"not run: {busy}")


def pytest_report_header(config: pytest.Config) -> str:
    drawn = "the same examples each time" if settings().derandomize else "other examples each time"
    return f"hypothesis draws {drawn} (--hypothesis-profile={FIXED} or {RANDOM})"
