"""What all tests share: how Hypothesis draws, the same examples each time, so that a red run says something about a
change; and a browser, where there is one.

`pytest --hypothesis-profile=random` draws anew. What the product itself draws (fuzzing, the walks of state machines)
has seeds of its own, and asks no profile.
"""

from __future__ import annotations

import signal
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import settings

from scatterproof.conformance import judge
from scatterproof.conformance.checks.compiled import Kernel
from scatterproof.conformance.report.tests.browser import Open, Tab, launched, why_not
from scatterproof.spec.plugins import PACKAGES

# `pytest .` finds their tests behind the links in `scatterproof`.
collect_ignore = [*PACKAGES]
FIXED, RANDOM = "fixed", "random"

# Nor is an example held to a time: on a machine that is shared, that says something of its neighbours.
settings.register_profile(FIXED, derandomize=True, deadline=None)
settings.register_profile(RANDOM, derandomize=False, deadline=None)
# Before any test module is read: its settings begin with those of the profile. An option loads another one after it.
settings.load_profile(FIXED)

# A shell's background job ignores Ctrl-C, and so would each program that a test starts, even to interrupt it.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    told = "compiled checks are the same in plain Python, but in Spark's tasks: minutes of compiling less"
    parser.addoption("--interpreted", action="store_true", help=told)


def pytest_configure(config: pytest.Config) -> None:
    # `judge` stays with plain Python, which compiled checks are compared with. What it takes later has its own test.
    judge.LOADED_ROWS = 1 << 62
    if config.getoption("interpreted"):

        def run(kernel: Kernel, *around: Any, **more: Any) -> Any:
            return kernel.interpreted.run(*around, **more)

        setattr(Kernel, "run", run)  # noqa: B010


def pytest_report_header(config: pytest.Config) -> list[str]:
    drawn = "the same examples each time" if settings().derandomize else "other examples each time"
    checks = "interpreted" if config.getoption("interpreted") else "compiled"
    return [
        f"hypothesis draws {drawn} (--hypothesis-profile={FIXED} or {RANDOM})",
        f"checks are {checks} (--interpreted)",
    ]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with launched() as browser:
        yield browser


@pytest.fixture
def browse(chromium: Any) -> Iterator[Open]:
    """Opens an address in a tab of its own; options are those of a browser's context."""
    with ExitStack() as opened:

        def go(url: str, **options: Any) -> Tab:
            tab = Tab(chromium, **options)
            opened.callback(tab.page.context.close)
            tab.page.goto(url)
            return tab

        yield go


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests in a browser are not run where there is none, and that is said."""
    here = [item for item in items if "chromium" in getattr(item, "fixturenames", ())]
    reason = why_not() if here else None
    if reason is not None:
        items[:] = [item for item in items if item not in here]
        config.hook.pytest_deselected(items=here)
        warnings.warn(pytest.PytestWarning(f"not run: {len(here)} tests in a browser: {reason}"), stacklevel=1)
