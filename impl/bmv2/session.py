"""The child process beside the switch, as its owner sees it: one request, one answer."""

from __future__ import annotations

import atexit
import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from typing import Any, Self

from scatterproof.impl.bmv2.room import die_with_parent
from scatterproof.impl.v1model import Code, ControlError
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.extras import left_out
from scatterproof.spec.files import IMPORTED_FROM

COMMAND = "simple_switch_grpc"
_ANSWER_S = 60.0
_STOP_S = 5.0
_VERSION = re.compile(r"\d+\.\d+\.\d+\S*")


def find(command: str = COMMAND) -> str:
    """The path of the switch's program. Raises CannotRun, which says what to install, where there is none."""
    found = shutil.which(command)
    if found is None:
        raise CannotRun(
            f"{command} is not on PATH: install BMv2 with its P4Runtime server (Ubuntu has it as p4lang-bmv2), "
            "or run the same program on the embedded target"
        )
    return found


def version(command: str = COMMAND) -> str:
    """What the switch says its version is."""
    said = subprocess.run([find(command), "--version"], capture_output=True, text=True, check=False, timeout=30)
    match = _VERSION.search(said.stdout + said.stderr)
    if match is None:
        raise CannotRun(f"{command} --version says {said.stdout.strip()[:80]!r}, which names no version; update BMv2")
    return match.group()


def why_not(command: str = COMMAND) -> str | None:
    """Why BMv2 cannot be run here, if it cannot."""
    try:
        find(command)
    except CannotRun as error:
        return str(error)
    if find_spec("p4runtime_sh") is None:
        return str(left_out("p4runtime_sh"))
    attempt = "import sys; from scatterproof.impl.bmv2.room import attempt; sys.exit(attempt())"
    tried = subprocess.run(
        [sys.executable, "-c", attempt], cwd=IMPORTED_FROM, capture_output=True, text=True, check=False
    )
    return None if tried.returncode == 0 else tried.stderr.strip().rpartition("\n")[2]


class AgentSession:
    """A running agent. Close it, or leave the `with`; should this process be killed, the kernel kills the agent."""

    def __init__(self) -> None:
        environment = dict(os.environ, PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION="python", GRPC_VERBOSITY="NONE")
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(IMPORTED_FROM), environment.get("PYTHONPATH")]))
        self._said = tempfile.TemporaryFile()  # noqa: SIM115, it lives as long as the session
        self._child = subprocess.Popen(
            [sys.executable, "-m", "scatterproof.impl.bmv2.agent"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env=environment,
            bufsize=0,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )
        self._rest = b""
        atexit.register(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The agent's process id."""
        return self._child.pid

    def ask(self, name: str, *arguments: Any) -> Any:
        """What the agent answers. Raises ControlError where P4Runtime refused, CannotRun where the agent cannot go
        on."""
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps([name, *arguments], separators=(",", ":")).encode() + b"\n")
        except OSError:
            raise CannotRun(self._epitaph()) from None
        return understand(self._line())

    def close(self) -> None:
        """End the agent, the switch and the namespace; a second time it does nothing."""
        atexit.unregister(self.close)
        if self._child.stdin is None or self._child.stdin.closed:
            return
        self._child.stdin.close()
        try:
            self._child.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        assert self._child.stdout is not None
        self._child.stdout.close()
        self._said.close()

    def _line(self) -> bytes:
        assert self._child.stdout is not None
        deadline = time.monotonic() + _ANSWER_S
        while b"\n" not in self._rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._child.stdout], [], [], left)[0]:
                raise CannotRun(f"the process beside BMv2 gave no answer for {_ANSWER_S:g} s; run it with less load")
            chunk = self._child.stdout.read(1 << 20)
            if not chunk:
                raise CannotRun(self._epitaph())
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _epitaph(self) -> str:
        self._said.seek(0)
        lines = [line for line in self._said.read().decode(errors="replace").splitlines() if line.strip()]
        return f"the process beside BMv2 ended; the last that it wrote: {lines[-1] if lines else 'nothing'}"


def understand(line: bytes) -> Any:
    """The answer in a line of the agent. Raises ControlError or CannotRun where the line says so, or is no answer."""
    try:
        match json.loads(line):
            case {"ok": answer}:
                return answer
            case {"refused": [str(code), str(message)]}:
                raise ControlError(_code(code), message)
            case {"cannot": str(sentence)}:
                raise CannotRun(sentence)
    except ValueError:
        pass
    raise CannotRun(f"the process beside BMv2 wrote {line[:80]!r}, which is no answer; look at what it prints")


def _code(name: str) -> Code:
    try:
        return Code(name)
    except ValueError:
        raise CannotRun(f"BMv2 answered {name} to a write, which no table's owner should meet; update BMv2") from None
