"""Pages of docs that are whole protocols: their blocks, written into a copy of the project and nothing else."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from scatterproof.commands.protocols import RECORDS

ROOT = Path(__file__).resolve().parents[2]
# A line that is a path alone, and the block behind it.
BLOCK = re.compile(r"^`([\w./]+)`\n\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COPIED = (*RECORDS, "scatterproof", "ci", "pyproject.toml", ".gitignore")
TYPES = ".mypy_cache"


def files_of(page: str) -> dict[str, str]:
    """Path and content of each file that the page in docs shows."""
    return dict(BLOCK.findall((ROOT / "docs" / page).read_text(encoding="utf-8")))


def given(tree: Path, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """A command of the environment's Python, in the tree."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(
        [sys.executable, *words],
        cwd=tree,
        env=environment | {"PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=False,
        **more,
    )


def git(tree: Path, *words: str) -> list[str]:
    """The lines that git says."""
    return subprocess.run(["git", *words], cwd=tree, check=True, capture_output=True, text=True).stdout.splitlines()


def project_with(files: dict[str, str], made: Path) -> Path:
    """The project without its tests, all in git's index, and then these files; and what mypy knows of the project: it
    holds that against each file that it reads."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, made / name, symlinks=True, ignore=shutil.ignore_patterns("tests", "__pycache__")
            )
        else:
            shutil.copy(ROOT / name, made / name)
    git(made, "init", "--quiet")
    git(made, "add", "--all")
    if (ROOT / TYPES).is_dir():  # `ci/test` has left it
        shutil.copytree(ROOT / TYPES, made / TYPES)
    for name, content in files.items():
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text(content, encoding="utf-8")
    return made


def verified(tree: Path, protocol: str, *options: str) -> dict[str, Any]:
    """What the main job says of the protocol."""
    run = given(tree, "-m", "scatterproof.cli", "verify", "--protocol", protocol, "--json", *options)
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def explored(tree: Path, *, run: int, row: int) -> str:
    """What the explorer says of a row of the corpus that the main job left, as JSON."""
    words = ["-m", "scatterproof.cli", "explore", "results/corpus", "--run", str(run), "--no-browser"]
    with subprocess.Popen(
        [sys.executable, *words], cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        address = child.stdout.readline().strip()
        with urllib.request.urlopen(f"{address}at?row={row}", timeout=60) as answer:
            told = json.load(answer)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=60)
    assert "Traceback" not in said
    return json.dumps(told)


REQUIRED = [
    (package, record.__name__, field.name)
    for package, record in RECORDS.items()
    for field in fields(record)
    if field.default is MISSING and field.default_factory is MISSING
]
# Hooks that a page gives and that may be left out: the command that misses each, its exit code, and what it says then.
Missed = Mapping[tuple[str, str], tuple[list[str], int, str]]


def tried(tree: Path, tries: Sequence[tuple[Mapping[str, str | None], Sequence[str]]]) -> list[tuple[int, str]]:
    """Exit code and output, in one line, of each command in a tree without what it says."""
    run = given(tree, str(Path(__file__).with_name("leaving_out.py")), input=json.dumps(tries))
    assert run.returncode == 0, run.stderr
    return [(code, " ".join(said.split())) for code, said in json.loads(run.stdout)]


@dataclass(frozen=True, slots=True)
class Tutorial:
    """A page's protocol by its name, with its files."""

    name: str
    files: Mapping[str, str]

    def plugin_of(self, package: str) -> tuple[ast.Module, ast.Call]:
        """The module with its record of a package, and the call that makes it."""
        module = ast.parse(self.files[f"{package}/{self.name}/plugin.py"])
        (made,) = (
            one for one in module.body if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "PLUGIN"
        )
        assert isinstance(made.value, ast.Call)
        return module, made.value

    def without_hook(self, package: str, hook: str) -> dict[str, str | None]:
        module, call = self.plugin_of(package)
        call.keywords = [keyword for keyword in call.keywords if keyword.arg != hook]
        return {f"{package}/{self.name}/plugin.py": ast.unparse(module)}

    def optional_hooks(self) -> set[tuple[str, str]]:
        """Those that it gives."""
        given = {(package, str(word.arg)) for package in RECORDS for word in self.plugin_of(package)[1].keywords}
        return given - {(package, hook) for package, _, hook in REQUIRED}

    def only(self, *layers: str) -> list[str]:
        return ["verify", "--protocol", self.name, *(word for layer in layers for word in ("--only", layer))]

    def assert_missed(self, tree: Path, hooks: Missed) -> None:
        tries = [(self.without_hook(*hook), words) for hook, (words, _, _) in hooks.items()]
        for (hook, (_, code, expected)), (found, said) in zip(hooks.items(), tried(tree, tries), strict=True):
            assert (found, expected in said) == (code, True), (hook, said)
            assert "Traceback" not in said
        # Nothing is left out here; `verify` as it is, with mutants and TLC, passes in a test of its own.
        whole = [one for one in hooks.values() if one[0][0] == "replay"]
        for (words, code, expected), (found, said) in zip(
            whole, tried(tree, [({}, words) for words, _, _ in whole]), strict=True
        ):
            assert (found, expected in said) != (code, True), (words, said)


def static_checks(protocol: str) -> list[list[str]]:
    own = [f"{package}/{protocol}" for package in RECORDS]
    return [
        ["ci/traceability.py"],
        ["ci/tidy.py"],
        ["-m", "ruff", "check", *own],
        ["-m", "ruff", "format", "--check", *own],
        ["-m", "mypy", *(word for package in RECORDS for word in ("-p", f"scatterproof.{package}.{protocol}"))],
    ]
