"""The small programs under `peers`, ready to be run; the one in C is compiled once a session. Its tests are not run
where there is no compiler, and that is said."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from scatterproof.conformance.examples.tests.languages import c_compiler, missing

PEERS = Path(__file__).parent / "peers"


@pytest.fixture(scope="session")
def peers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The beginning of each program's command, by language; level and fault follow."""
    found = {"python": f"{sys.executable} {PEERS / 'peer.py'}"}
    compiler = c_compiler()
    if compiler is not None:
        binary = tmp_path_factory.mktemp("peers") / "peer"
        subprocess.run([*compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-o", binary, PEERS / "peer.c"], check=True)
        found["c"] = str(binary)
    return found


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    reason = missing("c")
    gone = [] if reason is None else [item for item in items if _in_c(item)]
    if gone:
        items[:] = [item for item in items if item not in gone]
        config.hook.pytest_deselected(items=gone)
        warnings.warn(pytest.PytestWarning(f"not run: {len(gone)} tests of a program in C: {reason}"), stacklevel=1)


def _in_c(item: pytest.Item) -> bool:
    called = getattr(item, "callspec", None)
    here = "conformance/broadcast/programs/" in item.nodeid
    return here and called is not None and called.params.get("language") == "c"
