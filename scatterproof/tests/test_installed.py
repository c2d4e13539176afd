"""What an installation puts into other people's environments: one package, beside which a project may have folders of
any name. The environment of the wheel is new; its packages are those of this one, lent, since Spark and the solvers
would take minutes to install."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

from scatterproof.spec.plugins import PACKAGES

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
NAMES = (*PACKAGES, "ci")
CHOSEN = "itself-only or one-instant or test_own"
# In the user's project: its own folders are what their names mean, and Scatterproof is the one that is installed.
THEIRS = f"""
import importlib, os, pathlib
import pytest
HERE = pathlib.Path(__file__).parent
@pytest.mark.parametrize("name", {NAMES!r})
def test_own(name):
    own = importlib.import_module(f"{{name}}.own")
    assert pathlib.Path(own.__file__).parent == HERE / name
    import scatterproof.conformance.judge, scatterproof.pytest_plugin
    assert pathlib.Path(scatterproof.__file__).is_relative_to(os.environ["SCATTERPROOF_THERE"])
"""


def run(*words: str | Path, cwd: Path, there: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"SCATTERPROOF_THERE": str(there)}
    done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def build(source: Path, folder: Path) -> Path:
    """The wheel, built with what is here."""
    run(
        *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"),
        *("--disable-pip-version-check", "--wheel-dir", folder, source),
        cwd=folder,
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder)
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=folder)
    (site,) = folder.glob("lib/python*/site-packages")
    # Behind its own: what makes this checkout an editable installation is a file that is not looked at there.
    (site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Somebody's project: packages and plain folders of all our names."""
    for number, name in enumerate(NAMES):
        (tmp_path / name).mkdir()
        (tmp_path / name / "own.py").touch()
        if number % 2:
            (tmp_path / name / "__init__.py").touch()
    (tmp_path / "test_theirs.py").write_text(THEIRS)
    return tmp_path


def test_a_wheel_has_one_package_and_all_of_its_files(wheel: Path) -> None:
    found = {name for name in contents(wheel) if ".dist-info/" not in name}
    listing = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *PACKAGES, "scatterproof")
    files = {name for name in run(*listing, cwd=ROOT).stdout.split("\0") if (ROOT / name).is_file()}
    assert found == {name if name.startswith("scatterproof/") else f"scatterproof/{name}" for name in files}


def test_a_wheel_that_is_built_from_the_source_distribution_is_the_same(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", tmp_path, cwd=ROOT)
    (source,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        assert not [member.name for member in archive if member.issym()]
    assert contents(build(source, tmp_path)) == contents(wheel)


@pytest.mark.parametrize("iut", ["reference", "stdio:{python} -m scatterproof.impl.drivers.stdio"])
def test_the_plugin_runs_beside_folders_of_any_name(installed: Path, project: Path, iut: str) -> None:
    words = (
        "-q",
        "-p",
        "no:cacheprovider",
        "-k",
        CHOSEN,
        f"--scatterproof-iut={iut.format(python=installed)}",
    )
    done = run(installed, "-m", "pytest", *words, cwd=project, there=installed.parents[1])
    assert f"{len(NAMES) + 2} passed" in done.stdout


def test_so_it_does_where_the_installation_is_editable(project: Path) -> None:
    words = ("-q", "-p", "no:cacheprovider", "-k", CHOSEN, "--scatterproof-iut=reference")
    done = run(sys.executable, "-m", "pytest", *words, cwd=project)
    assert f"{len(NAMES) + 2} passed" in done.stdout


def test_the_console_finds_its_files_there(installed: Path, project: Path) -> None:
    console = installed.with_name("scatterproof")
    run(console, "conform", "--case", "TO-DELIVER/itself-only", "--iut", "reference-stdio", cwd=project)
    run(console, "check", "environment_a_standing_clocks", cwd=project)
