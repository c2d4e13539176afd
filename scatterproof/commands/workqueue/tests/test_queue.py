"""The queue from the command line."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scatterproof.tests.test_console import Console

QUEUE = [sys.executable, "-m", "scatterproof.cli", "queue"]


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Console:
    return Console(monkeypatch, capsys)


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path / 'queue.db'}"


def send(console: Console, folder: Path, store: str, *bodies: str, correlation: str = "c") -> None:
    files = [folder / f"message-{n}" for n in range(len(bodies))]
    for file, body in zip(files, bodies, strict=True):
        file.write_text(body)
    code, said, err = console("queue", "send", store, *map(str, files), "--correlation", correlation)
    assert (code, said) == (0, f"group {said.split(',')[0].split()[-1]}, {len(bodies)} messages\n"), err


def inspect(console: Console, store: str) -> dict[str, object]:
    code, said, _ = console("queue", "inspect", store, "--json")
    assert code == 0
    found = json.loads(said)
    assert isinstance(found, dict)
    return found


def test_what_is_sent_is_seen_worked_off_and_gone(console: Console, tmp_path: Path, store: str) -> None:
    send(console, tmp_path, store, "first", "second")
    send(console, tmp_path, store, "third")
    found = inspect(console, store)
    assert (found["ready"], found["waiting"], found["messages"]) == (1, 1, 3)
    words = ["sh", "-c", "cat; echo ' '$SCATTERPROOF_MESSAGE of $SCATTERPROOF_LAST_MESSAGE, $SCATTERPROOF_CORRELATION"]
    work = [*QUEUE, "work", store, "--until-empty", "--poll-ms", "5", "--run", shlex.join(words), "--json"]
    done = subprocess.run(work, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said, brace, told = done.stdout.partition("{")
    assert said == "first 1 of 2, c\nsecond 2 of 2, c\nthird 1 of 1, c\n"
    assert json.loads(brace + told)["processed"] == 3
    assert inspect(console, store)["messages"] == 0


def test_lines_of_standard_input_are_messages(store: str) -> None:
    sent = subprocess.run([*QUEUE, "send", store, "-c", "c"], input=b"a\n\n\xff\n", capture_output=True)
    assert (sent.returncode, sent.stdout) == (0, b"group 1, 3 messages\n")
    worked = subprocess.run([*QUEUE, "work", store, "--until-empty", "--poll-ms", "5"], capture_output=True)
    assert (worked.returncode, worked.stdout) == (0, b"a\n\n\xff\n")


def test_a_message_that_fails_is_set_aside_with_its_reason(console: Console, tmp_path: Path, store: str) -> None:
    send(console, tmp_path, store, "bad", "good")
    words = [
        "work",
        store,
        "--until-empty",
        "--poll-ms",
        "5",
        "--retry-ms",
        "0",
        "--tries",
        "3",
        "--run",
        "grep -q good",
    ]
    code, _, said = console("queue", *words)
    assert code == 0
    assert "failed 3" in said
    aside = inspect(console, store)["messages_set_aside"]
    assert isinstance(aside, list)
    assert [(each["message"], each["retries"], bytes.fromhex(each["body"])) for each in aside] == [(1, 3, b"bad")]
    code, said, _ = console("queue", "inspect", store)
    assert "given up after 3 tries" in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_the_message_in_hand_be_finished(
    console: Console, tmp_path: Path, store: str, number: signal.Signals
) -> None:
    send(console, tmp_path, store, "first", "second")
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    run = shlex.join(["sh", "-c", f"echo begun; cat {gate}"])
    with subprocess.Popen(
        [*QUEUE, "work", store, "--run", run], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as work:
        assert work.stdout is not None
        assert work.stderr is not None
        assert work.stdout.readline() == b"begun\n"
        work.send_signal(number)
        assert work.stderr.readline().startswith(number.name.encode())  # else it might take the second one meanwhile
        gate.write_bytes(b"")  # lets the program end
        _, said = work.communicate()
    assert work.returncode == 0
    assert f"ended ({number.name}): groups taken 1, processed 1" in said.decode()
    found = inspect(console, store)
    assert (found["ready"], found["receiving"], found["messages"]) == (1, 0, 1)


def test_a_worker_that_was_killed_is_followed_by_one_that_begins_where_it_was(
    console: Console, tmp_path: Path, store: str
) -> None:
    send(console, tmp_path, store, "first", "second")
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    run = shlex.join(["sh", "-c", f"echo begun; cat {gate}"])
    with subprocess.Popen([*QUEUE, "work", store, "--run", run], stdout=subprocess.PIPE) as work:
        assert work.stdout is not None
        assert work.stdout.readline() == b"begun\n"
        work.kill()
        gate.write_bytes(b"")
    assert inspect(console, store)["receiving"] == 1
    run = shlex.join(["sh", "-c", 'cat; echo " $SCATTERPROOF_RETRIES $SCATTERPROOF_GROUP_RETRIES"'])
    done = subprocess.run([*QUEUE, "work", store, "--until-empty", "--run", run], capture_output=True, text=True)
    assert done.stdout == "first 2 2\nsecond 1 2\n"


def test_cleaning_removes_what_a_dead_sender_left(console: Console, store: str) -> None:
    words = [*QUEUE, "send", store, "-c", "c"]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as sender:
        assert sender.stdin is not None
        # More than a pipe and its reader hold: when all is taken, a line was sent.
        sender.stdin.write((b"x" * 65_536 + b"\n") * 5)
        sender.stdin.flush()
        sender.kill()
    assert inspect(console, store)["sending"] == 1
    assert console("queue", "clean", store)[1] == "0 half-sent groups removed, 0 held groups released\n"
    code, said, _ = console("queue", "clean", store, "--senders-after", "0", "--json")
    assert (code, json.loads(said)) == (0, {"removed": 1, "released": 0})
    assert inspect(console, store)["messages"] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("inspect sqlite:{folder}/none.db", "there is no such file; `queue send` makes it"),
        ("work memory:", "ends with this command"),
        ("inspect foo:bar", "of no known form; give sqlite:PATH"),
        ("inspect sqlite:{folder}/text", "is no SQLite database"),
        ("send sqlite:{folder}/queue.db {folder}/none -c c", "cannot be read"),
        ("send sqlite:{folder}/no/queue.db {folder}/text -c c", "there is no folder"),
        ("send sqlite:{folder}/queue.db {folder}/text -c c --priority 0", "priority is 0"),
        ("work sqlite:{folder}/text --run no-such-program", "there is no program 'no-such-program'"),
        ("work sqlite:{folder}/text --workers 0", "service limit is 0"),
        ("work sqlite:{folder}/text --tries -1", "--tries has to be"),
        ("clean sqlite:{folder}/text --senders-after -1", "is no SQLite database"),
        ("inspect sqlite:{folder}/text --aside -1", "--aside is -1"),
    ],
)
def test_bad_input_is_one_sentence(console: Console, tmp_path: Path, words: str, said: str) -> None:
    (tmp_path / "text").write_text("not a database, but some text that is long enough to be read as a page's head" * 9)
    code, out, err = console("queue", *words.format(folder=tmp_path).split())
    assert (code, out) == (2, ""), err
    assert said in " ".join(err.split())
    assert "Traceback" not in err


def test_a_server_that_is_not_there_is_a_sentence(console: Console, tmp_path: Path) -> None:
    code, _, err = console("queue", "inspect", f"postgresql:///db?host={tmp_path}")
    assert code == 3
    assert err.startswith("scatterproof: PostgreSQL: ")
    assert err.count("\n") == 1
