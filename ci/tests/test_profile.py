"""What Hypothesis draws in the tests is the same each time, unless one asks for other examples."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DRAWING = """
from hypothesis import given, settings, strategies as st

@settings(max_examples=20)
@given(st.integers())
def test_draws(number):
    with open("drawn", "a") as file:
        print(number, file=file)
"""


def test_examples_are_the_same_each_time_unless_other_ones_are_asked_for(tmp_path: Path) -> None:
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "test_drawing.py").write_text(DRAWING)

    def drawn(*options: str) -> tuple[str, str]:
        """The numbers, and what pytest says above its tests."""
        command = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", ".")
        done = subprocess.run((*command, *options), cwd=tmp_path, capture_output=True, text=True, check=True)
        numbers = (tmp_path / "drawn").read_text()
        (tmp_path / "drawn").unlink()
        return numbers, done.stdout

    fixed, header = drawn()
    assert "hypothesis draws the same examples each time" in header
    assert drawn()[0] == fixed
    other, header = drawn("--hypothesis-profile=random")
    assert "hypothesis draws other examples each time" in header
    assert other != fixed
