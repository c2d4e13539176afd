"""Plugin of `ci/test`: sums up the steps before pytest, and shares the tests out between the workers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling


class ByFolderOrFile(LoadScopeScheduling):  # type: ignore[misc]  # xdist carries no types
    """One worker for all of `spark/`, where a session costs seconds to start; else one for each test file."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::", 1)[0]
        return "spark" if file.startswith("spark/") else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> ByFolderOrFile:
    return ByFolderOrFile(config, log)


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the earlier steps last of all sections, so that pytest's closing line comes right after them."""
    steps = os.environ.get("SCATTERPROOF_STEPS")
    if steps and not hasattr(config, "workerinput"):  # a worker has a reporter too, which nobody hears
        terminalreporter.section("steps before pytest")
        terminalreporter.write(Path(steps).read_text())
        Path(steps).write_text("")  # said once: `ci/test` prints what is left
