"""Plugin of `ci/test`: sums up the steps before pytest, shares the tests out between the workers, and tells a machine
that is too busy from a failure."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

from scatterproof.spec.errors import MachineBusy

STEPS = pytest.StashKey[str]()


def scope(nodeid: str) -> str:
    """What one worker runs as a whole: all of `spark`, where a session costs seconds to start; else a test file."""
    file = nodeid.split("::", 1)[0]
    return "spark" if file.startswith(("spark/", "scatterproof/spark/")) else file


class ByFolderOrFile(LoadScopeScheduling):  # type: ignore[misc]  # xdist carries no types
    """One worker for each scope, in the order in which they were collected."""

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Scopes with slow tests first, then those with many tests: a long one must not start last."""
    many = Counter(scope(item.nodeid) for item in items)
    slow = {scope(item.nodeid) for item in items if item.get_closest_marker("slow") is not None}
    items.sort(key=lambda item: (scope(item.nodeid) not in slow, -many[scope(item.nodeid)]))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    """What needs real time is not run on a machine that is too busy for it; the summary says so."""
    try:
        return (yield)
    except MachineBusy as busy:
        pytest.skip(f"not run: {busy}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> ByFolderOrFile:
    config.option.loadscopereorder = False  # it would put files with few tests last, however slow they are
    return ByFolderOrFile(config, log)


def pytest_configure(config: pytest.Config) -> None:
    """Take the file's name out of the environment: otherwise a test that runs pytest would print the steps, unseen."""
    config.stash[STEPS] = os.environ.pop("SCATTERPROOF_STEPS", "")


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the earlier steps last of all sections, so that pytest's closing line comes right after them."""
    if steps := config.stash[STEPS]:
        terminalreporter.section("steps before pytest")
        terminalreporter.write(Path(steps).read_text())
        Path(steps).write_text("")  # said once: `ci/test` prints what is left
