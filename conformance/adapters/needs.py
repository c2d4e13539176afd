"""What installs products and their clients: packages of the registries of Python and Node.js, and of Debian."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from scatterproof.conformance.adapters.versions import Package, asked
from scatterproof.spec.errors import CannotRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a product needs on this machine.

    pypi: packages for this environment, as pip takes them.
    npm: packages beside this interpreter, as npm takes them; they need Node.js.
    debian: packages of Debian, which an administrator installs.
    beside: versions in folders of their own.
    """

    pypi: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    debian: tuple[str, ...] = ()
    beside: tuple[tuple[Package, str], ...] = ()

    def __add__(self, other: Needs) -> Needs:
        """Both, each package once."""
        return Needs(
            pypi=tuple(dict.fromkeys(self.pypi + other.pypi)),
            npm=tuple(dict.fromkeys(self.npm + other.npm)),
            debian=tuple(dict.fromkeys(self.debian + other.debian)),
            beside=tuple(dict.fromkeys(self.beside + other.beside)),
        )

    def install(self, tell: Callable[[str], None]) -> list[str]:
        """Install what pip and npm have; what Debian has is left to its administrator. tell: takes what is installed
        now. Returns why something could not be."""
        works: list[tuple[str, Callable[[], object]]] = [
            *((" ".join(command), partial(asked, command)) for command in self._commands()),
            *((f"{package.name} {version}", partial(package.install, version)) for package, version in self.beside),
        ]
        flaws: list[str] = []
        for what, work in works:
            tell(what)
            try:
                work()
            except CannotRun as error:
                flaws.append(str(error))
        return flaws

    def sentence(self) -> str:
        """How to install all of it."""
        packages = [f"{_listed(self.pypi)} of PyPI into this environment"] * bool(self.pypi)
        packages += [f"{_listed(self.debian)} of Debian (apt-get install {' '.join(self.debian)})"] * bool(self.debian)
        ways = [f"install {', and '.join(packages)}"] if packages else []
        commands = [*Needs(npm=self.npm)._commands(), *(package.command(version) for package, version in self.beside)]
        ways += [f"run {' '.join(command)}" for command in commands]
        return ", and ".join(ways)

    def why_not(self, lacking: Sequence[str]) -> str | None:
        """Why a product cannot be run that lacks these, and how to have them; None where it lacks nothing."""
        return f"there is no {' and no '.join(lacking)}; {self.sentence()}" if lacking else None

    def _commands(self) -> list[list[str]]:
        pip = [sys.executable, "-m", "pip", "install", *self.pypi]
        npm = ["npm", "install", "--prefix", sys.prefix, *self.npm]
        return [*([pip] if self.pypi else []), *([npm] if self.npm else [])]


NO_NEEDS = Needs()


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
