"""What an installation without an extra says, and that the distribution asks for all that is imported."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from scatterproof.spec.extras import EXTRAS
from scatterproof.spec.plugins import PACKAGES

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Whose packages a folder may import when it is itself imported: for all others, a module of an extra is imported late.
FOLDERS = {"models": "models", "spark": "spark"}
ALONE = {
    "impl/bmv2/runtime.py": "p4",
    "impl/pubsub/running/signing.py": "signing",
    "impl/workqueue/stores/postgresql.py": "queue",
}
# The last ones are compared with, and `ci/tools` installs them.
OTHERS = {*sys.stdlib_module_names, "scatterproof", "duckdb", "nats", "polars"}
# Runs the console where no package of an extra is found.
BARE = """
import importlib.metadata, sys
gone, packages = set({modules!r}), set({packages!r})
class Gone:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in gone:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Gone())
version = importlib.metadata.version
def asked(name):
    if name in packages:
        raise importlib.metadata.PackageNotFoundError(name)
    return version(name)
importlib.metadata.version = asked
from scatterproof.cli import main
main()
"""


def bare(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    modules = {module for extra in EXTRAS.values() for module in extra}
    packages = {package for extra in EXTRAS.values() for package in extra.values()}
    program = BARE.format(modules=sorted(modules), packages=sorted(packages))
    return subprocess.run([sys.executable, "-c", program, *words], cwd=cwd, capture_output=True, text=True)


def named(requirements: list[str]) -> set[str]:
    return {re.split(r"[^\w.-]", requirement)[0] for requirement in requirements}


def imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield str(node.module).partition(".")[0]


def test_the_extras_are_those_of_the_distribution() -> None:
    asked = {extra: named(requirements) for extra, requirements in PROJECT["optional-dependencies"].items()}
    assert {extra: set(packages.values()) for extra, packages in EXTRAS.items()} == asked


def test_every_module_imports_only_what_its_installation_has() -> None:
    owners = {module: {name.lower() for name in names} for module, names in packages_distributions().items()}
    base = named(PROJECT["dependencies"])
    further = {module: package for extra in EXTRAS.values() for module, package in extra.items()}
    wrong = []
    for package in (*PACKAGES, "scatterproof"):
        for file in sorted((ROOT / package).rglob("*.py")):
            place = file.relative_to(ROOT).as_posix()
            if {"tests", "examples"}.intersection(file.parts) or file.name == "conftest.py":
                continue
            extra = ALONE.get(place, FOLDERS.get(package, ""))
            tree = ast.parse(file.read_text(encoding="utf-8"))
            at_once, ever = set(imported(tree.body)), set(imported(ast.walk(tree)))
            for modules, has in ((at_once, EXTRAS.get(extra, {})), (ever, further)):
                theirs = modules - OTHERS - has.keys()
                wrong += [(place, module) for module in theirs if not base.intersection(owners.get(module, ()))]
    assert wrong == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("mine nowhere", "pyspark is not installed, and this needs it: pip install 'scatterproof[spark]'"),
        ("corpus --out c", "pyspark is not installed, and this needs it: pip install 'scatterproof[spark]'"),
        ("fuzz --master local[1]", "pyspark is not installed, and this needs it: pip install 'scatterproof[spark]'"),
        (
            "appliance key k",
            "cryptography is not installed, and this needs it: pip install 'scatterproof[signing]'",
        ),
        ("check any", "z3-solver is not installed, and this needs it: pip install 'scatterproof[models]'"),
    ],
)
def test_a_command_without_its_extra_says_which(tmp_path: Path, words: str, said: str) -> None:
    done = bare(*words.split(), cwd=tmp_path)
    assert (done.returncode, done.stderr.splitlines()[-1:]) == (3, [f"scatterproof: {said}"])
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_judging_and_fuzzing_need_no_extra(tmp_path: Path) -> None:
    assert bare("conform", "--case", "TO-DELIVER/itself-only", cwd=tmp_path).returncode == 0
    assert bare("fuzz", "--examples", "2", cwd=tmp_path).returncode in (0, 4)


@pytest.mark.slow
def test_the_main_job_leaves_out_layers_without_their_extra_and_says_which(tmp_path: Path) -> None:
    words = [word for layer in ("tlc", "z3", "conform", "mine") for word in ("--only", layer)]
    done = bare("verify", "--protocol", "broadcast", *words, "--json", cwd=tmp_path)
    assert "Traceback" not in done.stderr
    layers = {layer["layer"]: layer for layer in json.loads(done.stdout)["layers"]}
    assert {name: layer["status"] for name, layer in layers.items()} == {
        "tlc": "not run", "z3": "not run", "conform": "pass", "mine": "not run",
    }  # fmt: skip
    assert "pip install 'scatterproof[models]'" in layers["tlc"]["sentence"]
    assert "pip install 'scatterproof[models]'" in layers["z3"]["sentence"]
    assert "pip install 'scatterproof[spark]'" in layers["mine"]["sentence"]


def test_doctor_says_which_extra_a_layer_needs(tmp_path: Path) -> None:
    done = bare("doctor", "--json", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert done.returncode == 3
    assert {name for name, can in found["layers"].items() if can} == {"conform", "fuzz"}
    needs = {name: needed.partition("[")[2].partition("]")[0] for name, needed in found["needs"].items()}
    assert needs == {"tlc": "models", "z3": "models", "conform": "", "fuzz": "", "mine": "spark"}
    (p4,) = (tool for tool in found["tools"] if tool["tool"] == "p4runtime-shell")
    assert p4["where"] == "pip install 'scatterproof[p4]'"
