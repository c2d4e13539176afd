"""The adapter contract as its document and its schema have it: examples are lines of it, real runs speak it, and the
example node answers as the document says."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from scatterproof.conformance.adapters.stdio import StdioIut
from scatterproof.conformance.case import cases
from scatterproof.conformance.profile import read_profile
from scatterproof.conformance.tests.json_schema import flaws
from scatterproof.spec.clauses import SPEC, protocols

SCHEMA = json.loads((SPEC / "adapter.schema.json").read_text())
DOCUMENT = (SPEC / "ADAPTER.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", DOCUMENT, re.DOTALL)
# Lines of the document: ("<" or ">", the line).
LINES = [(line[0], json.loads(line[2:])) for kind, block in BLOCKS if kind == "text" for line in block.splitlines()]
SIDES = {">": "ToNode", "<": "FromNode"}


def wrong(line: Any, side: str) -> list[str]:
    return flaws(line, {"$ref": f"#/$defs/{SIDES[side]}"}, SCHEMA)


def test_every_example_of_the_document_is_a_line_of_the_contract() -> None:
    assert len(LINES) > 15
    for side, line in LINES:
        # In datagram mode the node speaks first, as the table of its answers has it.
        assert wrong(line, side) == []


def test_the_document_shows_every_line_that_stdio_has() -> None:
    shown = {line["type"] for _, line in LINES} | {
        kind for kind in ("begin", "call", "log", "return") if f"| `{kind}` |" in DOCUMENT
    }
    definitions = [definition.get("properties", {}) for definition in SCHEMA["$defs"].values()]
    assert shown == {own["type"]["enum"][0] for own in definitions if "enum" in own.get("type", {})}


def test_the_example_node_answers_as_the_document_says() -> None:
    script = LINES[: next(at for at, (_, line) in enumerate(LINES) if line["type"] == "stop") + 1]
    program = Path(__file__).parents[1] / "examples/python/node.py"
    said = "".join(json.dumps(line) + "\n" for side, line in script if side == ">")
    ended = subprocess.run([sys.executable, program], input=said, capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr) == (0, "")
    assert [json.loads(line) for line in ended.stdout.splitlines()] == [line for side, line in script if side == "<"]


TELL_TALE = """
import subprocess, sys, threading
command = [sys.executable, "-m", "scatterproof.impl.drivers.stdio"]
child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def listen():
    for line in child.stdout:
        sys.stderr.buffer.write(b"<" + line)
        sys.stderr.flush()
        sys.stdout.buffer.write(line)
        sys.stdout.flush()
thread = threading.Thread(target=listen)
thread.start()
for line in sys.stdin.buffer:
    sys.stderr.buffer.write(b">" + line)
    child.stdin.write(line)
    child.stdin.flush()
child.stdin.close()
thread.join()
"""


@pytest.mark.parametrize("protocol", [name for name in protocols() if (SPEC / name / "messages.py").is_file()])
def test_a_run_of_every_protocol_speaks_what_the_schema_has(protocol: str, tmp_path: Path) -> None:
    """A node between the harness and the reference writes down what both say."""
    importlib.import_module(f"scatterproof.impl.{protocol}")
    schedule = cases(protocol)[0].schedule
    StdioIut("tell-tale", [sys.executable, "-c", TELL_TALE], tmp_path).run(schedule)
    heard = [line for path in tmp_path.glob("*.stderr") for line in path.read_text().splitlines()]

    assert {line[0] for line in heard} == {"<", ">"}
    assert len(heard) > 20
    for line in heard:
        assert wrong(json.loads(line[1:]), line[0]) == []
    said = [json.loads(line[1:]) for line in heard]
    kinds = {one["type"] for one in said}
    of_application = {"call", "return"} if schedule.calls else {"submit", "deliver"}
    assert {"init", "ready", "packet", "send", "done", "stop"} | of_application <= kinds
    assert ("tick" in kinds) == any(one.get("deadline") is not None for one in said)


BEACON = {
    "kind": 2,
    "sender": 0,
    "receiver": 0,
    "number": 0,
    "link_seq": 0,
    "timestamp": 0,
    "barrier": 1,
    "payload": "",
}


@pytest.mark.parametrize(
    ("line", "side"),
    [
        ({"type": "done", "dead": 3}, "<"),
        ({"type": "done", "deadline": 1 << 63}, "<"),
        ({"type": "done", "deadline": 1.5}, "<"),
        ({"type": "done"}, ">"),
        ({"type": "nonsense"}, "<"),
        ({"type": "send", "link": 0}, "<"),
        ({"type": "send", "link": 0, "packet": {**BEACON, "payload": "?"}}, "<"),
        ({"type": "send", "link": 0, "packet": {**BEACON, "barrier": "high"}}, "<"),
        ({"type": "send", "link": 0, "packet": {k: v for k, v in BEACON.items() if k != "sender"}}, "<"),
        ({"type": "submit", "messages": [{"receiver": 1}], "now": 3}, ">"),
        ([], "<"),
    ],
)
def test_the_schema_refuses_what_is_no_line(line: Any, side: str) -> None:
    assert wrong({"type": "send", "link": 0, "packet": BEACON}, "<") == []
    assert wrong(line, side)


def blocks(kind: str) -> Sequence[str]:
    return [block for name, block in BLOCKS if name == kind]


def test_the_documents_profile_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    (text,) = blocks("toml")
    path.write_text(text)
    found = read_profile(path)

    assert sorted(found.roles) == ["switch"]
    assert list(found.unclaimed) == ["TO-BAR-RISE"]
    assert found.parameters == {"environment": ("B", "C"), "beacon_interval_ns": None}


def test_the_documents_run_file_can_be_read(tmp_path: Path) -> None:
    (text,) = blocks("json")
    (tmp_path / "run.json").write_text(text)
    log_folder = importlib.import_module("scatterproof.conformance.adapters.log_folder")

    assert log_folder.read_run(tmp_path).clean
