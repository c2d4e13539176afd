"""Folders that take long to make: what was finished is used again, and nothing half-made or of other settings is."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from scatterproof.spark.unfinished import Unfinished, unfinished_folder
from scatterproof.spec.errors import BadInput, CannotRun

MARK = "whole"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def finish(unfinished: Unfinished, *words: str) -> None:
    for word in words:
        (unfinished.folder / word).write_text(word)
        (unfinished.notes / word).touch()


def broken_off(target: Path, settings: bytes, *words: str) -> None:
    """As after a kill: whoever made the folder has left, and cleaned nothing up."""
    with suppress(KeyboardInterrupt), unfinished_folder(target, MARK, settings) as unfinished:
        finish(unfinished, *words)
        (unfinished.folder / ".half").mkdir()
        (unfinished.folder / ".half" / "x").write_text("x")
        raise KeyboardInterrupt


def test_what_was_finished_is_there_again_and_nothing_half_made(tmp_path: Path) -> None:
    target = tmp_path / "made"
    broken_off(target, b"settings", "one")
    assert not target.exists()
    with unfinished_folder(target, MARK, b"settings") as unfinished:
        assert (unfinished.goes_on, unfinished.others) == (True, False)
        assert names(unfinished.folder) == names(unfinished.notes) == ["one"]
        finish(unfinished, MARK)
    assert names(tmp_path) == ["made"]
    assert names(target) == ["one", MARK]


def test_other_settings_begin_anew(tmp_path: Path) -> None:
    target = tmp_path / "made"
    broken_off(target, b"settings", "one")
    with unfinished_folder(target, MARK, b"others") as unfinished:
        assert (unfinished.goes_on, unfinished.others) == (False, True)
        assert names(unfinished.folder) == names(unfinished.notes) == []
        finish(unfinished, MARK)
    assert names(tmp_path) == ["made"]
    assert names(target) == [MARK]


def test_where_nothing_was_finished_nothing_is_left(tmp_path: Path) -> None:
    broken_off(tmp_path / "made", b"settings")
    assert names(tmp_path) == []


def test_an_older_folder_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "made"
    for word in ("old", "new"):
        broken_off(target, word.encode(), f"{word} part")
        assert names(target) == ["old", MARK] if word == "new" else not target.exists()
        with unfinished_folder(target, MARK, word.encode()) as unfinished:
            (unfinished.folder / f"{word} part").unlink()
            finish(unfinished, MARK, word)
    assert names(tmp_path) == ["made"]
    assert names(target) == ["new", MARK]


def test_a_kill_between_the_last_two_moves_loses_nothing(tmp_path: Path) -> None:
    target = tmp_path / "made"
    with unfinished_folder(target, MARK, b"old") as unfinished:
        finish(unfinished, MARK, "old")
    broken_off(target, b"new", MARK, "new")
    (work,) = (path for path in (tmp_path / ".made.unfinished").iterdir() if path.is_dir())
    target.rename(work / "replaced")
    with unfinished_folder(target, MARK, b"new") as unfinished:
        assert unfinished.goes_on
    assert names(tmp_path) == ["made"]
    assert names(target) == ["new", MARK]


def test_two_at_once_are_refused_and_the_first_one_goes_on(tmp_path: Path) -> None:
    target = tmp_path / "made"
    with unfinished_folder(target, MARK, b"settings") as first:
        for settings in (b"settings", b"others"):
            with (
                pytest.raises(CannotRun, match=r"made: another command is making it; wait until that has ended"),
                unfinished_folder(target, MARK, settings),
            ):
                raise AssertionError
        finish(first, MARK)
    assert names(target) == [MARK]


def test_somebodys_own_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "thesis.txt").write_text("x")
    with (
        pytest.raises(BadInput, match="exists, and is no folder with a whole"),
        unfinished_folder(tmp_path / "own", MARK, b"settings"),
    ):
        raise AssertionError
    assert names(tmp_path) == ["own"]
