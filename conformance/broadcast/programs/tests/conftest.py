"""The small programs under `peers`, ready to be run; the one in C is compiled once a session."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PEERS = Path(__file__).parent / "peers"


@pytest.fixture(scope="session")
def peers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The beginning of each program's command, by language; level and fault follow."""
    binary = tmp_path_factory.mktemp("peers") / "peer"
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", binary, PEERS / "peer.c"], check=True)
    return {"c": str(binary), "python": f"{sys.executable} {PEERS / 'peer.py'}"}
