"""How the owner of a session takes the agent's lines, and its end."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from scatterproof.impl.bmv2 import session
from scatterproof.impl.v1model import Code, ControlError
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.files import IMPORTED_FROM


def test_an_answer_is_given_as_it_is() -> None:
    assert session.understand(b'{"ok":[[1,"00ff"]]}') == [[1, "00ff"]]
    assert session.understand(b'{"ok":null}') is None


def test_a_refusal_keeps_its_code() -> None:
    with pytest.raises(ControlError, match="the table is full") as caught:
        session.understand(b'{"refused":["RESOURCE_EXHAUSTED","the table is full"]}')
    assert caught.value.code is Code.RESOURCE_EXHAUSTED


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"cannot":"no switch today"}', "^no switch today$"),
        (b'{"refused":["TEAPOT","short"]}', "TEAPOT"),
        (b'{"refused":["NOT_FOUND"]}', "is no answer"),
        (b'{"well":1}', "is no answer"),
        (b"Traceback", "is no answer"),
        (b"\xff\xfe", "is no answer"),
        (b"[]", "is no answer"),
        (b"", "is no answer"),
    ],
)
def test_all_else_ends_with_one_sentence(line: bytes, said: str) -> None:
    with pytest.raises(CannotRun, match=said) as caught:
        session.understand(line)
    assert "\n" not in str(caught.value)


def test_without_the_program_one_sentence_says_what_to_install() -> None:
    with pytest.raises(CannotRun, match="no-such-switch is not on PATH: install BMv2") as caught:
        session.find("no-such-switch")
    assert caught.value.exit_code == 3
    assert session.why_not("no-such-switch") == str(caught.value)


def test_without_the_command_ip_one_sentence_says_what_to_install() -> None:
    attempt = [sys.executable, "-c", "import sys; from scatterproof.impl.bmv2.room import attempt; sys.exit(attempt())"]
    tried = subprocess.run(
        attempt, cwd=IMPORTED_FROM, env={"PATH": "/nowhere"}, capture_output=True, text=True, check=False
    )
    assert (tried.returncode, tried.stdout) == (1, "")
    assert tried.stderr == "no command `ip`: install iproute2, with which the switch gets its ports\n"


def test_a_program_that_names_no_version_is_none_of_bmv2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_on_path(tmp_path, monkeypatch, "echo hello")
    with pytest.raises(CannotRun, match="says 'hello', which names no version"):
        session.version()


def test_the_version_is_what_the_program_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_on_path(tmp_path, monkeypatch, "echo 1.15.5-96741871")
    assert session.version() == "1.15.5-96741871"


def test_an_agent_that_ends_is_told_with_its_last_line() -> None:
    with session.AgentSession() as opened, pytest.raises(CannotRun, match=r"the last that it wrote: \w+Error: "):
        opened.ask("dance")


def test_a_closed_session_can_be_closed_again() -> None:
    opened = session.AgentSession()
    opened.close()
    opened.close()
    assert not Path(f"/proc/{opened.pid}/status").exists()


def put_on_path(folder: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    program = folder / session.COMMAND
    program.write_text(f"#!/bin/sh\n{command}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
