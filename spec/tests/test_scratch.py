"""What a killed process has left is removed by the next one, and what a living one uses is not."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from scatterproof.spec import scratch
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.files import IMPORTED_FROM
from scatterproof.spec.scratch import PREFIX, scratch_folder

HOLDS = """
import os, signal, sys
from scatterproof.spec.scratch import scratch_folder
with scratch_folder("test") as folder:
    (folder / "deep").mkdir()
    (folder / "deep" / "file").write_text("left")
    {after}
    print(folder, flush=True)
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)


def holder(after: str = "") -> subprocess.Popen[str]:
    """A process that has a scratch folder, until its stdin ends: then it is killed."""
    return subprocess.Popen(
        [sys.executable, "-c", HOLDS.format(after=after)],
        cwd=IMPORTED_FROM,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def folder_of(process: subprocess.Popen[str]) -> Path:
    assert process.stdout is not None
    return Path(process.stdout.readline().strip())


def sweep() -> None:
    """As a process does that starts."""
    scratch._sweep.cache_clear()
    with scratch_folder("sweeping"):
        pass


def test_a_scratch_folder_is_there_until_its_block_ends() -> None:
    with scratch_folder("it") as folder:
        (folder / "file").touch()
        assert folder.name.startswith(f"{PREFIX}it-")
    assert not folder.exists()


def test_the_folder_of_a_killed_process_is_removed_and_that_of_a_living_one_is_not(tmp_path: Path) -> None:
    with holder() as killed, holder() as living:
        left, used = folder_of(killed), folder_of(living)
        killed.communicate()
        assert (left / "deep" / "file").exists()
        sweep()
        assert not left.exists()
        assert (used / "deep" / "file").exists()
        living.communicate()
    sweep()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_a_forked_process_uses_stays_when_its_maker_is_killed() -> None:
    """The fork goes on until its stdin ends, as its maker did."""
    forks = "held = os.dup(0) if os.fork() else None\n    if held is None: sys.stdin.read(); os._exit(0)"
    read, write = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS.format(after=forks).replace("    sys.stdin.read()\n    os.kill", "    os.kill")],
        cwd=IMPORTED_FROM,
        stdin=read,
        stdout=subprocess.PIPE,
        text=True,
    ) as maker:
        folder = folder_of(maker)
        maker.wait()
        sweep()
        assert folder.exists()
        os.close(write)
        os.close(read)
        assert maker.stdout is not None
        assert maker.stdout.read() == ""  # the fork has ended
    sweep()
    assert not folder.exists()


@pytest.mark.parametrize("step", [(tempfile, "mkdtemp"), (fcntl, "flock")])
def test_a_folder_that_a_sweep_removes_while_it_is_made_is_made_again(
    step: tuple[ModuleType, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = getattr(*step)
    swept: list[Path] = []

    def and_a_sweep(*arguments: Any, **named: Any) -> Any:
        done = plain(*arguments, **named)
        if not swept:
            swept.extend(tmp_path.iterdir())
            swept[0].rmdir()
        return done

    monkeypatch.setattr(*step, and_a_sweep)
    with scratch_folder("it") as folder:
        assert folder.is_dir()
        assert folder not in swept
    assert len(swept) == 1


def test_what_is_no_scratch_folder_of_ours_stays(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(tmp_path / "scratch")
    (tmp_path / f"{PREFIX}file").touch()
    sweep()
    assert len(list(tmp_path.iterdir())) == 3


def test_where_none_can_be_made_it_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    with pytest.raises(CannotRun, match="file: no scratch folder can be made: Not a directory"), scratch_folder("it"):
        pass
