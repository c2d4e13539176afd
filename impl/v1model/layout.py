"""Headers, fields and stacks of a program, and the local variables that hold them in the generated source.

A header in a packet is one int (its *raw* local), always up to date, plus a local for each field that the program reads
more than once; raw is bytes where nothing ever changes the header. Which fields those are is learnt by generating once
(`Usage`) and used when generating again. Headers that are assigned to each other, and the members of a stack, are one
*group* and are held alike.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from scatterproof.impl.v1model import compiled
from scatterproof.impl.v1model.code import Block, Patch
from scatterproof.impl.v1model.fields import Field, HeaderInstance, HeaderStack, Raw, part
from scatterproof.spec.place import Place

STANDARD = "standard_metadata"
SCALARS = "scalars"
# A field that is read this often has a local of its own; others are taken from their header where they are read.
LOCAL_FROM = 2
# Names that the generated source uses for itself; so are t1, t2, ... for temporaries and p_... for parameters.
RESERVED = frozenset(
    [
        "aborted",
        "again",
        "branch",
        "calls",
        "cell",
        "clone",
        "clone_list",
        "clone_session",
        "clones",
        "crc",
        "data",
        "digest_list",
        "digests",
        "drop_port",
        "egress",
        "exited",
        "from_bytes",
        "groups",
        "hit",
        "ingress",
        "ingress_length",
        "instance",
        "kept",
        "later",
        "length",
        "moved",
        "now_us",
        "number",
        "out",
        "packet",
        "payload",
        "pc",
        "port",
        "ports",
        "pos",
        "queues",
        "random",
        "recirculate_list",
        "replica",
        "replicas",
        "resubmit_list",
        "rid",
        "row",
        "sessions",
        "size",
        "state",
        "to_bytes",
        "truncated",
    ]
)


@dataclass(slots=True)
class Usage:
    """What the generated source does to header groups; fields are (group, index)."""

    read: Counter[tuple[str, int]] = field(default_factory=Counter)
    modified: set[tuple[str, int]] = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    # Facilities of the architecture that the program uses ("clone", "resubmit", ...): others get no code.
    features: set[str] = field(default_factory=set)


class HeaderLayout:
    """All headers of a program, by name; names that are not there are refused with their place."""

    def __init__(self, program: compiled.CompiledProgram, place: Place) -> None:
        self._place = place
        self._taken = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *RESERVED}
        types = {kind.name: kind for kind in program.header_types}
        self.headers: dict[str, HeaderInstance] = {}
        by_id: dict[int, HeaderInstance] = {}
        for header in program.headers:
            where = place / f"header {header.name}"
            if header.header_type not in types:
                where.refuse(f"its type {header.header_type!r} is missing", "compile the program again")
            self.headers[header.name] = by_id[header.id] = self._header(header, types[header.header_type], where)
        self.stacks = {
            stack.name: HeaderStack(
                stack.name, [by_id[one] for one in stack.header_ids], self._fresh(f"{stack.name}_next")
            )
            for stack in program.header_stacks
        }
        self.unions = {union.name: [by_id[one] for one in union.header_ids] for union in program.header_unions}
        self._aliases = dict(program.field_aliases)
        self._groups = {name: name for name in self.headers}
        for stack in self.stacks.values():
            for member in stack.members[1:]:
                self.join(stack.members[0], member)
        self.usage = Usage()
        self.known: Usage | None = None
        # Whether reads are counted: not where the same code is generated once more for another function.
        self.counting = True
        self._values = 0

    def _fresh(self, wanted: str) -> str:
        """A name that was not given out before, and is none of the generated source's own."""
        name = re.sub(r"\W+", "_", wanted).strip("_") or "x"
        if name[0].isdigit() or re.fullmatch(r"[ntv]\d+|p_.*|unpack_.*", name):
            name = f"h_{name}"
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def fresh(self, wanted: str) -> str:
        """A name for something else than a field, different from all names given out."""
        return self._fresh(wanted)

    def _header(self, header: compiled.CompiledHeader, kind: compiled.HeaderType, place: Place) -> HeaderInstance:
        prefix = {SCALARS: "", STANDARD: "std_"}.get(header.name, f"{header.name}_")
        if kind.length_exp is not None:
            place.refuse("a length expression of P4-14 is not implemented", "extract with a length argument")
        fields: list[Field] = []
        for index, described in enumerate(kind.fields):
            match described:
                case [str(name), int(width), *rest]:
                    variable = False
                case [str(name), "*", *rest]:
                    width, variable = 0, True
                case _:
                    place.refuse(f"field {described!r} has an unknown form", "compile the program again")
            if len(rest) > 1 and rest[1]:
                place.refuse(f"field {name} is saturating, which is not implemented", "use |+| and |-|")
            signed = bool(rest[0]) if rest else False
            fields.append(Field(header.name, name, index, width, 0, signed, variable, self._fresh(prefix + name)))
        shift = 0
        for one in reversed(fields):
            one.shift = shift
            shift += one.width
        if shift % 8 and not header.metadata:
            place.refuse(f"{shift} bits are no whole number of bytes", "pad the header")
        base = header.name if header.name not in {SCALARS, STANDARD} else f"{header.name}_"
        found = HeaderInstance(
            header.name,
            header.header_type,
            header.metadata,
            fields,
            self._fresh(f"{base}_valid"),
            self._fresh(f"{base}_raw"),
            kind.max_length,
        )
        found.variable = next((one for one in fields if one.variable), None)
        return found

    # -- by name ----------------------------------------------------------------------------------------------------

    def header(self, name: str, place: Place) -> HeaderInstance:
        if name not in self.headers:
            place.refuse(f"there is no header {name!r}", "compile the program again")
        return self.headers[name]

    def stack(self, name: str, place: Place) -> HeaderStack:
        if name not in self.stacks:
            place.refuse(f"there is no header stack {name!r}", "compile the program again")
        return self.stacks[name]

    def union(self, name: str, place: Place) -> list[HeaderInstance]:
        if name not in self.unions:
            place.refuse(f"there is no header union {name!r}", "compile the program again")
        return self.unions[name]

    def validate(self, header: HeaderInstance) -> Block:
        """Make a header valid, and the others of its union invalid."""
        others = [one.valid for members in self.unions.values() if header in members for one in members]
        body: Block = [f"{' = '.join(name for name in others if name != header.valid)} = 0"] if len(others) > 1 else []
        return [*body, f"{header.valid} = 1"]

    def field(self, header: str, name: str, place: Place) -> Field:
        for one in self.header(header, place).fields:
            if one.name == name:
                return one
        return place.refuse(f"header {header} has no field {name!r}", "compile the program again")

    def standard(self, name: str) -> Field | None:
        """A field of the architecture, by its name in v1model, if this program's architecture file has it."""
        for prefix in ("standard_metadata", "intrinsic_metadata", "queueing_metadata"):
            alias = self._aliases.get(f"{prefix}.{name}")
            if alias is not None:
                return self.field(*alias, self._place / "field_aliases")
        header = self.headers.get(STANDARD)
        return next((one for one in header.fields if one.name == name), None) if header else None

    # -- groups and usage -------------------------------------------------------------------------------------------

    def group(self, header: str) -> str:
        while self._groups[header] != header:
            header = self._groups[header]
        return header

    def join(self, one: HeaderInstance, other: HeaderInstance) -> None:
        """Hold two headers alike, since one is assigned to the other."""
        self._groups[self.group(one.name)] = self.group(other.name)

    def _key(self, one: Field) -> tuple[str, int]:
        return self.group(one.header), one.index

    def read(self, one: Field) -> str:
        """An atom for the field's value, noted as read: its local, or its part of the header's number."""
        key = self._key(one)
        if self.counting or not self.usage.read[key]:
            self.usage.read[key] += 1
        return one.local if self.is_tracked(one) else f"({part(self.headers[one.header].raw, one)})"

    def modify(self, one: Field) -> str:
        """The field's local, noted as assigned."""
        self.usage.modified.add(self._key(one))
        return one.local

    def assign(self, one: Field, code: str) -> Block:
        """Statements that store an expression, which is within the field's bounds, in it."""
        self.modify(one)
        header = self.headers[one.header]
        if self.raw(header) is Raw.NONE:
            return [f"{one.local} = {code}"]
        body: Block = []
        if self.is_tracked(one):
            body.append(f"{one.local} = {code}")
            code = one.local
        elif not code.isdigit():
            # What the expression reads may change before the header's number is brought up to date.
            self._values += 1
            body.append(f"v{self._values} = {code}")
            code = f"v{self._values}"
        unsigned = f"({code} & {one.mask:#x})" if one.signed else code
        return [*body, Patch(header.raw, one.shift, one.mask, (1 << header.bits) - 1, unsigned)]

    def make(self, header: HeaderInstance) -> None:
        """Note that the program makes this header valid by itself."""
        self.usage.made.add(self.group(header.name))

    def use(self, feature: str) -> None:
        """Note that the program needs this facility of the architecture."""
        self.usage.features.add(feature)

    def uses(self, feature: str) -> bool:
        return self.known is None or feature in self.known.features

    def learn(self) -> None:
        """Use what was noted, and note anew. Headers may have been joined since: groups are named as they are now."""
        noted = self.usage
        counts: Counter[tuple[str, int]] = Counter()
        for (header, index), count in noted.read.items():
            counts[self.group(header), index] += count
        self.known = Usage(
            counts,
            {(self.group(header), index) for header, index in noted.modified},
            {self.group(header) for header in noted.made},
            noted.features,
        )
        self.usage, self._values = Usage(), 0

    def is_modified(self, one: Field) -> bool:
        header = self.headers[one.header]
        return self.known is None or header.variable is not None or self._key(one) in self.known.modified

    def is_tracked(self, one: Field) -> bool:
        """Whether the field has a local of its own."""
        header = self.headers[one.header]
        if self.known is None or self.raw(header) is Raw.NONE:
            return True
        return self.known.read[self._key(one)] >= (1 if self.raw(header) is Raw.BYTES else LOCAL_FROM)

    def raw(self, header: HeaderInstance) -> Raw:
        if header.metadata or header.variable is not None:
            return Raw.NONE
        if self.known is None or self.group(header.name) in self.known.made:
            return Raw.INT
        return Raw.INT if any(self.is_modified(one) for one in header.fields) else Raw.BYTES

    def tracked(self, header: HeaderInstance) -> list[Field]:
        return [one for one in header.fields if self.is_tracked(one)]

    def locals(self, header: HeaderInstance) -> list[str]:
        """All locals that hold a header, in the same order for all headers of its group; validity comes first."""
        names = [] if header.metadata else [header.valid]
        if self.raw(header) is not Raw.NONE:
            names.append(header.raw)
        for one in self.tracked(header):
            names.append(one.local)
            if one.variable:
                names.append(one.bits_local)
        return names

    def initial(self) -> Iterator[tuple[str, str]]:
        """Every local with its value before anything is parsed."""
        for header in self.headers.values():
            raw = "b''" if self.raw(header) is Raw.BYTES else "0"
            for name in self.locals(header):
                yield name, raw if name == header.raw else "0"
        for stack in self.stacks.values():
            yield stack.next, "0"
