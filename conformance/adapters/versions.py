"""Versions of a product: each in a folder of its own beside this interpreter, by one command of pip or npm."""

from __future__ import annotations

import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from scatterproof.conformance.serving import program
from scatterproof.spec.errors import CannotRun

INSTALL_S = 300.0
_RELEASE = re.compile(r"\d+(\.\d+)+")


class Client(StrEnum):
    """The program that installs from a registry."""

    PIP = "pip"
    NPM = "npm"


@dataclass(frozen=True, slots=True)
class Package:
    """A product's package in a registry.

    short: what its folders are called.
    needs: packages that older versions need, and this environment lacks.
    """

    client: Client
    name: str
    short: str
    needs: tuple[str, ...] = ()

    def folder(self, version: str) -> Path:
        return Path(sys.prefix) / f"{self.short}-{version}"

    def command(self, version: str) -> list[str]:
        """The command that installs this version. Where it is pip, dependencies are taken from this environment."""
        if self.client is Client.NPM:
            return ["npm", "install", "--prefix", str(self.folder(version)), f"{self.name}@{version}"]
        pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--target"]
        return [*pip, str(self.folder(version)), f"{self.name}=={version}", *self.needs]

    def installed(self) -> str | None:
        """The version that is in the environment itself, where there is one."""
        if self.client is Client.PIP:
            with suppress(importlib.metadata.PackageNotFoundError):
                return importlib.metadata.version(self.name)
            return None
        file = Path(sys.prefix) / "node_modules" / self.name / "package.json"
        return str(json.loads(file.read_text())["version"]) if file.is_file() else None

    def has(self, version: str) -> bool:
        return self.folder(version).is_dir()

    def install(self, version: str) -> None:
        """Install this version. What cannot be installed leaves nothing behind."""
        if self.has(version):
            return
        try:
            asked(self.command(version))
        except (CannotRun, KeyboardInterrupt):
            shutil.rmtree(self.folder(version), ignore_errors=True)
            raise

    def versions(self) -> list[str]:
        """The releases that the registry has, oldest first."""
        if self.client is Client.NPM:
            told = json.loads(asked(["npm", "view", self.name, "versions", "--json"]))
            found = told if isinstance(told, list) else [told]
        else:
            pip = [sys.executable, "-m", "pip", "index", "versions", self.name]
            (line,) = [line for line in asked(pip).splitlines() if line.startswith("Available versions:")]
            found = line.partition(":")[2].replace(" ", "").split(",")
        releases = [version for version in found if _RELEASE.fullmatch(version)]
        return sorted(releases, key=lambda version: [int(part) for part in version.split(".")])


def asked(words: list[str]) -> str:
    """What pip or npm says to this command. CannotRun where it fails."""
    try:
        # npm may be a program of this environment, which need not be on PATH.
        known = program(Client.NPM) if words[0] == Client.NPM else None
        done = subprocess.run(
            [known or words[0], *words[1:]], capture_output=True, text=True, check=False, timeout=INSTALL_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotRun(f"{' '.join(words)}: {error}") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason was given"])[-1]
        raise CannotRun(f"{' '.join(words)}: {last}")
    return done.stdout
