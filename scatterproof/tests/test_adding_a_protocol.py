"""docs/adding-a-protocol.md: its blocks, written into a copy of the project and nothing else, are a protocol that goes
through every layer; and whoever leaves something out is told in a sentence what is missing."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from scatterproof.commands.protocols import RECORDS
from scatterproof.layers.every import LAYERS
from scatterproof.tests.tutorials import (
    BLOCK,
    REQUIRED,
    ROOT,
    Tutorial,
    explored,
    files_of,
    git,
    given,
    project_with,
    static_checks,
    tried,
    verified,
)

PAGE = "adding-a-protocol.md"
NAME = "parcels"
FILES = files_of(PAGE)
MOST_LINES = 430  # of Python that are not empty; a third are imports and docstrings


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project_with(FILES, tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="module")
def said(tree: Path) -> dict[str, Any]:
    return verified(tree, NAME)


def test_it_is_small() -> None:
    python = [line for name, text in FILES.items() if name.endswith(".py") for line in text.splitlines()]
    assert sum(bool(line.strip()) for line in python) <= MOST_LINES


def test_it_says_what_each_hook_that_it_leaves_out_is_for() -> None:
    text = BLOCK.sub("", (ROOT / "docs" / PAGE).read_text(encoding="utf-8"))
    for package, record in RECORDS.items():
        left = {field.name for field in fields(record)} - {word.arg for word in TUTORIAL.plugin_of(package)[1].keywords}
        assert {hook for hook in left if f"`{hook}`" not in text} == set(), package


@pytest.mark.slow
def test_every_layer_passes_or_says_why_it_cannot_run(said: dict[str, Any]) -> None:
    layers = {layer["layer"]: layer for layer in said["layers"]}
    assert said["verdict"] == "pass"
    assert set(layers) == {layer.name for layer in LAYERS}
    assert {name: layer["status"] for name, layer in layers.items() if layer["status"] != "pass"} == {
        "conform-udp": "not run"
    }
    (over_sockets,) = layers["conform-udp"]["details"]
    assert all("have no number on their link" in row[-1] for row in over_sockets["rows"])
    assert {cell["status"] for clause in said["clauses"] for cell in clause["cells"]} == {
        "pass", "not run", "not yet",
    }  # fmt: skip


@pytest.mark.slow
def test_mutants_are_killed_and_what_the_layer_leaves_out_is_said(said: dict[str, Any]) -> None:
    (mutants,) = (layer for layer in said["layers"] if layer["layer"] == "mutants")
    assert re.search(r"^[1-9]\d* mutants killed, 0 proved equivalent, 0 open", mutants["sentence"])
    assert "each of 3 clauses is broken by one" in mutants["sentence"]
    assert "no core mutants: the protocol's record in fuzz names no areas" in mutants["sentence"]


@pytest.mark.slow
def test_the_pages_say_what_they_leave_out(tree: Path, said: dict[str, Any]) -> None:
    page = (tree / "report" / "index.html").read_text(encoding="utf-8")
    assert "PA-ORDER" in page
    assert "(traces, in models)" in page
    mined = (tree / "results" / "corpus" / "mined" / "report.html").read_text(encoding="utf-8")
    assert "not measured, as the protocol" in mined


@pytest.mark.slow
def test_a_run_is_stepped_through(tree: Path, said: dict[str, Any]) -> None:
    assert "no. 1 of" in explored(tree, run=3, row=5)


@pytest.mark.slow
@pytest.mark.parametrize("words", static_checks(NAME), ids=lambda words: " ".join(words[:3]))
def test_static_checks_have_nothing_to_say(tree: Path, words: list[str]) -> None:
    run = given(tree, *words)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.slow
def test_no_file_of_the_project_is_another_one(tree: Path, said: dict[str, Any]) -> None:
    """After all that."""
    assert git(tree, "diff", "--name-only") == []
    assert set(git(tree, "ls-files", "--others", "--exclude-standard")) == set(FILES)


# ------------------------------------------------------------------------------------------------ what is left out


TUTORIAL = Tutorial(NAME, FILES)
only, without_hook = TUTORIAL.only, TUTORIAL.without_hook
PROTOCOLS = ["protocols", "--protocol", NAME]
# Files, the command that asks for them, and what it says.
NEEDED = {
    f"spec/{NAME}/clauses.toml": (PROTOCOLS, f"{NAME!r} is unknown; choose one of"),
    f"spec/{NAME}/trace.toml": (PROTOCOLS, f"{NAME!r} is unknown; choose one of"),
    f"spec/{NAME}/messages.py": (PROTOCOLS, f"spec/{NAME}: there is no spec/{NAME}/messages.py"),
    f"spec/{NAME}/Parcels.tla": (only("tlc"), "names Parcels.tla, which is not in"),
    f"spec/{NAME}/Parcels.cfg": (only("tlc"), "names Parcels.cfg, which is not in"),
    f"models/{NAME}/order.py": (only("z3"), f"models/{NAME}: there is no models/{NAME}/order.py"),
    f"impl/{NAME}/rules.py": (PROTOCOLS, f"impl/{NAME}: there is no impl/{NAME}/rules.py"),
    f"impl/{NAME}/wire.py": (PROTOCOLS, f"impl/{NAME}: cannot import name 'wire' from 'scatterproof.impl.{NAME}'"),
    f"impl/{NAME}/__init__.py": (
        PROTOCOLS,
        f"impl/{NAME}: cannot import name 'make_core' from 'scatterproof.impl.{NAME}'",
    ),
    **{
        f"conformance/{NAME}/{part}.py": (only("conform"), f"there is no conformance/{NAME}/{part}.py")
        for part in ("checks", "oracles", "cases")
    },
    f"conformance/{NAME}/cases.toml": (only("conform"), f"conformance/{NAME}/cases.toml: no such cases file"),
    **{
        f"{package}/{NAME}/plugin.py": (PROTOCOLS, f"{package}/{NAME}: there is no {package}/{NAME}/plugin.py")
        for package in RECORDS
    },
}
# What a protocol may do without, the layers that are asked, and what they say.
OPTIONAL: dict[str, tuple[dict[str, str | None], list[str], str]] = {
    "models": ({f"spec/{NAME}/models.toml": None}, only("tlc"), "tlc: not run, protocol 'parcels' has no models yet"),
    "claims": (without_hook("models", "claims"), only("z3"), "z3: not run, protocol 'parcels' has no Z3 claims yet"),
    "model by its name": (
        without_hook("models", "claims"),
        ["check", "--protocol", NAME, "any_is_due"],
        "1 of 1 models as expected",
    ),
    "proofs": ({f"models/{NAME}": None}, only("z3"), "z3: not run, protocol 'parcels' has no Z3 claims yet"),
    "reference": (
        {f"impl/{NAME}": None, f"fuzz/{NAME}": None},
        only("conform"),
        "conform: not run, protocol 'parcels' has no reference implementation yet",
    ),
    "judge": (
        {f"conformance/{NAME}": None},
        only("conform"),
        "conform: not run, protocol 'parcels' has no conformance checks yet",
    ),
    "fuzzing": (
        {f"fuzz/{NAME}": None},
        only("fuzz", "mutants"),
        "fuzz: not run, protocol 'parcels' has no fuzzing yet",
    ),
    "corpora": ({f"spark/{NAME}": None}, only("mine"), "mine: not run, protocol 'parcels' has no corpora yet"),
}
# Hooks that are given and may be left out, the command that misses each, its exit code, and what it says then.
SCHEDULE = {
    "protocol": NAME,
    "topology": {
        "nodes": [{"name": name, "role": "host"} for name in ("ann", "bob")],
        "links": [{"source": 0, "target": 1}, {"source": 1, "target": 0}],
    },
    "submissions": [{"time_ns": 0, "node": 0, "messages": [{"receiver": 1, "payload": "MA=="}]}],
    "delays": [{"base_ns": 1000, "jitter_ns": 0}] * 2,
    "seed": 1,
}
BEFALLING = {
    "lost": {"faults": [{"link": 0, "index": 0, "kind": "lose"}]},
    "down": {"failures": [{"kind": "crash", "node": 1, "time_ns": 500}]},
}
MUTANT = ["fuzz", "--mutants", "--protocol", NAME, "--json", "--only", "is_due/always"]
GIVEN: dict[tuple[str, str], tuple[list[str], int, str]] = {
    ("spec", "delivery"): (only("conform-stdio"), 4, "0 of 3 cases passed by reference-stdio"),
    ("models", "claims"): (only("z3"), 3, "z3: not run"),
    ("conformance", "allowed_faults"): (["replay", "results/lost.json"], 1, "PA-ALL"),
    ("conformance", "allowed_failures"): (["replay", "results/down.json"], 1, "PA-ALL"),
    ("conformance", "fifo_links"): (only("mutants"), 1, "mutants: fail"),
    ("fuzz", "on_model"): (MUTANT, 0, '"tlc": 0'),
    ("fuzz", "breaks"): (only("mutants"), 0, "none is named that breaks a clause"),
}


def test_every_hook_that_is_given_is_left_out_by_a_test() -> None:
    assert TUTORIAL.optional_hooks() == set(GIVEN)


@pytest.mark.slow
def test_a_hook_that_may_be_left_out_is_missed_by_a_command(tree: Path) -> None:
    (tree / "results").mkdir(exist_ok=True)
    for name, more in BEFALLING.items():
        (tree / "results" / f"{name}.json").write_text(json.dumps(SCHEDULE | more), encoding="utf-8")
    TUTORIAL.assert_missed(tree, GIVEN)


@pytest.mark.slow
def test_a_hook_that_must_be_there_is_missed_in_a_sentence(tree: Path) -> None:
    tries = [(without_hook(package, hook), PROTOCOLS) for package, _, hook in REQUIRED]
    for (package, record, hook), (code, said) in zip(REQUIRED, tried(tree, tries), strict=True):
        assert f"{package}/{NAME}/plugin.py: {record} missing 1 required keyword-only argument: '{hook}'" in said
        assert code == 2
        assert "Traceback" not in said


@pytest.mark.slow
def test_a_file_that_must_be_there_is_missed_in_a_sentence(tree: Path) -> None:
    tries = [({name: None}, words) for name, (words, _) in NEEDED.items()]
    for (name, (_, expected)), (code, said) in zip(NEEDED.items(), tried(tree, tries), strict=True):
        assert expected in said, name
        assert code == 2, name
        assert "Traceback" not in said


def test_every_file_is_needed_or_says_only_what_its_package_is() -> None:
    optional = {name for files, _, _ in OPTIONAL.values() for name in files}
    others = {name for name in FILES if name not in NEEDED and name not in optional}
    assert {name for name in others if len(ast.parse(FILES[name]).body) > 1} == set()


@pytest.mark.slow
def test_what_may_be_left_out_is_said_by_its_layer(tree: Path) -> None:
    tries = [(files, words) for files, words, _ in OPTIONAL.values()]
    for (name, (_, _, expected)), (_, said) in zip(OPTIONAL.items(), tried(tree, tries), strict=True):
        assert expected in said, name
        assert "Traceback" not in said
