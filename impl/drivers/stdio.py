"""A node as a process on stdin and stdout (`python -m scatterproof.impl.drivers.stdio [IUT]`): the stdio mode of
spec/adapter.py.

IUT: another kind of node of the protocol than its reference core, by its name for `--iut`.
The harness is network and clock: every line with an event is answered with the effects in their order, then `done`.
Ends with exit code 0 at `stop`, at the end of stdin and on SIGTERM or SIGINT; with 2 after a line that is not of the
contract.
"""

from __future__ import annotations

import io
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO, Literal, cast

import msgspec

from scatterproof.impl.drivers import lines
from scatterproof.impl.protocol import load, maker
from scatterproof.spec.adapter import (
    BeginOut,
    CallIn,
    DeliverOut,
    Done,
    FromNode,
    Init,
    PacketIn,
    Ready,
    RefuseOut,
    ReturnOut,
    SendOut,
    Stop,
    Submit,
    Tick,
)
from scatterproof.spec.core import (
    Began,
    Called,
    ClientEvent,
    Deliver,
    LocalProtocolError,
    PacketArrived,
    Return,
    Send,
    Submitted,
    TimerFired,
)
from scatterproof.spec.errors import BadInput
from scatterproof.spec.files import write_atomically
from scatterproof.spec.protocol import load as messages_of


class DurableFile:
    """A core's durable state, in a file that is written before an answer is."""

    def __init__(self, core: Any, path: Path) -> None:
        """Give the core what an earlier process of this node stored."""
        self._core, self._path, self._stored = core, path, b""
        if path.is_file():
            core.begin_with(msgspec.msgpack.decode(path.read_bytes(), type=type(core.kept)))

    def store(self) -> None:
        now = msgspec.msgpack.encode(self._core.kept)
        if now != self._stored:
            write_atomically(self._path, now)
            self._stored = now


class CoreOnStdio:
    """One core behind the contract's lines."""

    def __init__(self, init: Init, iut: str = "") -> None:
        self._plugin = load(init.config.protocol)
        self._core = maker(init.config.protocol, iut)(init.config)
        self._packets: msgspec.json.Decoder[Any] = msgspec.json.Decoder(messages_of(init.config.protocol).packet)
        self._kept = (
            DurableFile(self._core, Path(init.state) / "kept") if init.state and hasattr(self._core, "kept") else None
        )

    def ready(self) -> Ready:
        return Ready(self._core.next_deadline())

    def answer(self, line: Submit | CallIn | PacketIn | Tick, place: str) -> list[FromNode]:
        """The effects of one line, and `done`. Raises BadInput for what no harness may ask."""
        if isinstance(line, PacketIn):
            packet = self._packet(line, place)
            problem = self._plugin.flaw(packet)
            if problem is not None:
                return [RefuseOut(line.link, str(problem)), Done(self._core.next_deadline())]
            return self._handle(PacketArrived(line.now, line.link, packet), place)
        if isinstance(line, Tick):
            return self._handle(TimerFired(line.now), place)
        if isinstance(line, CallIn):
            return self._handle(Called(line.now, line.operation, line.call, line.arguments, line.payload), place)
        if line.now is None:
            raise BadInput(f"{place}: submit has no `now`; in stdio mode the harness is the clock")
        messages = tuple((message.receiver, message.payload) for message in line.messages)
        return self._handle(Submitted(line.now, messages), place)

    def _packet(self, line: PacketIn, place: str) -> object:
        try:
            return self._packets.decode(line.packet)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadInput(f"{place}: packet is none of this protocol: {error}") from None

    def _handle(self, event: ClientEvent[Any], place: str) -> list[FromNode]:
        try:
            effects = self._core.handle(event)
        except LocalProtocolError as error:
            raise BadInput(f"{place}: {error}") from None
        if self._kept is not None:
            self._kept.store()
        answers: list[FromNode] = []
        for effect in effects:
            if isinstance(effect, Send):
                answers.append(SendOut(effect.link, msgspec.Raw(msgspec.json.encode(effect.packet))))
            elif isinstance(effect, Deliver):
                answers.append(DeliverOut(msgspec.Raw(msgspec.json.encode(effect.message))))
            elif isinstance(effect, Began):
                answers.append(BeginOut(msgspec.Raw(msgspec.json.encode(effect.message))))
            elif isinstance(effect, Return):
                outcome = cast(Literal["ok", "refused", "unknown"], effect.outcome.name.lower())
                answers.append(ReturnOut(effect.operation, outcome, dict(effect.results), effect.payload))
            else:
                answers.append(RefuseOut(effect.link, effect.reason))
        answers.append(Done(self._core.next_deadline()))
        return answers


def serve(source: BinaryIO, out: BinaryIO, iut: str = "") -> None:
    """Answer line after line until `stop` or the end of the source."""
    node: CoreOnStdio | None = None
    for number, text in enumerate(source, 1):
        place = f"stdin: line {number}"
        if node is None:
            node = CoreOnStdio(lines.decode_init(text, place), iut)
            lines.write(out, [node.ready()])
            continue
        line = lines.decode(text, place)
        if isinstance(line, Stop):
            return
        if not isinstance(line, Submit | CallIn | PacketIn | Tick):
            known = "submit, call, packet, tick and stop"
            raise BadInput(f"{place} has type {lines.type_of(line)!r}; after init come {known}")
        lines.write(out, node.answer(line, place))


def _leave(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def main() -> int:
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, _leave)
    # Unbuffered, so that nothing is left to flush when the harness has gone.
    out = io.FileIO(sys.stdout.fileno(), "w", closefd=False)
    return lines.run(lambda: serve(sys.stdin.buffer, out, "".join(sys.argv[1:2])))


if __name__ == "__main__":
    sys.exit(main())
