"""What is shipped, and what executors are asked before they get work; test_cluster.py does it on a cluster."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from scatterproof.spark import shipping
from scatterproof.spark.shipping import (
    CACHE,
    CODE,
    NEEDED,
    PACKAGE,
    refuse_unfit,
    refuse_unshared,
    settle_in,
    write_archive,
)
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.plugins import PACKAGES

# All that tasks begin with, and what they load of each protocol; then where that was, and which packages it has taken.
ALONE = """
import json, sys
import scatterproof.fuzz.spread, scatterproof.iuts, scatterproof.spark.corpus, scatterproof.spark.incremental
import scatterproof.spark.importing.import_traces
from scatterproof import conformance, fuzz, spec
assert len(spec.clauses.protocols()) > 1
for protocol in spec.clauses.protocols():
    conformance.protocol.load(protocol)
    fuzz.protocol.load(protocol)
    assert spec.clauses.load(protocol).clauses
    assert spec.trace.schema(protocol).columns
print(json.dumps([spec.__file__, sorted({name.split(".")[0] for name in sys.modules})]))
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shipped")
    write_archive(folder / "code.zip")
    with zipfile.ZipFile(folder / "code.zip") as archive:
        archive.extractall(folder / CODE)
    return folder


def test_all_packages_of_the_project_are_shipped_without_their_tests(unpacked: Path) -> None:
    assert [path.name for path in (unpacked / CODE).iterdir()] == [PACKAGE]
    beginnings = {path.parent.name for path in (unpacked / CODE / PACKAGE).glob("*/__init__.py")}
    assert beginnings == {*PACKAGES, "commands", "layers"}
    assert not [path for path in (unpacked / CODE).rglob("*") if path.name in ("tests", "__pycache__")]


def test_what_is_shipped_runs_by_itself_with_its_data_files(unpacked: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-c", ALONE],
        cwd=unpacked,
        env={"PYTHONPATH": CODE},
        capture_output=True,
        text=True,
        check=True,
    )
    place, loaded = json.loads(said.stdout)
    assert Path(place).is_relative_to(unpacked / CODE)
    # Spark itself is there wherever there are executors; by editables a checkout is found, which is not asked here.
    assert set(loaded) & _required() - {"pyspark", "editables"} == set(NEEDED)


def _required() -> set[str]:
    """The packages that the project asks for, by the names that they are imported by."""
    asked = {re.split(r"[^\w.-]", name)[0] for name in requires("scatterproof") or ()}
    owned = packages_distributions().items()
    return {name for name, owners in owned if asked.intersection(owners) and not name.startswith("_")}


def test_executors_without_a_package_are_refused_by_its_name(
    session: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipping, "NEEDED", ("numpy", "no_such_package"))
    with pytest.raises(CannotRun, match=rf"executors' Python \({sys.executable}\) lacks no_such_package; spark/README"):
        refuse_unfit(session.sparkContext)


def test_executors_without_our_code_are_refused(session: SparkSession) -> None:
    """On this machine nothing is shipped, and tasks find the code where it is."""
    with pytest.raises(CannotRun, match=f"does not find the code that was shipped \\({CODE}\\)"):
        refuse_unfit(session.sparkContext)


def test_a_folder_that_all_see_is_left_as_it_was(session: SparkSession, tmp_path: Path) -> None:
    refuse_unshared(session.sparkContext, tmp_path)
    assert not list(tmp_path.iterdir())
    with pytest.raises(BadInput, match=r"gone: nothing can be written there: No such file or directory; give another"):
        refuse_unshared(session.sparkContext, tmp_path / "gone")


def test_a_folder_that_executors_do_not_see_is_refused(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = shipping._ask
    monkeypatch.setattr(shipping, "_ask", lambda context, mark: ask(context, f"{mark}-elsewhere"))
    with pytest.raises(BadInput, match=r"the executors of local\[\d\] do not see what is written there; give a folder"):
        refuse_unshared(session.sparkContext, tmp_path)


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        ("x\n  [PYTHON_VERSION_MISMATCH] Python in worker has ...\n y", "Python is not 3.11, as here; spark/README.md"),
        ('java.io.IOException: Cannot run program "/No/such": error=2, No such file', 'cannot run program "/No/such":'),
        ("one\n two\n", "the executors run no Python tasks: two"),
    ],
)
def test_why_no_task_has_run_is_one_sentence(report: str, sentence: str) -> None:
    assert sentence in shipping._why(report)


def test_tasks_keep_what_they_compile_where_they_may_write(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    for cache, expected in (
        (tmp_path / "own", tmp_path / "own"),
        (tmp_path / "file" / "below", tmp_path / CACHE),
    ):
        monkeypatch.setenv("SCATTERPROOF_CACHE", str(cache))
        monkeypatch.setenv("PYTHONPATH", f"{CODE}:/elsewhere")
        settle_in()
        settle_in()
        assert os.environ["SCATTERPROOF_CACHE"] == str(expected)
        assert os.environ["PYTHONPATH"] == f"{tmp_path / CODE}:/elsewhere"
