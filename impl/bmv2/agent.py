"""The child process that lives with the switch in its network namespace: `python -m scatterproof.impl.bmv2.agent`.

It reads requests from stdin, a line of JSON each, and answers each with one line on stdout: {"ok": ...}, or
{"refused": [code, message]} where P4Runtime refused a write, or {"cannot": sentence}, after which it ends. The first
request is `start`. When stdin ends it ends, and with it the switch, the ports and the namespace.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from scatterproof.impl.bmv2 import rest, room
from scatterproof.impl.bmv2.answers import Silent, WriteRefused
from scatterproof.impl.bmv2.wires import Wires
from scatterproof.spec.errors import CannotRun

if TYPE_CHECKING:
    from scatterproof.impl.bmv2.runtime import Runtime

_ROOM, _MOST = ("--max-mc-groups", "--max-l1-entries", "--max-l2-entries"), "65536"
_GRPC = ("127.0.0.1", 9559)
_START_S = 20.0
_REST_S = 10.0
_ARRIVE_S = 1.0
_STOP_S = 2.0


class Agent:
    """One switch and its surroundings."""

    def __init__(self) -> None:
        self._resources = ExitStack()
        self._switch: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] | None = None
        self._digests: list[Any] = []

    def start(self, command: str, p4info: str, program: str, ports: list[int], cpu_port: int | None) -> None:
        """Make the namespace and its ports, start the switch in it, and load the program, given as the contents of its
        two files."""
        room.enter()
        room.wire(ports)
        self._wires = Wires(ports)
        self._ports, self._cpu_port = ports, cpu_port
        line = [command, "--no-p4", "--device-id", "1"]
        for port in ports:
            line += ["-i", f"{port}@{room.near(port)}"]
        line += ["--", "--grpc-server-addr", f"{_GRPC[0]}:{_GRPC[1]}"]
        if cpu_port is not None:
            line += ["--cpu-port", str(cpu_port)]
        # Room for as many groups as v1model can name; earlier releases have 4,096 replicas for all of them together.
        told = subprocess.run([command, "--help"], capture_output=True, text=True, check=False)
        line += [word for option in _ROOM if option in told.stdout + told.stderr for word in (option, _MOST)]
        self._said = said = tempfile.TemporaryFile()  # noqa: SIM115, it lives as long as the switch
        self._resources.callback(said.close)
        self._switch = self._resources.enter_context(_running(line, said))
        self._watched = rest.Process(self._switch.pid)
        self._resources.callback(self._watched.close)
        self._await_server()
        # Only now: the library starts threads, and a process with threads cannot move into a namespace.
        from scatterproof.impl.bmv2.runtime import Runtime

        files = [self._keep(content) for content in (p4info, program)]
        self._runtime: Runtime = Runtime(f"{_GRPC[0]}:{_GRPC[1]}", *files)
        self._resources.callback(self._runtime.close)
        self._runtime.enable_digests()
        self._settle(self._watched.look(), least_woken=0)

    def _keep(self, content: str) -> Path:
        """A path at which the content can be read: a file without a name, so that nothing is left behind."""
        kept = tempfile.TemporaryFile()  # noqa: SIM115, it lives as long as the switch
        self._resources.callback(kept.close)
        kept.write(content.encode())
        kept.flush()
        return Path(f"/proc/self/fd/{kept.fileno()}")

    def stop(self) -> None:
        self._resources.close()

    def request(self, name: str, arguments: list[Any]) -> Any:
        """Do what a request says, and return its answer."""
        runtime = self._runtime
        known: dict[str, Callable[..., Any]] = {
            "process": self.process,
            "paced": self.paced,
            "reset": self.reset,
            "digests": self.digests,
            "pid": self.pid,
            "table": runtime.table,
            "default": runtime.default,
            "clear": runtime.clear,
            "entries": runtime.entries,
            "member": runtime.member,
            "group": runtime.group,
            "multicast": runtime.multicast,
            "clone_session": runtime.clone_session,
            "counter": runtime.counter,
            "least_packet_out": runtime.least_packet_out,
        }
        return known[name](*arguments)

    def process(self, port: int, data: str) -> list[tuple[int, str]]:
        """Send one packet in, and return all that leaves until the switch rests. At the CPU port: packet-out and
        packet-in."""
        assert self._switch is not None
        sent, before = room.sent(), self._watched.look()
        if port == self._cpu_port:
            self._runtime.packet_out(bytes.fromhex(data))
            self._runtime.barrier()
        else:
            self._wires.send(port, bytes.fromhex(data))
        self._settle(before, least_woken=rest.WOKEN_BY_A_PACKET)
        # The switch rests: what it has told, it has written. Where nothing went over loopback, that is nothing.
        now = room.sent()
        found = self._collect(sent, now)
        if now[room.LOOPBACK] != sent[room.LOOPBACK]:
            self._runtime.barrier()
            self._digests += self._runtime.take_digests()
            found += [(self._cpu_port or 0, packet) for packet in self._runtime.packet_ins()]
        return [(port, packet.hex()) for port, packet in found]

    def paced(self, packets: list[tuple[int, str]], rate: float) -> tuple[float, list[tuple[int, str]], int]:
        """Send many packets, `rate` a second. Returns the seconds it took, what left the switch, and how many of those
        frames were lost on the way to us."""
        assert self._switch is not None
        frames = [(port, bytes.fromhex(data)) for port, data in packets]
        sent, before = room.sent(), self._watched.look()
        begun = time.monotonic()
        for number, (port, data) in enumerate(frames):
            while (wait_s := begun + number / rate - time.monotonic()) > 0:
                if wait_s > 0.001:
                    time.sleep(wait_s / 2)
                self._wires.take()
            self._wires.send(port, data)
        seconds = time.monotonic() - begun
        self._settle(before, least_woken=rest.WOKEN_BY_A_PACKET)
        now = room.sent()
        expected = sum(self._expected(sent, now).values())
        found = self._collect(sent, now, complete=False)
        return seconds, [(port, packet.hex()) for port, packet in found], expected - len(found)

    def reset(self) -> None:
        """The pipeline anew: no entries, registers zero, no groups."""
        assert self._switch is not None
        before = self._watched.look()
        self._runtime.push()
        self._runtime.enable_digests()
        self._settle(before, least_woken=0)

    def digests(self) -> list[Any]:
        """Name and fields of every digest since the last call."""
        found, self._digests = self._digests, []
        return found

    def pid(self) -> int:
        """The switch's process id: `nsenter -t PID -n` leads into its namespace."""
        assert self._switch is not None
        return self._switch.pid

    def _settle(self, before: rest.Threads, *, least_woken: int) -> None:
        assert self._switch is not None
        if not rest.wait(self._watched, before, least_woken=least_woken, patience_s=_REST_S):
            raise CannotRun(self._epitaph(f"did not come to rest within {_REST_S:g} s"))

    def _expected(self, before: dict[str, int], now: dict[str, int]) -> dict[int, int]:
        return {port: now[room.near(port)] - before[room.near(port)] for port in self._ports}

    def _collect(
        self, before: dict[str, int], now: dict[str, int], *, complete: bool = True
    ) -> list[tuple[int, bytes]]:
        expected = self._expected(before, now)
        found = self._wires.collect(expected, _ARRIVE_S)
        if complete and len(found) != sum(expected.values()):
            raise CannotRun(
                f"BMv2 let {sum(expected.values())} packets out and {len(found)} arrived: the machine lost some; "
                "run it with less load"
            )
        return found

    def _await_server(self) -> None:
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            assert self._switch is not None
            if self._switch.poll() is not None:
                break
            try:
                socket.create_connection(_GRPC, timeout=1).close()
                return
            except OSError:
                time.sleep(0.01)
        raise CannotRun(self._epitaph(f"does not listen after {_START_S:g} s"))

    def _epitaph(self, what: str) -> str:
        """What the switch did wrong, with the last line that it wrote."""
        assert self._switch is not None
        if (code := self._switch.poll()) is not None:
            what = f"ended with code {code}"
        lines: list[bytes] = []
        if self._said is not None:
            self._said.seek(0)
            lines = self._said.read().split(b"\n")
        last = next((line.decode(errors="replace").strip() for line in reversed(lines) if line.strip()), "nothing")
        return f"simple_switch_grpc {what}; the last that it wrote: {last}"


@contextmanager
def _running(command: list[str], said: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, preexec_fn=room.die_with_parent
        )
    except OSError as error:
        raise CannotRun(f"{command[0]} cannot be started: {error.strerror}; check the installation of BMv2") from None
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def serve(lines: IO[str], out: IO[str]) -> None:
    """Answer requests until there are no more."""
    agent = Agent()
    try:
        for line in lines:
            name, *arguments = json.loads(line)
            answer = _answer(agent, name, arguments)
            out.write(json.dumps(answer, separators=(",", ":")) + "\n")
            out.flush()
            if "cannot" in answer or name == "stop":
                break
    finally:
        agent.stop()


def _answer(agent: Agent, name: str, arguments: list[Any]) -> dict[str, Any]:
    try:
        if name == "start":
            agent.start(*arguments)
            return {"ok": None}
        if name == "stop":
            return {"ok": None}
        return {"ok": agent.request(name, arguments)}
    except CannotRun as error:
        return {"cannot": str(error)}
    except WriteRefused as error:
        return {"refused": [error.code, error.message]}
    except Silent as error:
        return {"cannot": f"the P4Runtime server of BMv2 does not do its part: {error}"}


if __name__ == "__main__":
    # What libraries print must not come between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(sys.stdin, answers)
