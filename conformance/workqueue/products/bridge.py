"""A process of Node.js that carries out calls of a library of npm. It reads JSON arrays from stdin, and writes results
to stdout, one a line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scatterproof.conformance.serving import program
from scatterproof.conformance.supervisor import Child, ChildFailure, Limits, stop
from scatterproof.spec.errors import CannotRun

# Where `npm install --prefix` of this interpreter's prefix puts libraries.
MODULES = Path(sys.prefix) / "node_modules"

# One process serves all runs.
_LIMITS = Limits(answer_s=60.0, answers_s=1e6)


def node_program(major: int) -> str | None:
    """The path of a Node.js of this major version, or newer; None where there is none."""
    for found in (MODULES / "node" / "bin" / "node", program("node")):
        if found is None or not Path(found).is_file():
            continue
        told = subprocess.run([str(found), "--version"], capture_output=True, text=True, check=False).stdout
        if int(told.removeprefix("v").partition(".")[0] or 0) >= major:
            return str(found)
    return None


def version(module: str, prefix: Path = MODULES.parent) -> str:
    return str(json.loads((prefix / MODULES.name / module / "package.json").read_text())["version"])


class Bridge:
    """One such process.

    name: of the library, and of the files with the process's output.
    major: the oldest version of Node.js that will do.
    script: a file beside this one; its arguments are `prefix` and `words`.
    folder: for these files.
    prefix: the folder with `node_modules`.
    """

    def __init__(
        self, name: str, major: int, script: str, words: Sequence[str], folder: Path, prefix: Path = MODULES.parent
    ) -> None:
        given = [node_program(major) or "", str(Path(__file__).with_name(script)), str(prefix), *words]
        self._name, self._child = name, Child(name, given, folder, _LIMITS)
        self._answer()

    def ask(self, operation: str, *given: Any) -> Any:
        self._child.tell(json.dumps([operation, *given]).encode())
        return self._answer()

    def _answer(self) -> Any:
        line = self._child.line()
        if isinstance(line, ChildFailure):
            self.end()
            raise CannotRun(f"{self._name}: its process {line.reason}")
        try:
            return json.loads(line)
        except json.JSONDecodeError:
            self.end()
            text = line.decode(errors="replace")
            raise CannotRun(f"{self._name}: its process said {text!r}, which is no result: another release?") from None

    def kill(self) -> None:
        self._child.reap()

    def end(self) -> None:
        stop([self._child])
