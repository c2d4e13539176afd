"""The tutorial's commands, run in a copy of the examples. `python -m scatterproof.conformance.examples.tests.tutorial`
writes what they print into README.md; a test compares it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from scatterproof.conformance.examples.tests.languages import EXAMPLES

PAGE = EXAMPLES / "README.md"
_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def played(text: str, folder: Path) -> str:
    """The page with what its commands print on stdout now; they run one after the other, in `folder`, in one shell."""
    place = folder / "examples"
    shutil.copytree(EXAMPLES, place, ignore=shutil.ignore_patterns("tests", "__pycache__", "results"))
    commands = [[line[2:] for line in block.splitlines() if line.startswith("$ ")] for block in _BLOCK.findall(text)]
    prints = iter(_print(place, [command for block in commands for command in block]))

    def block(match: re.Match[str]) -> str:
        lines = [line for line in match[1].splitlines() if line.startswith("$ ")]
        return "```console\n" + "".join(f"{line}\n{next(prints)}" for line in lines) + "```"

    return _BLOCK.sub(block, text)


def _print(place: Path, commands: list[str]) -> list[str]:
    """What each command prints on stdout, without blanks at the ends of lines."""
    mark = "------- and the next"
    script = "".join(f"{command}\n_code=$?; echo '{mark}'; (exit $_code)\n" for command in commands)
    binaries = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", "CI": "true"}
    ended = subprocess.run(
        ["bash", "-s"],
        input=script,
        cwd=place,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    said = [re.sub(r"[ \t]+\n", "\n", part) for part in ended.stdout.split(f"{mark}\n")]
    assert len(said) == len(commands) + 1, "a command ended the shell"
    return said[:-1]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(played(PAGE.read_text(), Path(folder)))
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
