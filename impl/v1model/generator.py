"""The whole program as one Python source: `make(env)` returns the functions that a switch calls for each packet.

Headers and metadata are locals of these functions. `ingress` parses, applies the ingress pipeline and decides where
the packet goes; it calls `egress` once for every copy, with the locals that egress needs as arguments. `clone` parses
the packet again, as simple_switch does for a clone made in ingress.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from scatterproof.impl.v1model import compiled
from scatterproof.impl.v1model.actions import ProgramActions
from scatterproof.impl.v1model.calculations import Calculations, checksum, header_bytes
from scatterproof.impl.v1model.code import Block, If, choose, render
from scatterproof.impl.v1model.expressions import Scope
from scatterproof.impl.v1model.fields import VALID
from scatterproof.impl.v1model.layout import HeaderLayout
from scatterproof.impl.v1model.liveness import needed
from scatterproof.impl.v1model.parsing import ParserCode
from scatterproof.impl.v1model.patches import merged
from scatterproof.impl.v1model.pipelines import PipelineCode, TableLocals
from scatterproof.impl.v1model.tables import TableSpec
from scatterproof.spec.place import Place

# Values of instance_type in simple_switch.
NORMAL, INGRESS_CLONE, EGRESS_CLONE, RECIRCULATED, REPLICATED, RESUBMITTED = 0, 1, 2, 4, 5, 6
# What every call of egress begins with; `length` is the packet's with the headers that were added and removed.
CALL = ("out", "now_us", "payload", "port", "rid", "instance", "length", "ingress_length", "truncated")
PASSES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Objects:
    """The generated source's names for what outlives a packet."""

    tables: dict[str, TableLocals]
    cells: dict[str, str]
    value_sets: dict[str, str]


class Generator:
    """Makes the source of one program."""

    def __init__(
        self, program: compiled.CompiledProgram, specs: dict[str, TableSpec], layout: HeaderLayout, place: Place
    ) -> None:
        self._program, self._layout, self._place = program, layout, place
        self.objects = Objects(
            tables={name: TableLocals(layout.fresh(f"{name}_find"), layout.fresh(f"{name}_default")) for name in specs},
            cells={
                name: layout.fresh(name)
                for name in (
                    *(register.name for register in program.register_arrays),
                    *(counter.name for counter in program.counter_arrays),
                    *(meter.name for meter in program.meter_arrays),
                )
            },
            value_sets={one.name: layout.fresh(one.name) for one in program.parse_vsets},
        )
        calculations = Calculations(program, layout, place)
        self._calculations = calculations
        actions = ProgramActions(program, layout, calculations, self.objects.cells, place)
        self._parser = ParserCode(program, layout, actions, self.objects.value_sets, place)
        meters = {meter.name: meter for meter in program.meter_arrays}
        self._pipelines = {
            pipeline.name: PipelineCode(
                pipeline, layout, actions, specs, self.objects.tables, meters, calculations, place
            )
            for pipeline in program.pipelines
        }
        for name in ("ingress", "egress"):
            if name not in self._pipelines:
                place.refuse(f"there is no pipeline {name!r}", "compile the program for v1model")
        if len(program.deparsers) != 1 or program.deparsers[0].primitives:
            place.refuse("a deparser that does more than emit is not implemented", "emit headers only")

    def source(self) -> str:
        """The source. Made several times: what the program does with each field is known after the first."""
        for _ in range(PASSES):
            lines = self._functions()
            self._layout.learn()
        used = set(re.findall(r"[A-Za-z_]\w*", "\n".join(lines)))
        closure = [line for line in self._closure() if line.split(" = ")[0] in used]
        inner = (f"    {line}" if line else "" for line in [*closure, *lines])
        return "\n".join(["def make(env):", *inner, ""])

    # -- parts of the source ----------------------------------------------------------------------------------------

    def _closure(self) -> list[str]:
        """What the functions find in their closure."""
        names = "drop_port ports queues groups sessions later again digests random"
        lines = [f"{name} = env.{name}" for name in names.split()]
        for name, table in self.objects.tables.items():
            lines.append(f"{table.find} = env.finders[{name!r}]")
            lines.append(f"{table.default} = env.tables[{name!r}].default_row")
        for register in self._program.register_arrays:
            lines.append(f"{self.objects.cells[register.name]} = env.registers[{register.name!r}].cells")
        for counter in self._program.counter_arrays:
            if not counter.is_direct:
                local = self.objects.cells[counter.name]
                lines.append(f"{local}_packets = env.counters[{counter.name!r}].packets")
                lines.append(f"{local}_bytes = env.counters[{counter.name!r}].bytes")
        for meter in self._program.meter_arrays:
            if not meter.is_direct:
                lines.append(f"{self.objects.cells[meter.name]} = env.meters[{meter.name!r}].cells")
        for form, name in self._parser.formats.items():
            lines.append(f"{name} = Struct({form!r}).unpack_from")
        for name, local in self.objects.value_sets.items():
            lines.append(f"{local} = env.value_sets[{name!r}].members")
        return lines

    def _functions(self) -> list[str]:
        egress, live = self._egress()
        lines = ["", *egress, "", *self._ingress(live)]
        if self._layout.uses("clone_ingress"):
            lines += ["", *self._clone(live)]
        return [*lines, "", "return ingress, egress"]

    def _standard(self, name: str, code: str, width: int | None = None) -> Block:
        """Set a field of the architecture, if this program's architecture has it."""
        field = self._layout.standard(name)
        if field is None:
            return []
        cut = f"{code} & {field.mask:#x}" if width is None or field.width < width else code
        return [f"{field.local} = {cut}"]

    def _local(self, name: str) -> str:
        """The local of a field of the architecture, noted as read; "0" where there is none."""
        field = self._layout.standard(name)
        return "0" if field is None else self._layout.read(field)

    def _is_modified(self, name: str) -> bool:
        field = self._layout.standard(name)
        return field is not None and self._layout.is_modified(field)

    def _scope(self, part: str, temporaries: list[int]) -> Scope:
        return Scope(self._layout, self._place / part, temporaries=temporaries)

    def _flags(self, *features: str) -> Block:
        """What a primitive may ask for, before it was asked."""
        body: Block = []
        for feature in features:
            if self._layout.uses(feature):
                body += ["clone_session = -1"] if feature.startswith("clone") else [f"{feature}_list = 0"]
        return body

    # -- egress -----------------------------------------------------------------------------------------------------

    def _egress(self) -> tuple[list[str], list[str]]:
        """The function's lines, and the locals that it takes as arguments."""
        live: list[str] = []
        self._layout.counting = False
        while True:
            # A clone takes the locals that egress takes, so their number may grow by those that are read for it.
            whole, names = needed(merged(self._egress_body([0], live)))
            found = [name for name, _ in self._layout.initial() if name in names]
            if found == live:
                break
            live = found
        self._layout.counting = True
        if "length" in names:
            self._layout.use("length")
        return [f"def egress({', '.join([*CALL, *live])}):", *render(whole)], live

    def _egress_body(
        self, temporaries: list[int], live: list[str], rid: str = "rid", instance: str = "instance"
    ) -> Block:
        """From what egress is called with (CALL) to the packet that leaves."""
        body: Block = [
            *self._standard("egress_port", "port", 9),
            *self._standard("egress_spec", "drop_port + 1"),
            *self._standard("egress_rid", rid, 16),
            *self._standard("instance_type", instance, 32),
            *self._standard("packet_length", "length", 32),
            *self._standard("egress_global_timestamp", "now_us"),
            *self._standard("enq_timestamp", "now_us"),
            *(line for name in ("enq_qdepth", "deq_timedelta", "deq_qdepth") for line in self._standard(name, "0", 0)),
            *self._flags("clone_egress", "recirculate"),
        ]
        pipeline = self._pipelines["egress"].block(temporaries)
        if self._is_modified("priority"):
            body += choose(f"{self._local('priority')} >= queues", ["return"])
        body += [*pipeline, *self._egress_clones(live)]
        spec = self._layout.standard("egress_spec")
        if spec is not None and spec.local in _names(pipeline):
            body += choose(f"{self._local('egress_spec')} == drop_port", ["return"])
        for given in self._program.checksums:
            if given.update:
                scope = self._scope(f"checksum {given.name}", temporaries)
                body += checksum(scope, self._calculations, given, "payload", verify=False)
        return [*body, *self._deparse(), *self._leave()]

    def _egress_clones(self, live: list[str]) -> Block:
        if not self._layout.uses("clone_egress"):
            return []
        arguments = ["now_us", "payload", "*replica", str(EGRESS_CLONE), "length", "ingress_length", "None"]
        arguments += [self._kept(name, "clone_list", name) for name in live]
        # A loop: what a generator expression reads would be slow cells in the whole function.
        send = f"for replica in sessions.get(clone_session, ()): later.append(({', '.join(arguments)}))"
        return choose("clone_session >= 0", [send])

    def _deparse(self) -> Block:
        """The packet as it leaves, in `packet`."""
        body: Block = []
        for name in self._program.deparsers[0].order:
            header = self._layout.header(name, self._place / "deparser")
            code = header_bytes(self._layout, header)
            if not body:
                body.append(If([(header.valid, [f"packet = {code}"])], ["packet = b''"]))
            else:
                body += choose(header.valid, [f"packet += {code}"])
        return [*body, "packet += payload"] if body else ["packet = payload"]

    def _leave(self) -> Block:
        """Go in again, or out."""
        body: Block = []
        if self._layout.uses("recirculate"):
            kept = self._tuple("recirculate_list")
            body += choose("recirculate_list", [f"again.append((packet, {RECIRCULATED}, {kept}))", "return"])
        packet = "packet if truncated is None else packet[:truncated]" if self._layout.uses("truncate") else "packet"
        return [*body, *choose("port in ports", [f"out.append((port, {packet}))"])]

    # -- what copies keep -------------------------------------------------------------------------------------------

    def _listed(self) -> dict[str, list[int]]:
        """The locals of metadata in field lists, each with the lists that it is in."""
        found: dict[str, list[int]] = {}
        for listed in self._program.field_lists:
            place = self._place / f"field list {listed.name}"
            for element in listed.elements:
                match element:
                    case {"type": "field", "value": [str(header), str(name)]} if name != VALID:
                        field = self._layout.field(header, name, place)
                        if not self._layout.header(header, place).metadata:
                            place.refuse(
                                f"keeping {header}.{name} of a packet header is not implemented", "copy it first"
                            )
                        found.setdefault(field.local, []).append(listed.id)
                    case _:
                        place.refuse(f"the element {element!r} is not implemented", "list fields of metadata")
        return found

    def _kept(self, name: str, selector: str, otherwise: str) -> str:
        """What a copy has in a local: metadata is 0 unless listed, headers stay as they are."""
        if name not in self._metadata():
            return otherwise
        lists = self._listed().get(name, [])
        if not lists:
            return "0"
        test = f"{selector} == {lists[0]}" if len(lists) == 1 else f"{selector} in {tuple(lists)}"
        return f"{name} if {test} else 0"

    def _metadata(self) -> set[str]:
        return {field.local for header in self._layout.headers.values() if header.metadata for field in header.fields}

    def _tuple(self, selector: str) -> str:
        """All listed locals, those of the chosen list with their values."""
        names = [self._kept(self._read_local(name), selector, "0") for name in self._listed()]
        return f"({', '.join(names)},)" if names else "()"

    def _read_local(self, local: str) -> str:
        for header in self._layout.headers.values():
            for field in header.fields:
                if field.local == local:
                    return self._layout.read(field)
        return local

    # -- ingress ----------------------------------------------------------------------------------------------------

    def _ingress(self, live: list[str]) -> list[str]:
        temporaries = [0]
        parser = self._parser.block(temporaries)
        verify: Block = []
        if any(given.verify for given in self._program.checksums):
            verify.append("payload = data[pos:]")
        for given in self._program.checksums:
            if given.verify:
                scope = self._scope(f"checksum {given.name}", temporaries)
                verify += checksum(scope, self._calculations, given, "payload", verify=True)
        body = self._pipelines["ingress"].block(temporaries)
        end = self._end_of_ingress(live, temporaries)
        flags = self._flags("clone_ingress", "resubmit", "digest")
        if self._layout.uses("truncate"):
            flags.append("truncated = None")
        whole, names = needed(merged([*self._beginning(), *flags, *parser, *verify, *body, *end]))
        parameters = ["out", "now_us", "port", "data"]
        if self._returns():
            parameters += ["instance=0", "kept=None"]
        return [f"def ingress({', '.join([*parameters, *zeros(self._layout, names)])}):", *render(whole)]

    def _returns(self) -> bool:
        return self._layout.uses("resubmit") or self._layout.uses("recirculate")

    def _beginning(self) -> Block:
        """What is known of a packet that comes in; all else starts at 0."""
        new = [*self._standard("ingress_port", "port", 9), *self._standard("ingress_global_timestamp", "now_us")]
        if self._returns() and self._listed():
            again: Block = [f"{', '.join(self._listed())}, = kept"]
            new = choose("kept is None", new, again)
        elif self._returns():
            new = choose("kept is None", new)
        none = dict(self._program.errors).get("NoError", 0)
        return [
            "size = ingress_length = length = len(data)",
            *new,
            *self._standard("packet_length", "size", 32),
            *self._standard("instance_type", "instance" if self._returns() else "0", 32),
            *self._standard("parser_error", str(none), 0),
            *self._standard("checksum_error", "0", 0),
        ]

    def _end_of_ingress(self, live: list[str], temporaries: list[int]) -> Block:
        layout = self._layout
        body: Block = []
        if layout.uses("clone_ingress"):
            send = f"clone(out, now_us, port, data, replicas, {self._tuple('clone_list')})"
            found: Block = ["replicas = sessions.get(clone_session)", *choose("replicas", [send])]
            body += choose("clone_session >= 0", found)
        if layout.uses("digest"):
            for listed in self._program.learn_lists:
                values = self._digest(listed)
                body += choose(f"digest_list == {listed.id}", [f"digests.append(({listed.name!r}, {values}))"])
        if layout.uses("resubmit"):
            again = f"again.append((data, {RESUBMITTED}, {self._tuple('resubmit_list')}))"
            body += choose("resubmit_list", [again, "return"])
        if layout.uses("multicast"):
            group = self._local("mcast_grp")
            call = ["out", "now_us", "payload", "port", "rid", str(REPLICATED), "length", "ingress_length", "None"]
            loop: Block = [
                "payload = data[pos:]",
                f"for port, rid in groups.get({group}, ()): egress({', '.join([*call, *live])})",
                "return",
            ]
            body += choose(group, loop)
        spec = self._local("egress_spec")
        rid = self._local("egress_rid") if self._is_modified("egress_rid") else "0"
        return [
            *body,
            *choose(f"{spec} == drop_port", ["return"]),
            "# egress, for a packet that goes to one port",
            "payload = data[pos:]",
            f"port = {spec}",
            *([] if layout.uses("truncate") else ["truncated = None"]),
            *self._egress_body(temporaries, live, rid=rid, instance=str(NORMAL)),
        ]

    def _digest(self, listed: compiled.FieldList) -> str:
        place, codes = self._place / f"digest {listed.name}", []
        for element in listed.elements:
            match element:
                case {"type": "field", "value": [str(header), str(name)]} if name != VALID:
                    codes.append(self._layout.read(self._layout.field(header, name, place)))
                case {"type": "field", "value": [str(header), str()]}:
                    codes.append(self._layout.header(header, place).valid)
                case {"type": "hexstr", "value": str(text)}:
                    codes.append(str(int(text, 16)))
                case _:
                    place.refuse(f"the element {element!r} is not implemented", "list fields")
        return f"({', '.join(codes)},)" if codes else "()"

    # -- clones made in ingress -------------------------------------------------------------------------------------

    def _clone(self, live: list[str]) -> list[str]:
        """Parse the packet again as it came, and send that to egress; metadata is 0 but for what is kept."""
        self._layout.counting = False
        parser = self._parser.block([0])
        self._layout.counting = True
        listed = list(self._listed())
        arguments = ["out", "now_us", "payload", "port", "rid", str(INGRESS_CLONE), "size", "size", "None"]
        for name in live:
            if name in self._metadata():
                arguments.append(f"kept[{listed.index(name)}]" if name in listed else "0")
            else:
                arguments.append(name)
        whole: Block = [
            *parser,
            "payload = data[pos:]",
            f"for port, rid in replicas: egress({', '.join(arguments)})",
        ]
        whole, names = needed(merged(["size = len(data)", *self._standard("ingress_port", "port", 9), *whole]))
        parameters = ["out", "now_us", "port", "data", "replicas", "kept", *zeros(self._layout, names)]
        return [f"def clone({', '.join(parameters)}):", *render(whole)]


def zeros(layout: HeaderLayout, used: frozenset[str]) -> list[str]:
    """All locals in use as parameters that nobody gives, with what they hold before parsing: a call fills in defaults
    faster than statements assign them."""
    return [f"{name}={start}" for name, start in layout.initial() if name in used]


def _names(block: Block) -> set[str]:
    """All names in a block."""
    return set(re.findall(r"[A-Za-z_]\w*", "\n".join(render(merged(block)))))
