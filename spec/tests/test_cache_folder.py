"""What is compiled is loaded as code: from no folder into which others could have put some."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from scatterproof.spec.errors import CannotRun
from scatterproof.spec.files import cache_folder


@pytest.fixture
def chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("SCATTERPROOF_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_new_folder_is_made_for_its_user_alone(chosen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cache_folder() == chosen
    assert chosen.stat().st_mode & 0o777 == 0o700
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
@pytest.mark.parametrize("place", [".", "kernels", "kernels/__pycache__"])
def test_a_folder_that_others_may_write_to_is_passed_over_with_a_sentence(
    place: str, mode: int, chosen: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (chosen / place).mkdir(parents=True)
    (chosen / place).chmod(mode)
    own = tmp_path / "tmp" / f"scatterproof-{os.getuid()}"
    assert [cache_folder(), cache_folder()] == [own, own]
    assert own.stat().st_mode & 0o777 == 0o700
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith(f"{chosen / place} is open to others to write to (mode {mode:o}): ")


def test_a_folder_of_another_user_is_refused(chosen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So is the one beside it, where somebody was there first."""
    chosen.mkdir()
    owner = chosen.stat().st_uid
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    with pytest.raises(CannotRun, match=f"cache belongs to another user \\(number {owner}\\), and .*scatterproof-"):
        cache_folder()
