"""Every module of ours has one name: under the folder's name alone its classes would be there a second time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scatterproof.spec.plugins import PACKAGES
from scatterproof.tests.by_folder import linked

ROOT = Path(__file__).resolve().parents[2]
# Imports all that is in a checkout but tests and examples; what others' packages lack is left out. Then it says how
# many modules that were, and which files are there under two names.
ALL = """
import importlib, json, os, pathlib, sys
for folder, inner, files in os.walk("scatterproof", followlinks=True):
    inner[:] = sorted({*inner} - {"tests", "__pycache__", "examples"})
    for name in sorted(files):
        module = pathlib.Path(folder, name).with_suffix("")
        if name.endswith(".py") and name not in ("__main__.py", "__init__.py", "conftest.py"):
            try:
                importlib.import_module(".".join(module.parts))
            except ModuleNotFoundError as error:
                assert error.name.split(".")[0] in ("duckdb", "nats", "polars"), error
loaded = {name: os.path.realpath(m.__file__) for name, m in sys.modules.items() if getattr(m, "__file__", None)}
ours = {name: file for name, file in loaded.items() if file.startswith(os.getcwd() + os.sep) and ".venv" not in file}
print(json.dumps([len(ours), sorted(name for name in ours if not name.startswith("scatterproof"))]))
"""


@pytest.mark.slow
def test_all_modules_together_are_below_one_package() -> None:
    # With the folder itself on the path, so that an import by a folder's name would find something.
    done = subprocess.run([sys.executable, "-c", ALL], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    count, others = json.loads(done.stdout)
    assert others == []
    assert count > 400


def test_no_test_has_imported_one_by_a_folders_name() -> None:
    """All tests of this run have been read by now."""
    assert sorted({name.partition(".")[0] for name in sys.modules}.intersection(PACKAGES)) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_an_import_by_a_folders_name_is_refused(package: str) -> None:
    done = subprocess.run([sys.executable, "-c", f"import {package}"], cwd=ROOT, capture_output=True, text=True)
    assert f"ImportError: import scatterproof.{package}: under the folder's name" in done.stderr


@pytest.mark.parametrize("package", PACKAGES)
def test_in_a_checkout_a_package_is_a_link_to_its_folder(package: str) -> None:
    assert os.readlink(ROOT / "scatterproof" / package) == f"../{package}"


@pytest.mark.parametrize(
    ("given", "here", "taken"),
    [
        ("spec/tests", "", "scatterproof/spec/tests"),
        ("impl/conftest.py::one::two[a/b]", "", "scatterproof/impl/conftest.py::one::two[a/b]"),
        (f"{ROOT}/fuzz", "", "scatterproof/fuzz"),
        ("tests", "models", "../scatterproof/models/tests"),
        (".", "spark", "../scatterproof/spark"),
        ("scatterproof/spec", "", "scatterproof/spec"),
        ("scatterproof::TO-MONO", "", "scatterproof::TO-MONO"),
        ("ci/tests", "", "ci/tests"),
        ("spec/no_such", "", "spec/no_such"),
        (".", "", "."),
        ("/", "", "/"),
    ],
)
def test_pytest_takes_a_folder_for_the_link_to_it(given: str, here: str, taken: str) -> None:
    assert linked(given, ROOT, ROOT / here) == taken


def test_tests_named_by_folder_are_read_under_their_one_name() -> None:
    words = ["-q", "--collect-only", "-p", "no:cacheprovider", "-k", "spec", "spec", "impl/conftest.py"]
    done = subprocess.run([sys.executable, "-m", "pytest", *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    names = [line.partition("::")[0] for line in done.stdout.splitlines() if "::test_" in line]
    assert {os.path.dirname(name) for name in names} == {"scatterproof/spec/tests"}


def test_a_run_of_the_whole_folder_reads_no_test_twice() -> None:
    words = ["-q", "--collect-only", "-p", "no:cacheprovider", ".", "--ignore=scatterproof", "--ignore=ci"]
    done = subprocess.run([sys.executable, "-m", "pytest", *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, done.stdout
