"""The switch's P4Runtime server, through p4runtime-shell as a library: pipeline, tables, groups, packets and digests.

The library holds one session a process, in its module; this is for the child process alone.
"""

from __future__ import annotations

import contextlib
import queue
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import p4runtime_sh.shell as shell
from p4runtime_sh.p4runtime import (
    P4RuntimeClient,
    P4RuntimeErrorFormatException,
    P4RuntimeException,
    P4RuntimeWriteException,
    code_pb2,
    grpc,
    p4runtime_pb2,
)

from scatterproof.impl.bmv2.answers import Silent, WriteRefused

ELECTION = (0, 1)
_ANSWER_S = 30.0
_VERBS = {"INSERT", "MODIFY", "DELETE"}


class _Patient(P4RuntimeClient):  # type: ignore[misc]
    """A client that waits longer: the library gives the server two seconds to begin a session, too few on a busy
    machine."""

    def get_stream_packet(self, type_: str, timeout: float | None = 1) -> Any:
        return super().get_stream_packet(type_, timeout and max(timeout, _ANSWER_S))


class Runtime:
    """One session as the primary controller. `p4info` and `program` are the two files of the pipeline."""

    def __init__(self, address: str, p4info: Path, program: Path) -> None:
        self._files = (str(p4info), str(program))
        shell.P4RuntimeClient = _Patient
        try:
            shell.setup(
                device_id=1,
                grpc_addr=address,
                election_id=ELECTION,
                config=shell.FwdPipeConfig(*self._files),
                verbose=False,
            )
        except SystemExit:
            raise Silent("it took no session or pipeline from p4runtime-shell") from None
        self._client = shell.client
        info = self._client.get_p4info()
        self._tables = {table.preamble.name: table for table in info.tables}
        self._actions = {action.preamble.name: action for action in info.actions}
        self._headers = {header.preamble.name: header for header in info.controller_packet_metadata}
        self._profiles = {profile.preamble.name: profile for profile in info.action_profiles}
        self._digests = {digest.preamble.id: digest.preamble.name for digest in info.digests}
        self._counters = {counter.preamble.name: counter.preamble.id for counter in info.counters}
        self._read_bytes = self._client.channel.unary_stream("/p4.v1.P4Runtime/Read")
        self._counted: dict[str, tuple[bytes, list[tuple[int, int]]]] = {}

    def close(self) -> None:
        """End the session; without this the process never ends."""
        shell.teardown()

    def push(self) -> None:
        """Load the same pipeline once more: tables empty, registers zero."""
        try:
            self._client.set_fwd_pipe_config(*self._files)
        except P4RuntimeException as error:
            raise Silent(f"it refused the pipeline: {error}") from None

    # --- tables

    def table(self, verb: str, name: str, entry: Mapping[str, Any]) -> None:
        """Insert, modify or delete. `entry`: match, action (not for DELETE), params, priority; see `switch.encode`."""
        table = self._find(self._tables, "table", name)
        update = self._update(verb)
        message = update.entity.table_entry
        message.table_id = table.preamble.id
        message.priority = entry.get("priority", 0)
        fields = {field.name: field for field in table.match_fields}
        for key, value in entry["match"].items():
            self._match(message.match.add(), self._find(fields, f"key of table {name}", key), value)
        match entry["action"]:
            case _ if verb == "DELETE":
                pass
            case ["member", int(number)]:
                message.action.action_profile_member_id = number
            case ["group", int(number)]:
                message.action.action_profile_group_id = number
            case name:
                self._action(message.action.action, name, entry.get("params", ()))
        self._write(update)

    def default(self, name: str, action: str | None, params: Any) -> None:
        """Set the default action; None for the program's own."""
        update = self._update("MODIFY")
        message = update.entity.table_entry
        message.table_id = self._find(self._tables, "table", name).preamble.id
        message.is_default_action = True
        if action is not None:
            self._action(message.action.action, action, params)
        self._write(update)

    def clear(self, name: str) -> int:
        """Delete all entries of a table; returns how many there were."""
        entity = p4runtime_pb2.Entity()
        entity.table_entry.table_id = self._find(self._tables, "table", name).preamble.id
        found = [one for one in self._read(entity) if not one.table_entry.is_default_action]
        for one in found:
            update = self._update("DELETE")
            update.entity.CopyFrom(one)
            self._write(update)
        return len(found)

    def entries(self, name: str) -> int:
        """How many entries a table has."""
        entity = p4runtime_pb2.Entity()
        entity.table_entry.table_id = self._find(self._tables, "table", name).preamble.id
        return sum(1 for one in self._read(entity) if not one.table_entry.is_default_action)

    # --- action profiles

    def member(self, verb: str, profile: str, number: int, action: str, params: Any) -> None:
        update = self._update(verb)
        message = update.entity.action_profile_member
        message.action_profile_id = self._find(self._profiles, "action profile", profile).preamble.id
        message.member_id = number
        if verb != "DELETE":
            self._action(message.action, action, params)
        self._write(update)

    def group(self, verb: str, profile: str, number: int, members: Sequence[int]) -> None:
        update = self._update(verb)
        message = update.entity.action_profile_group
        found = self._find(self._profiles, "action profile", profile)
        message.action_profile_id, message.group_id = found.preamble.id, number
        if verb == "INSERT":
            message.max_size = found.max_group_size
        for member in members:
            one = message.members.add()
            one.member_id, one.weight = member, 1
        self._write(update)

    # --- replication and counters

    def multicast(self, verb: str, group: int, replicas: Sequence[tuple[int, int]]) -> None:
        update = self._update(verb)
        message = update.entity.packet_replication_engine_entry.multicast_group_entry
        message.multicast_group_id = group
        self._replicas(message, replicas)
        self._write(update)

    def clone_session(self, verb: str, session: int, replicas: Sequence[tuple[int, int]]) -> None:
        update = self._update(verb)
        message = update.entity.packet_replication_engine_entry.clone_session_entry
        message.session_id = session
        self._replicas(message, replicas)
        self._write(update)

    def counter(self, name: str) -> list[tuple[int, int]]:
        """Packets and bytes of each cell of an indirect counter, by index."""
        request = p4runtime_pb2.ReadRequest(device_id=1)
        request.entities.add().counter_entry.counter_id = self._find(self._counters, "counter", name)
        try:
            # Messages after each other are one message with all of their entities.
            answer = b"".join(self._read_bytes(request.SerializeToString()))
        except grpc.RpcError as error:
            raise WriteRefused(error.code().name, error.details()) from None
        # The library takes as long for reading an answer as the switch for giving it, and most are the same as before.
        if self._counted.get(name, (b"", []))[0] != answer:
            cells = [one.counter_entry for one in p4runtime_pb2.ReadResponse.FromString(answer).entities]
            cells.sort(key=lambda cell: cell.index.index)
            self._counted[name] = answer, [(cell.data.packet_count, cell.data.byte_count) for cell in cells]
        return self._counted[name][1]

    # --- packets and digests

    def packet_out(self, data: bytes) -> None:
        """Send a packet out. `data` begins with the program's packet_out header, if it has one: its bits go over as
        metadata."""
        request = p4runtime_pb2.StreamMessageRequest()
        header = self._headers.get("packet_out")
        if header is not None:
            size = _size(header)
            bits, left = int.from_bytes(data[:size], "big"), size * 8
            for field in header.metadata:
                left -= field.bitwidth
                metadata = request.packet.metadata.add()
                metadata.metadata_id = field.id
                metadata.value = canonical(bits >> left & (1 << field.bitwidth) - 1)
            data = data[size:]
        request.packet.payload = data
        self._client.stream_out_q.put(request)

    def least_packet_out(self) -> int:
        """Bytes of the packet_out header."""
        return _size(self._headers["packet_out"]) if "packet_out" in self._headers else 0

    def barrier(self) -> None:
        """Wait until the switch has what was sent on the stream, and what it sent is here: streams keep their order,
        and the server answers each bid for mastership that is higher than the last."""
        high, low = self._client.election_id
        self._client.election_id = (high, low + 1)
        try:
            self._client.handshake()
        except SystemExit:
            raise Silent("it did not answer a bid for mastership") from None

    def packet_ins(self) -> list[bytes]:
        """All packets that came to the CPU port: the packet_in header's bits, then the payload."""
        header = self._headers.get("packet_in")
        found = []
        for message in self._arrived("packet"):
            bits = 0
            if header is not None:
                values = {metadata.metadata_id: metadata.value for metadata in message.packet.metadata}
                for field in header.metadata:
                    bits = bits << field.bitwidth | int.from_bytes(values[field.id], "big")
            head = bits.to_bytes(_size(header), "big") if header is not None else b""
            found.append(head + message.packet.payload)
        return found

    def enable_digests(self) -> None:
        """Have a message sent at once for each digest."""
        for number in self._digests:
            update = self._update("INSERT")
            update.entity.digest_entry.digest_id = number
            update.entity.digest_entry.config.max_list_size = 1
            self._write(update)

    def take_digests(self) -> list[tuple[str, list[int]]]:
        """Name and fields of each digest since the last call."""
        found = []
        for message in self._arrived("digest"):
            for data in message.digest.data:
                members = data.struct.members if data.HasField("struct") else [data]
                fields = [int.from_bytes(member.bitstring, "big") for member in members]
                found.append((self._digests[message.digest.digest_id], fields))
            ack = p4runtime_pb2.StreamMessageRequest()
            ack.digest_ack.digest_id, ack.digest_ack.list_id = message.digest.digest_id, message.digest.list_id
            self._client.stream_out_q.put(ack)
        return found

    # --- inside

    def _arrived(self, kind: str) -> Iterator[Any]:
        with contextlib.suppress(queue.Empty):
            while True:
                message = self._client.stream_in_q[kind].get_nowait()
                if message is None:
                    raise Silent("it closed the stream")
                yield message

    def _update(self, verb: str) -> Any:
        if verb not in _VERBS:
            raise WriteRefused("INVALID_ARGUMENT", f"{verb!r} is none of {', '.join(sorted(_VERBS))}")
        update = p4runtime_pb2.Update()
        update.type = getattr(p4runtime_pb2.Update, verb)
        return update

    def _find(self, known: Mapping[str, Any], what: str, name: str) -> Any:
        if name not in known:
            raise WriteRefused("NOT_FOUND", f"there is no {what} {name!r}; there are {', '.join(known) or 'none'}")
        return known[name]

    def _match(self, message: Any, field: Any, value: Any) -> None:
        message.field_id = field.id
        match value:
            case int():
                optional = field.match_type == type(field).OPTIONAL
                (message.optional if optional else message.exact).value = canonical(value)
            case ["lpm", int(number), int(prefix)]:
                message.lpm.value, message.lpm.prefix_len = canonical(number), prefix
            case ["ternary", int(number), int(mask)]:
                message.ternary.value, message.ternary.mask = canonical(number), canonical(mask)
            case ["range", int(low), int(high)]:
                message.range.low, message.range.high = canonical(low), canonical(high)
            case _:
                raise WriteRefused("INVALID_ARGUMENT", f"{value!r} is no match for {field.name}")

    def _action(self, message: Any, name: str, params: Any) -> None:
        action = self._find(self._actions, "action", name)
        message.action_id = action.preamble.id
        known = {param.name: param for param in action.params}
        given = params.items() if isinstance(params, Mapping) else zip(known, params, strict=False)
        if not isinstance(params, Mapping) and len(params) != len(known):
            raise WriteRefused("INVALID_ARGUMENT", f"action {name} takes {len(known)} parameters, not {len(params)}")
        for key, value in given:
            param = message.params.add()
            param.param_id = self._find(known, f"parameter of action {name}", key).id
            param.value = canonical(value)

    def _replicas(self, message: Any, replicas: Sequence[tuple[int, int]]) -> None:
        for port, instance in replicas:
            replica = message.replicas.add()
            replica.egress_port, replica.instance = port, instance

    def _write(self, update: Any) -> None:
        try:
            self._client.write_update(update)
        except P4RuntimeWriteException as error:
            (_, one), *_ = error.errors
            raise WriteRefused(code_pb2.Code.Name(one.canonical_code), one.message) from None
        except P4RuntimeErrorFormatException as error:
            raise WriteRefused("UNKNOWN", str(error)) from None
        except grpc.RpcError as error:
            raise WriteRefused(error.code().name, error.details()) from None

    def _read(self, entity: Any) -> Iterator[Any]:
        try:
            for answer in self._client.read_one(entity):
                yield from answer.entities
        except grpc.RpcError as error:
            raise WriteRefused(error.code().name, error.details()) from None


def canonical(value: int) -> bytes:
    """The shortest string of bytes that holds it, as P4Runtime wants it."""
    if value < 0:
        raise WriteRefused("OUT_OF_RANGE", f"{value} is below 0")
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


def _size(header: Any) -> int:
    return int(sum(field.bitwidth for field in header.metadata) // 8)
