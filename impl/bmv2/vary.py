"""Packets and table entries for any program, drawn by a seed from its compiled form.

A packet is a walk through the program's parser: each extracted header gets fields, and where the parser selects, the
fields get a value that leads on. Fields and table keys draw from the same few values, so that entries are hit. Some
packets are then cut short, changed in a bit, or nothing but random bytes; some entries are wrong on purpose.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from scatterproof.impl.bmv2.recording import ControlRequest, RecordedPacket, Step, text_of
from scatterproof.impl.bmv2.wires import LEAST_BYTES, refusal
from scatterproof.impl.v1model import Lpm, Match, Range, Ternary

GROUPS = (1, 2, 3)
SESSIONS = (1, 2, 100)
MEMBERS = (1, 2, 3, 9)
# The last of them has a member that is not there.
MEMBERS_OF = {1: (1, 2, 3, 9), 2: (9, 2), 3: (1,), 4: (1, 77)}
_MOST_HEADERS = 24
_PORT_BITS = 9
_GROUP_BITS = 16
_INGRESS_PORT = ["standard_metadata", "ingress_port"]


_TABLES = re.compile(r"^tables \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r'name: "([^"]+)"')
_OPTIONAL = re.compile(r'match_fields \{[^}]*name: "([^"]+)"[^}]*match_type: OPTIONAL')


class Variety:
    """All draws for one program, from one seed."""

    def __init__(self, content: bytes, p4info: str, *, ports: Sequence[int], cpu_port: int | None, seed: int) -> None:
        self._program: dict[str, Any] = json.loads(content)
        self._random = random.Random(seed)
        self._ports = list(ports)
        self._controller = [] if cpu_port is None else [cpu_port]
        types = {one["name"]: one["fields"] for one in self._program["header_types"]}
        self._fields = {one["name"]: types[one["header_type"]] for one in self._program["headers"]}
        self._type_of = {one["name"]: one["header_type"] for one in self._program["headers"]}
        by_id = {one["id"]: one["name"] for one in self._program["headers"]}
        self._stacks = {one["name"]: [by_id[i] for i in one["header_ids"]] for one in self._program["header_stacks"]}
        parser = self._program["parsers"][0]
        self._states = {one["name"]: one for one in parser["parse_states"]}
        self._first = parser["init_state"]
        self._actions = {one["id"]: one for one in self._program["actions"]}
        self._pools: dict[tuple[str, str], list[int]] = {}
        self._compared: dict[tuple[str, str], set[int]] = {}
        self._note_comparisons(self._program)
        self._asked: list[ControlRequest] = []
        # In the compiled form an optional key is a ternary one.
        self._optional = {one for table in _TABLES.findall(p4info) for one in _optional_keys(table)}

    def steps(self, packets: int, *, entries: int = 40) -> Iterator[Step]:
        """Groups and entries first, then packets, with a change of the entries now and then."""
        yield from self.groups()
        yield from self.profiles()
        for _ in range(entries):
            yield from self.controls()
        for number in range(packets):
            if number % 10 == 9:
                yield from self.controls()
            yield self.packet()

    # --- packets

    def packet(self) -> RecordedPacket:
        """One packet for one of the ports; never one that a veth would not carry."""
        draw = self._random.random()
        port = self._random.choice([*self._ports, *self._controller])
        data = self._random.randbytes(self._random.randrange(LEAST_BYTES, 80)) if draw < 0.04 else self.walk(port)
        if 0.04 <= draw < 0.16:
            data = data[: self._random.randrange(LEAST_BYTES, max(len(data), LEAST_BYTES + 1))]
        elif 0.16 <= draw < 0.26:
            bit = self._random.randrange(len(data) * 8)
            changed = bytearray(data)
            changed[bit // 8] ^= 1 << bit % 8
            data = bytes(changed)
        data += bytes(max(0, LEAST_BYTES - len(data)))
        return self.packet() if refusal(data) else RecordedPacket(port=port, data=data.hex())

    def walk(self, port: int) -> bytes:
        """A packet that the parser takes from this port, with a payload."""
        headers: list[tuple[str, dict[str, int]]] = []
        used: dict[str, int] = {}
        ahead: list[tuple[int, int, int]] = []
        state = self._first
        while state is not None and len(headers) < _MOST_HEADERS:
            spec = self._states[state]
            for name in self._extracted(spec, used):
                headers.append((name, {field[0]: self._draw(name, field[0], field[1]) for field in self._whole(name)}))
            state = self._choose(spec, port, headers, ahead)
        self._checksums(headers)
        bits, width = 0, 0
        for name, values in headers:
            for field in self._whole(name):
                bits, width = bits << field[1] | values[field[0]], width + field[1]
        if width % 8:
            bits, width = bits << (8 - width % 8), width + 8 - width % 8
        data = bytearray(bits.to_bytes(width // 8, "big") + self._random.randbytes(self._random.choice([0, 1, 8, 46])))
        for offset, size, value in ahead:
            _put(data, offset, size, value)
        return bytes(data)

    def _whole(self, header: str) -> list[Any]:
        """The fields of fixed width; a varbit is left empty, though the program may ask for more."""
        return [field for field in self._fields[header] if isinstance(field[1], int)]

    def _extracted(self, state: dict[str, Any], used: dict[str, int]) -> Iterator[str]:
        for operation in state["parser_ops"]:
            if operation["op"] not in {"extract", "extract_VL"}:
                continue
            target = operation["parameters"][0]
            if target["type"] == "regular":
                yield target["value"]
            elif target["type"] == "stack":
                members, place = self._stacks[target["value"]], used.get(target["value"], 0)
                used[target["value"]] = place + 1
                yield members[min(place, len(members) - 1)]

    def _choose(
        self,
        state: dict[str, Any],
        port: int,
        headers: list[tuple[str, dict[str, int]]],
        ahead: list[tuple[int, int, int]],
    ) -> str | None:
        """One of the transitions; the fields that lead to it are given their values."""
        transitions = state["transitions"]
        chosen = self._random.choice(transitions)
        if len(transitions) > 1 and chosen["type"] == "default" and self._random.random() < 0.85:
            chosen = self._random.choice(transitions)
        keys = state["transition_key"]
        if [key["value"] for key in keys] == [_INGRESS_PORT]:
            chosen = next(
                (one for one in transitions if one["type"] != "hexstr" or int(one["value"], 16) == port), chosen
            )
        if chosen["type"] != "hexstr" or not keys:
            return _text_or_none(chosen["next_state"])
        value = int(chosen["value"], 16)
        mask = int(chosen["mask"], 16) if chosen.get("mask") else -1
        widths = [self._key_width(key, headers) for key in keys]
        left = sum((width + 7) // 8 * 8 for width in widths)
        for key, width in zip(keys, widths, strict=True):
            left -= (width + 7) // 8 * 8
            part, part_mask = value >> left & (1 << width) - 1, mask >> left & (1 << width) - 1
            drawn = self._random.getrandbits(width)
            wanted = part & part_mask | drawn & ~part_mask & (1 << width) - 1
            if key["type"] == "lookahead":
                done = sum(field[1] for name, _ in headers for field in self._whole(name))
                ahead.append((done + key["value"][0], width, wanted))
            else:
                self._force(key, headers, wanted)
        return _text_or_none(chosen["next_state"])

    def _key_width(self, key: dict[str, Any], headers: list[tuple[str, dict[str, int]]]) -> int:
        if key["type"] == "lookahead":
            return int(key["value"][1])
        name, field = key["value"]
        fields = self._fields.get(name) or self._fields[self._stacks[name][0]]
        return next(int(one[1]) for one in fields if one[0] == field)

    def _force(self, key: dict[str, Any], headers: list[tuple[str, dict[str, int]]], value: int) -> None:
        name, field = key["value"]
        members = set(self._stacks.get(name, [name]))
        for header, values in reversed(headers):
            if header in members and field in values:
                values[field] = value
                return

    def _checksums(self, headers: list[tuple[str, dict[str, int]]]) -> None:
        """Put most one's complement checksums of header fields right."""
        values = {(name, field): value for name, fields in headers for field, value in fields.items()}
        for checksum in self._program["checksums"]:
            target = tuple(checksum["target"])
            calculation = next(one for one in self._program["calculations"] if one["name"] == checksum["calculation"])
            if target not in values or calculation["algo"] != "csum16" or self._random.random() < 0.2:
                continue
            bits, width = 0, 0
            for item in calculation["input"]:
                if item["type"] == "field" and tuple(item["value"]) in values:
                    name, field = item["value"]
                    size = next(one[1] for one in self._fields[name] if one[0] == field)
                    bits, width = bits << size | values[name, field], width + size
            bits <<= -width % 16
            total = 0
            while bits:
                total, bits = total + (bits & 0xFFFF), bits >> 16
            while total >> 16:
                total = (total & 0xFFFF) + (total >> 16)
            next(fields for name, fields in headers if name == target[0])[target[1]] = total ^ 0xFFFF

    def _draw(self, header: str, field: str, width: int) -> int:
        if self._random.random() < 0.1:
            return self._random.getrandbits(width)
        return self._random.choice(self._pool(self._type_of[header], field, width))

    def _pool(self, type_: str, field: str, width: int) -> list[int]:
        """The few values that a field has in packets and entries."""
        if (type_, field) not in self._pools:
            # By name, not in the order of use: a change in one place leaves other pools alone.
            own = random.Random(f"{type_}.{field}.{width}")
            few = {0, 1, (1 << width) - 1, *(own.getrandbits(width) for _ in range(3))}
            few |= {value & (1 << width) - 1 for value in self._compared.get((type_, field), ())}
            if width == _PORT_BITS:
                few = {*self._ports, 511}
            self._pools[type_, field] = sorted(few)
        return self._pools[type_, field]

    def _note_comparisons(self, node: object) -> None:
        """The constants that the program compares fields with: its packets should have them."""
        if isinstance(node, dict):
            sides = [node.get("left"), node.get("right")]
            fields = [side["value"] for side in sides if isinstance(side, dict) and side.get("type") == "field"]
            constants = [side["value"] for side in sides if isinstance(side, dict) and side.get("type") == "hexstr"]
            for name, field in fields if constants else ():
                self._compared.setdefault((self._type_of[name], field), set()).update(int(one, 16) for one in constants)
        for one in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            self._note_comparisons(one)

    # --- the control plane

    def groups(self) -> Iterator[ControlRequest]:
        """Multicast groups and clone sessions: none, some and all of the ports, one port twice."""
        some = self._ports[: max(1, len(self._ports) // 2)]
        kinds = [self._ports, some, [some[0], some[0]]]
        for number, ports in zip(GROUPS, kinds, strict=True):
            replicas = [(port, place + 1) for place, port in enumerate(ports)]
            yield ControlRequest(verb="multicast", number=number, replicas=replicas)
        for number in SESSIONS:
            port = self._random.choice([*self._ports, *self._controller])
            yield ControlRequest(verb="clone_session", number=number, replicas=[(port, 1)])

    def controls(self) -> Iterator[ControlRequest]:
        """One request to one table, if the program has any; repeated, changed and wrong ones too."""
        tables = [table for pipeline in self._program["pipelines"] for table in pipeline["tables"]]
        tables = [table for table in tables if not table["name"].startswith("tbl_") and table["action_ids"]]
        if not tables:
            return
        table = self._random.choice(tables)
        draw = self._random.random()
        mine = [step for step in self._asked if step.table == table["name"]]
        if mine and draw < 0.06:
            yield self._random.choice(mine)
        elif mine and draw < 0.14:
            yield self._changed(self._random.choice(mine), table, verb="modify")
        elif mine and draw < 0.2:
            yield self._changed(self._random.choice(mine), table, verb="delete")
        elif draw < 0.26 and "action_profile" not in table:
            action, params = self._call(table)
            yield ControlRequest(verb="default", table=table["name"], action=action, params=params)
        elif table["key"]:
            action, params = self._call(table)
            ranked = table["match_type"] in {"ternary", "range"}
            match = {key["name"]: text_of(self._match(table["name"], key, wrong=draw > 0.97)) for key in table["key"]}
            step = ControlRequest(
                verb="add", table=table["name"], match={name: text for name, text in match.items() if text != "*"},
                action=action, params=params, priority=self._random.randrange(1, 6) if ranked else 0,
            )  # fmt: skip
            self._asked.append(step)
            yield step

    def _changed(self, step: ControlRequest, table: dict[str, Any], *, verb: Any) -> ControlRequest:
        action, params = self._call(table) if verb == "modify" else ("", {})
        return ControlRequest(
            verb=verb, table=step.table, match=step.match, action=action, params=params, priority=step.priority
        )

    def profiles(self) -> Iterator[ControlRequest]:
        """Members and groups of the action profiles; a member twice, and a group with a member that is not there."""
        tables = [table for pipeline in self._program["pipelines"] for table in pipeline["tables"]]
        for table in (table for table in tables if "action_profile" in table):
            name = table["action_profile"]
            for number in (*MEMBERS, MEMBERS[0]):
                action, params = self._own_call(table)
                yield ControlRequest(verb="add_member", table=name, number=number, action=action, params=params)
            action, params = self._own_call(table)
            yield ControlRequest(verb="modify_member", table=name, number=MEMBERS[1], action=action, params=params)
            if table["type"] == "indirect_ws":
                for number, members in MEMBERS_OF.items():
                    yield ControlRequest(verb="set_group", table=name, number=number, members=list(members))

    def _call(self, table: dict[str, Any]) -> tuple[str, dict[str, str]]:
        if "action_profile" not in table:
            return self._own_call(table)
        groups = table["type"] == "indirect_ws" and self._random.random() < 0.7
        return (
            f"group {self._random.choice(list(MEMBERS_OF))}" if groups else f"member {self._random.choice(MEMBERS)}",
            {},
        )

    def _own_call(self, table: dict[str, Any]) -> tuple[str, dict[str, str]]:
        action = self._actions[self._random.choice(table["action_ids"])]
        return action["name"], {one["name"]: hex(self._param(one)) for one in action["runtime_data"]}

    def _param(self, param: dict[str, Any]) -> int:
        width = int(param["bitwidth"])
        if width == _PORT_BITS:
            return self._random.choice(self._ports)
        if width == _GROUP_BITS and "gr" in param["name"]:
            return self._random.choice(GROUPS)
        # What one table sets, another may match.
        pools = [pool for pool in self._key_pools() if pool[0] == width]
        if pools and self._random.random() < 0.8:
            return self._random.choice(self._random.choice(pools)[1])
        return self._random.getrandbits(width)

    def _key_pools(self) -> Iterator[tuple[int, list[int]]]:
        """Width and values of every key of every table."""
        for pipeline in self._program["pipelines"]:
            for table in pipeline["tables"]:
                for key in table["key"]:
                    yield self._key_pool(key)

    def _key_pool(self, key: dict[str, Any]) -> tuple[int, list[int]]:
        header, field = map(str, key["target"] if isinstance(key["target"], list) else (key["target"], "$valid$"))
        width = next((int(one[1]) for one in self._fields.get(header, []) if one[0] == field), 1)
        return width, self._pool(self._type_of.get(header, header), field, width)

    def _match(self, table: str, key: dict[str, Any], *, wrong: bool) -> Match:
        width, pool = self._key_pool(key)
        value, everything = self._random.choice(pool), (1 << width) - 1
        if wrong:
            value = 1 << width
        kinds: dict[str, Callable[[], Match]] = {
            "exact": lambda: value,
            "valid": lambda: value,
            "lpm": lambda: self._lpm(value, width),
            "ternary": lambda: self._ternary(value, everything),
            "optional": lambda: value,
            "range": lambda: Range(*sorted((value, self._random.choice(pool)))),
        }
        return kinds["optional" if (table, key["name"]) in self._optional else key["match_type"]]()

    def _lpm(self, value: int, width: int) -> Lpm:
        prefix = self._random.choice([1, width // 2 or 1, max(1, width - 1), width])
        return Lpm(value >> (width - prefix) << (width - prefix), prefix)

    def _ternary(self, value: int, everything: int) -> Ternary:
        mask = self._random.choice([everything, everything, everything >> 1 or 1, everything ^ 1 or 1])
        return Ternary(value & mask, mask)


def _optional_keys(table: str) -> list[tuple[str, str]]:
    """Table and key of the optional keys that the p4info text of one table names."""
    name = _NAME.search(table)
    return [(name.group(1), key) for key in _OPTIONAL.findall(table)] if name else []


def _put(data: bytearray, offset: int, width: int, value: int) -> None:
    """Write `width` bits at a bit offset, as far as the packet goes."""
    for place in range(width):
        where = offset + place
        if where // 8 < len(data):
            bit = value >> (width - 1 - place) & 1
            data[where // 8] = data[where // 8] & ~(0x80 >> where % 8) | bit * (0x80 >> where % 8)


def _text_or_none(name: object) -> str | None:
    return name if isinstance(name, str) else None
