"""BMv2 with the surface of the embedded target (`scatterproof.impl.v1model.Switch`), so that the same code drives both.

What differs. Time is the machine's: `now_us` has no effect. What leaves at one port is in order; over several ports the
order is not known (BMv2 has several egress threads), so `process` gives it by port, and by content at the CPU port,
where copies from all threads meet. Registers cannot be reached: BMv2's P4Runtime server implements neither their
reading nor their writing. Frames are those that a veth carries: 14 bytes and more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, Self

from scatterproof.impl.bmv2.recording import by_port
from scatterproof.impl.bmv2.session import COMMAND, AgentSession, find
from scatterproof.impl.bmv2.wires import refusal
from scatterproof.impl.v1model import (
    Code,
    ControlEntry,
    ControlError,
    CounterValue,
    Digest,
    Lpm,
    Match,
    Member,
    Range,
    SelectorGroup,
    Ternary,
    load,
)
from scatterproof.spec.errors import BadInput, CannotRun

Params = Mapping[str, int] | Sequence[int]
Replicas = Iterable[tuple[int, int]]
GREATEST_PORTS = 256


class Paced(NamedTuple):
    """`seconds` it took to send `sent` packets; `lost`: frames that the switch let out and we did not get."""

    seconds: float
    sent: int
    packets: list[tuple[int, bytes]]
    lost: int


class Bmv2Switch:
    """One running `simple_switch_grpc` with a program on it. A context manager."""

    def __init__(
        self,
        program: Path | bytes,
        *,
        p4info: Path | None = None,
        ports: int | Iterable[int],
        cpu_port: int | None = None,
        command: str = COMMAND,
    ) -> None:
        """`program`: BMv2 JSON or its file. `p4info`: by default the file beside it that ends in .p4info.txtpb.

        Raises CannotRun where BMv2 or the right to make a network namespace is missing.
        """
        if p4info is None:
            if isinstance(program, bytes):
                raise BadInput("a program that comes as bytes has no p4info beside it; give its file")
            p4info = program.with_suffix(".p4info.txtpb")
        content, info = program if isinstance(program, bytes) else _content(program), _content(p4info)
        numbers = list(range(ports)) if isinstance(ports, int) else list(ports)
        if len(numbers) > GREATEST_PORTS or len(set(numbers)) != len(numbers) or cpu_port in numbers:
            raise BadInput(f"ports {numbers}: give at most {GREATEST_PORTS}, each once, the CPU port not among them")
        compiled = load(content, place=str(p4info if isinstance(program, bytes) else program))
        self.ports = tuple(numbers)
        self._cpu_port = cpu_port
        found = find(command)
        with ExitStack() as cleanup:
            self._session = cleanup.enter_context(AgentSession())
            self._ask("start", found, info.decode(), content.decode(), numbers, cpu_port)
            self._least_packet_out = int(self._ask("least_packet_out"))
            cleanup.pop_all()
        self.tables = {name: RuntimeTable(name, self._ask) for name in compiled.tables}
        self.multicast = RuntimeGroups("multicast", self._ask)
        self.clone_sessions = RuntimeGroups("clone_session", self._ask)
        self.counters = _Counters(self._ask)
        self.profiles = {name: RuntimeProfile(name, self._ask) for name in compiled.profiles}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the switch and its namespace."""
        self._session.close()

    @property
    def pid(self) -> int:
        """The process id of `simple_switch_grpc`: `nsenter -t PID -n` leads to its namespace, with P4Runtime at
        127.0.0.1:9559."""
        return int(self._ask("pid"))

    @property
    def registers(self) -> Mapping[str, Any]:
        raise CannotRun("registers of BMv2 cannot be reached over P4Runtime; look at what the program lets out instead")

    def process(self, port: int, data: bytes, *, now_us: int = 0) -> list[tuple[int, bytes]]:
        """Send one packet, and return all that leaves until the switch rests, in the order of `recording.by_port`."""
        self._check(port, data)
        return by_port(_packets(self._ask("process", port, data.hex())), self._cpu_port)

    def paced(self, packets: Sequence[tuple[int, bytes]], rate: float) -> Paced:
        """Send many packets at `rate` a second."""
        for port, data in packets:
            self._check(port, data)
            if port == self._cpu_port:
                raise BadInput(f"port {port} is the CPU port, which is not paced; use `process`")
        seconds, found, lost = self._ask("paced", [(port, data.hex()) for port, data in packets], rate)
        return Paced(seconds, len(packets), _packets(found), lost)

    def reset(self) -> None:
        """The program as if just loaded: no entries or groups, registers and counters zero."""
        # A pipeline that is pushed anew leaves the replication engine alone.
        self.multicast.clear()
        self.clone_sessions.clear()
        self._ask("reset")

    def take_digests(self) -> list[Digest]:
        """All digests since the last call."""
        return [Digest(name, tuple(fields)) for name, fields in self._ask("digests")]

    def _ask(self, name: str, *arguments: Any) -> Any:
        return self._session.ask(name, *arguments)

    def _check(self, port: int, data: bytes) -> None:
        if port == self._cpu_port:
            if len(data) < self._least_packet_out:
                least = self._least_packet_out
                raise BadInput(
                    f"a packet-out of {len(data)} bytes is shorter than its header of {least}; send the header"
                )
        elif port not in self.ports:
            raise BadInput(f"port {port} is none of the switch's; there are {', '.join(map(str, self.ports))}")
        elif (reason := refusal(data)) is not None:
            raise BadInput(f"port {port}: {reason}")


class RuntimeTable:
    """One table over P4Runtime. Errors are `ControlError` with the code of the server."""

    def __init__(self, name: str, ask: Callable[..., Any]) -> None:
        self.name = name
        self._ask = ask

    def __len__(self) -> int:
        return int(self._ask("entries", self.name))

    def add(self, entry: ControlEntry) -> None:
        self._ask("table", "INSERT", self.name, encode(entry))

    def modify(self, entry: ControlEntry) -> None:
        self._ask("table", "MODIFY", self.name, encode(entry))

    def delete(self, match: Mapping[str, Match], priority: int = 0) -> None:
        self._ask("table", "DELETE", self.name, encode(ControlEntry(match, "", (), priority)))

    def default(self, action: str, params: Params = ()) -> None:
        self._ask("default", self.name, action, _plain(params))

    def reset_default(self) -> None:
        self._ask("default", self.name, None, ())

    def clear(self) -> None:
        self._ask("clear", self.name)


class RuntimeProfile:
    """An action profile, or a selector."""

    def __init__(self, name: str, ask: Callable[..., Any]) -> None:
        self.name = name
        self._ask = ask

    def add_member(self, number: int, action: str, params: Params = ()) -> None:
        self._ask("member", "INSERT", self.name, number, action, _plain(params))

    def modify_member(self, number: int, action: str, params: Params = ()) -> None:
        self._ask("member", "MODIFY", self.name, number, action, _plain(params))

    def delete_member(self, number: int) -> None:
        self._ask("member", "DELETE", self.name, number, "", ())

    def set_group(self, number: int, members: Iterable[int]) -> None:
        """Make a group, or put other members into it."""
        chosen = list(members)
        try:
            self._ask("group", "INSERT", self.name, number, chosen)
        except ControlError as error:
            if error.code is not Code.ALREADY_EXISTS:
                raise
            self._ask("group", "MODIFY", self.name, number, chosen)

    def delete_group(self, number: int) -> None:
        self._ask("group", "DELETE", self.name, number, [])


class RuntimeGroups:
    """Multicast groups or clone sessions, by number."""

    def __init__(self, kind: str, ask: Callable[..., Any]) -> None:
        self._kind = kind
        self._ask = ask
        self._known: set[int] = set()

    def set(self, number: int, replicas: Replicas) -> None:
        """Make the group, or put other replicas into it. At each port they leave in the order of instances.

        BMv2 lets replicas out in the order in which instances joined the group, and a request with several of them
        promises no order: so a second replica for one port joins by a request of its own.
        """
        if number in self._known:
            self.delete(number)
        chosen = sorted(replicas, key=lambda replica: (replica[1], replica[0]))
        verb, asked = "INSERT", 0
        for place, (port, instance) in enumerate(chosen):
            # All replicas of one instance join at once.
            if any(port == other and instance != earlier for other, earlier in chosen[asked:place]):
                asked = next(i for i in range(place + 1) if chosen[i][1] == instance)
                self._ask(self._kind, verb, number, chosen[:asked])
                self._known.add(number)
                verb = "MODIFY"
        self._ask(self._kind, verb, number, chosen)
        self._known.add(number)

    def delete(self, number: int) -> None:
        self._ask(self._kind, "DELETE", number, [])
        self._known.discard(number)

    def clear(self) -> None:
        """Delete all that were set here."""
        for number in sorted(self._known):
            self.delete(number)


class _Counters:
    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def __getitem__(self, name: str) -> _Counter:
        return _Counter(name, self._ask)


class _Counter:
    def __init__(self, name: str, ask: Callable[..., Any]) -> None:
        self._name, self._ask = name, ask

    def __getitem__(self, index: int) -> CounterValue:
        return self.values()[index]

    def values(self) -> list[CounterValue]:
        """What each cell has counted, in one request."""
        return [CounterValue(*cell) for cell in self._ask("counter", self._name)]


def encode(entry: ControlEntry) -> dict[str, Any]:
    """An entry in the JSON of the agent's requests."""
    return {
        "match": {name: _match(value) for name, value in entry.match.items()},
        "action": _action(entry.action),
        "params": _plain(entry.params),
        "priority": entry.priority,
    }


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; compile the program with p4c-bm2-ss --p4runtime-files") from None


def _match(value: Match) -> int | list[int | str]:
    match value:
        case Lpm(value=number, prefix=prefix):
            return ["lpm", number, prefix]
        case Ternary(value=number, mask=mask):
            return ["ternary", number, mask]
        case Range(low=low, high=high):
            return ["range", low, high]
        case int():
            return value


def _action(action: str | Member | SelectorGroup) -> str | tuple[str, int]:
    match action:
        case Member(number=number):
            return "member", number
        case SelectorGroup(number=number):
            return "group", number
        case str():
            return action


def _plain(params: Params) -> dict[str, int] | list[int]:
    return dict(params) if isinstance(params, Mapping) else list(params)


def _packets(found: Iterable[tuple[int, str]]) -> list[tuple[int, bytes]]:
    return [(port, bytes.fromhex(data)) for port, data in found]
