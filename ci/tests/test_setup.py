"""`ci/setup` where it must stop, in a copy of the scripts: nothing is fetched, nothing half made is trusted."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("ci/setup", "ci/uv_settings.py", "requirements.lock", "requirements-jre.lock", "pyproject.toml")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in NEEDED:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def set_up(project: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", str(project / "ci/setup")],
        env={**os.environ, "CI": "true", **environment},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def stand_in(folder: Path, name: str, script: str) -> Path:
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


def test_a_wrong_python_ends_in_one_sentence_and_exit_3(project: Path) -> None:
    run = set_up(project, SCATTERPROOF_PYTHON=str(stand_in(project / "bin", "python9", "exit 1")))

    assert run.returncode == 3
    assert run.stdout == ""
    assert len(run.stderr.splitlines()) == 1
    assert "Python 3.11 is needed" in run.stderr
    assert not (project / ".venv").exists()


def test_a_python_without_venv_is_named_with_the_mend(project: Path) -> None:
    # Answers the question for its version like 3.11, and fails as Debian's Python without its venv package does.
    python = stand_in(
        project / "bin", "python3.11", '[ "$1" = -c ] && exit 0; [ "$1" = --version ] && echo 3.11; exit 1'
    )

    run = set_up(project, SCATTERPROOF_PYTHON=str(python))

    assert run.returncode == 3
    assert "venv" in run.stderr.splitlines()[-1]
    assert "python3.11-venv" in run.stderr


def test_an_environment_elsewhere_is_left_alone(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "kept").touch()
    (project / ".venv").symlink_to(elsewhere)

    run = set_up(project)

    assert (run.returncode, len(run.stderr.splitlines())) == (3, 1)
    assert "is a link" in run.stderr
    assert (elsewhere / "kept").exists()


def test_an_environment_without_its_stamp_is_not_trusted(project: Path) -> None:
    """The folder of an interrupted set-up looks whole; only the stamp, written last, says that it is."""
    works = stand_in(project / "bin", "python", "exit 0")
    (project / ".venv/bin").mkdir(parents=True)
    shutil.copy(works, project / ".venv/bin/python")

    run = set_up(project, SCATTERPROOF_PYTHON=str(stand_in(project / "bin", "python9", "exit 1")))

    assert run.returncode == 3  # it went on to make the environment, for which this Python will not do


@pytest.mark.slow
def test_two_set_ups_at_once_and_a_failing_install_leave_no_stamp(project: Path) -> None:
    """With no index to install from, both runs fail in turn, each saying so, and neither is trusted afterwards."""
    nowhere = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(project / "absent"), "PIP_CONFIG_FILE": os.devnull}
    command = ["bash", str(project / "ci/setup")]
    environment = {**os.environ, "CI": "true", **nowhere}
    runs = [
        subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        for _ in range(2)
    ]
    ends = [(run.communicate()[1], run.returncode) for run in runs]

    assert [code for _, code in ends] == [3, 3]
    assert all("could not be installed" in words for words, _ in ends)
    assert sum("waiting for it" in words for words, _ in ends) == 1
    assert not (project / ".venv/stamps/packages").exists()
