"""Recorded runs of BMv2 as data: what the control plane asked and the answers, packets in, packets out.

A recording is JSON and names its program by path and digest, so that it can be replayed on any machine against the
embedded target, and fails plainly when the program is no longer the one that was recorded.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeVar

import msgspec

from scatterproof.impl.bmv2.wires import LEAST_BYTES
from scatterproof.impl.v1model import ControlEntry, ControlError, Lpm, Match, Member, Range, SelectorGroup, Ternary
from scatterproof.spec.errors import BadInput

FORMAT = 1
OK = "OK"
# BMv2 is less precise than P4Runtime asks for: where it answers the first, a target may answer one of the others.
_ALSO = {
    "UNKNOWN": ("RESOURCE_EXHAUSTED", "PERMISSION_DENIED", "INVALID_ARGUMENT", "NOT_FOUND"),
    "INVALID_ARGUMENT": ("OUT_OF_RANGE",),
    "NOT_FOUND": ("PERMISSION_DENIED",),
}
_REFERS = re.compile(r"(member|group) (\d+)")
_MATCH = re.compile(r"0x([0-9a-f]+)(?:([&-])0x([0-9a-f]+)|(/)(\d+))?")


class TableControl(Protocol):
    """What a target lets the control plane do with one table."""

    def add(self, entry: ControlEntry) -> None: ...
    def modify(self, entry: ControlEntry) -> None: ...
    def delete(self, match: Mapping[str, Match], priority: int = 0) -> None: ...
    def default(self, action: str, params: Mapping[str, int] = ...) -> None: ...
    def reset_default(self) -> None: ...


class ProfileControl(Protocol):
    """What a target lets the control plane do with one action profile."""

    def add_member(self, number: int, action: str, params: Mapping[str, int] = ...) -> None: ...
    def modify_member(self, number: int, action: str, params: Mapping[str, int] = ...) -> None: ...
    def delete_member(self, number: int) -> None: ...
    def set_group(self, number: int, members: Iterable[int]) -> None: ...
    def delete_group(self, number: int) -> None: ...


class GroupControl(Protocol):
    """Multicast groups or clone sessions."""

    def set(self, number: int, replicas: Iterable[tuple[int, int]], /) -> None: ...
    def delete(self, number: int, /) -> None: ...


class SwitchTarget(Protocol):
    """The surface that the embedded target and BMv2 have in common."""

    @property
    def tables(self) -> Mapping[str, TableControl]: ...
    @property
    def profiles(self) -> Mapping[str, ProfileControl]: ...
    @property
    def multicast(self) -> GroupControl: ...
    @property
    def clone_sessions(self) -> GroupControl: ...
    def process(self, port: int, data: bytes) -> list[tuple[int, bytes]]: ...


Verb = Literal[
    "add", "modify", "delete", "default", "reset_default", "multicast", "clone_session",
    "add_member", "modify_member", "delete_member", "set_group", "delete_group",
]  # fmt: skip


class ControlRequest(msgspec.Struct, frozen=True, tag="control", omit_defaults=True, kw_only=True):
    """A request of the control plane. Numbers are hexadecimal: `match` has value, value/prefix, value&mask or low-high.

    `number` and `replicas` (port and instance) are of a group; a group without replicas is deleted. `table` may be an
    action profile: `number` is then of a member, or of a group with `members`; an entry's action that refers to one is
    `member 1` or `group 1`. `answer` is OK or P4Runtime's code.
    """

    verb: Verb
    table: str = ""
    match: dict[str, str] = {}
    action: str = ""
    params: dict[str, str] = {}
    priority: int = 0
    number: int = 0
    replicas: list[tuple[int, int]] = []
    members: list[int] = []
    answer: str = OK


class RecordedPacket(msgspec.Struct, frozen=True, tag="packet", omit_defaults=True, kw_only=True):
    """A packet that came in at `port` and what left, by port, all in hexadecimal. `masks`, where there are any, say
    which bits of each packet out are expected: the others are the target's own choice."""

    port: int
    data: str
    out: list[tuple[int, str]] = []
    masks: list[str] = []


class Fresh(msgspec.Struct, frozen=True, tag="fresh", omit_defaults=True, kw_only=True):
    """The program as if just loaded: no entries or groups, registers and counters zero. `why`: what begins here."""

    why: str = ""


Step = ControlRequest | RecordedPacket | Fresh
Make = Callable[[], SwitchTarget]
Data = TypeVar("Data", str, bytes)


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """`program`: path from the root, or a name; `digest`: SHA-256 of its JSON; `source`: what was recorded."""

    format: int
    program: str
    digest: str
    source: str
    ports: list[int]
    cpu_port: int | None
    steps: list[Step]


@dataclass(frozen=True, slots=True)
class Difference:
    """A step at which a target did not do what is recorded."""

    step: int
    what: Step
    expected: object
    found: object

    def __str__(self) -> str:
        return f"step {self.step}: {self.what}\n  expected {self.expected}\n  found    {self.found}"


def digest_of(program: bytes) -> str:
    """The SHA-256 of a compiled program."""
    return hashlib.sha256(program).hexdigest()


def read(path: Path) -> Recording:
    """The recording in a file. Raises BadInput where it is none, or of another format."""
    try:
        recording = msgspec.json.decode(path.read_bytes(), type=Recording)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from None
    except msgspec.MsgspecError as error:
        raise BadInput(
            f"{path}: no recording: {error}; record it anew with python -m scatterproof.impl.bmv2.record"
        ) from None
    if recording.format != FORMAT:
        raise BadInput(f"{path}: format {recording.format}, and this reads {FORMAT}; record it anew")
    return recording


def write(path: Path, recording: Recording) -> None:
    """Write the recording, one step a line, so that a diff shows what has changed."""
    head, _, steps = msgspec.json.encode(recording).partition(b'"steps":[')
    path.parent.mkdir(parents=True, exist_ok=True)
    assert steps.endswith(b"]}")
    lines = b",\n".join(msgspec.json.encode(step) for step in recording.steps)
    path.write_bytes(head + b'"steps":[\n' + lines + b"\n]}\n")


def play(steps: Sequence[Step], make: Make, *, cpu_port: int | None) -> Iterator[Step]:
    """The same steps with what a target answers and lets out. make: gives a fresh target."""
    target = make()
    for step in steps:
        if isinstance(step, Fresh):
            target = make()
            yield step
        else:
            yield play_one(step, target, cpu_port=cpu_port)


def play_one(
    step: ControlRequest | RecordedPacket, target: SwitchTarget, *, cpu_port: int | None
) -> ControlRequest | RecordedPacket:
    """One step with what this target answers or lets out."""
    if isinstance(step, ControlRequest):
        return msgspec.structs.replace(step, answer=ask(step, target))
    out = [(port, data.hex()) for port, data in target.process(step.port, bytes.fromhex(step.data))]
    return msgspec.structs.replace(step, out=by_port(out, cpu_port), masks=[])


def replay(steps: Sequence[Step], make: Make, *, cpu_port: int | None) -> list[Difference]:
    """Where a target differs from the recording. Frames that are too short for a veth count only at the CPU port."""
    found = []
    for number, (step, did) in enumerate(zip(steps, play(steps, make, cpu_port=cpu_port), strict=True)):
        if isinstance(step, ControlRequest) and isinstance(did, ControlRequest):
            if did.answer != step.answer and did.answer not in _ALSO.get(step.answer, ()):
                found.append(Difference(number, step, step.answer, did.answer))
        elif isinstance(step, RecordedPacket) and isinstance(did, RecordedPacket):
            out = [(port, data) for port, data in did.out if port == cpu_port or len(data) >= 2 * LEAST_BYTES]
            if not same(step, out):
                found.append(Difference(number, step, step.out, out))
    return found


def same(step: RecordedPacket, out: Sequence[tuple[int, str]]) -> bool:
    """Whether a target let out what is recorded, in the bits that are expected."""
    if not step.masks:
        return step.out == list(out)
    return len(step.out) == len(out) and all(
        port == other and len(wanted) == len(given) and masked(wanted, mask) == masked(given, mask)
        for (port, wanted), (other, given), mask in zip(step.out, out, step.masks, strict=True)
    )


def masked(data: str, mask: str) -> int:
    return int(data or "0", 16) & int(mask or "0", 16)


def by_port(packets: Iterable[tuple[int, Data]], cpu_port: int | None) -> list[tuple[int, Data]]:
    """The packets by port, and within a port in the order in which they left: BMv2 has several egress threads, and no
    order between them. At the CPU port they are sorted by content, since copies for the controller are made in all of
    these threads."""
    return sorted(packets, key=lambda packet: (packet[0], packet[1] if packet[0] == cpu_port else packet[1][:0]))


def ask(step: ControlRequest, target: SwitchTarget) -> str:
    """Do what a control step says; returns OK, or the code of the refusal."""
    try:
        match step.verb:
            case "multicast" | "clone_session":
                groups = target.multicast if step.verb == "multicast" else target.clone_sessions
                if step.replicas:
                    groups.set(step.number, step.replicas)
                else:
                    groups.delete(step.number)
            case "add_member":
                target.profiles[step.table].add_member(step.number, step.action, params_of(step))
            case "modify_member":
                target.profiles[step.table].modify_member(step.number, step.action, params_of(step))
            case "delete_member":
                target.profiles[step.table].delete_member(step.number)
            case "set_group":
                target.profiles[step.table].set_group(step.number, step.members)
            case "delete_group":
                target.profiles[step.table].delete_group(step.number)
            case "add":
                target.tables[step.table].add(entry_of(step))
            case "modify":
                target.tables[step.table].modify(entry_of(step))
            case "delete":
                target.tables[step.table].delete(entry_of(step).match, step.priority)
            case "default":
                target.tables[step.table].default(step.action, params_of(step))
            case "reset_default":
                target.tables[step.table].reset_default()
    except ControlError as error:
        return str(error.code)
    return OK


def entry_of(step: ControlRequest) -> ControlEntry:
    """The table entry of a control step."""
    match = {name: match_of(text) for name, text in step.match.items()}
    refers = _REFERS.fullmatch(step.action)
    if refers is None:
        return ControlEntry(match, step.action, params_of(step), step.priority)
    kind, number = refers.groups()
    return ControlEntry(
        match, Member(int(number)) if kind == "member" else SelectorGroup(int(number)), (), step.priority
    )


def params_of(step: ControlRequest) -> dict[str, int]:
    """The parameters of a control step's action."""
    return {name: int(text, 16) for name, text in step.params.items()}


def match_of(text: str) -> Match:
    """A match from its text. Raises BadInput for a text that is none."""
    found = _MATCH.fullmatch(text)
    if found is None:
        raise BadInput(f"{text!r} is no match; write 0x1, 0x1/8, 0x1&0xff or 0x1-0x2")
    first, sign, second, slash, prefix = found.groups()
    value = int(first, 16)
    if slash:
        return Lpm(value, int(prefix))
    if sign is None:
        return value
    return Ternary(value, int(second, 16)) if sign == "&" else Range(value, int(second, 16))


def text_of(match: Match) -> str:
    """The text of a match."""
    match match:
        case Lpm(value=value, prefix=prefix):
            return f"{value:#x}/{prefix}"
        case Ternary(value=value, mask=mask):
            return f"{value:#x}&{mask:#x}"
        case Range(low=low, high=high):
            return f"{low:#x}-{high:#x}"
        case int():
            return f"{match:#x}"
