"""Packages import in one direction: spec <- models, impl, conformance <- fuzz, spark <- scatterproof."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def breaches(root: Path) -> list[str]:
    """What `ci/tidy` says of the imports under `root`, without its closing line."""
    command = [sys.executable, str(ROOT / "ci/tidy.py"), "--rule", "imports", str(root)]
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    assert lines[-1].startswith("tidy: ")
    assert not lines[-1].startswith("tidy: 0 files")
    return lines[:-1]


def test_no_package_imports_against_the_direction() -> None:
    assert breaches(ROOT) == []


@pytest.mark.parametrize(("judge", "defendant"), [("impl", "conformance"), ("conformance", "impl")])
def test_the_judge_and_the_defendant_never_import_each_other(judge: str, defendant: str, tmp_path: Path) -> None:
    (tmp_path / judge).mkdir()
    (tmp_path / judge / "codec.py").write_text(f"from {defendant}.codec import encode\n")

    assert len(breaches(tmp_path)) == 1
