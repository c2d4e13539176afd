"""Plugin of `ci/test`: sums up the steps before pytest, shares the tests out between the workers, and tells a machine
that is too busy from a failure."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator
from functools import cache
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

from scatterproof.spec.errors import MachineBusy

STEPS = pytest.StashKey[str]()
SPARK = "SparkSession"


def scope(nodeid: str, root: Path) -> str:
    """What one worker runs as a whole: all files that use a Spark session, which costs seconds to start; else a test
    file. root: what tests are named from."""
    file = nodeid.split("::", 1)[0]
    return SPARK if _uses_spark(root / file) else file


@cache
def _uses_spark(file: Path) -> bool:
    return SPARK in file.read_text(encoding="utf-8")


class BySessionOrFile(LoadScopeScheduling):  # type: ignore[misc]  # xdist carries no types
    """One worker for each scope, in the order in which they were collected."""

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid, self.config.rootpath)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Scopes with slow tests first, then those with many tests: a long one must not start last."""
    of = {item: scope(item.nodeid, config.rootpath) for item in items}
    many = Counter(of.values())
    slow = {of[item] for item in items if item.get_closest_marker("slow") is not None}
    items.sort(key=lambda item: (of[item] not in slow, -many[of[item]]))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    """What needs real time is not run on a machine that is too busy for it; the summary says so."""
    try:
        return (yield)
    except MachineBusy as busy:
        pytest.skip(f"not run: {busy}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> BySessionOrFile:
    config.option.loadscopereorder = False  # it would put files with few tests last, however slow they are
    return BySessionOrFile(config, log)


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
