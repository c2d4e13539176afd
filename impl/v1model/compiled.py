"""The form of BMv2 JSON, as `p4c-bm2-ss` writes it: only what this target reads, unknown keys are ignored.

What can be an expression stays `object` here and is read where code is made from it (`expressions.py`).
"""

from __future__ import annotations

import msgspec

from scatterproof.spec.errors import BadInput

FieldRef = tuple[str, str]


class Operation(msgspec.Struct):
    """A parser operation or a primitive of an action."""

    op: str
    parameters: list[object] = []


class HeaderType(msgspec.Struct):
    """Fields are [name, width in bits or "*", signed, saturating]; the last two may be missing."""

    name: str
    fields: list[list[object]]
    max_length: int | None = None
    length_exp: object = None


class CompiledHeader(msgspec.Struct):
    name: str
    id: int
    header_type: str
    metadata: bool


class CompiledStack(msgspec.Struct):
    name: str
    header_type: str
    header_ids: list[int]


class Union(msgspec.Struct):
    name: str
    header_ids: list[int]


class Transition(msgspec.Struct):
    next_state: str | None
    value: str | None = None
    mask: str | None = None
    type: str | None = None


class ParseState(msgspec.Struct):
    name: str
    parser_ops: list[Operation]
    transitions: list[Transition]
    transition_key: list[dict[str, object]]


class Parser(msgspec.Struct):
    name: str
    init_state: str | None
    parse_states: list[ParseState]


class ParseValueSet(msgspec.Struct):
    name: str
    compressed_bitwidth: int
    max_size: int = 1024


class Deparser(msgspec.Struct):
    name: str
    order: list[str]
    primitives: list[object] = []


class CompiledMeter(msgspec.Struct):
    name: str
    size: int
    is_direct: bool = False
    type: str = "packets"
    rate_count: int = 2
    binding: str | None = None
    result_target: FieldRef | None = None


class CompiledCounter(msgspec.Struct):
    name: str
    is_direct: bool
    size: int = 0


class CompiledRegister(msgspec.Struct):
    name: str
    size: int
    bitwidth: int


class Calculation(msgspec.Struct):
    name: str
    algo: str
    input: list[dict[str, object]]


class Checksum(msgspec.Struct):
    name: str
    target: FieldRef
    calculation: str
    type: str = "generic"
    verify: bool = True
    update: bool = True
    if_cond: object = None


class FieldList(msgspec.Struct):
    id: int
    name: str
    elements: list[dict[str, object]]


class RuntimeData(msgspec.Struct):
    name: str
    bitwidth: int


class CompiledAction(msgspec.Struct):
    name: str
    id: int
    runtime_data: list[RuntimeData]
    primitives: list[Operation]


class TableKey(msgspec.Struct):
    match_type: str
    target: object
    name: str | None = None
    mask: str | None = None


class DefaultEntry(msgspec.Struct):
    action_id: int
    action_data: list[str] = []
    action_const: bool = False
    action_entry_const: bool = False


class EntryKey(msgspec.Struct):
    match_type: str
    key: str | bool | None = None
    mask: str | None = None
    prefix_length: int | None = None
    start: str | None = None
    end: str | None = None


class ActionEntry(msgspec.Struct):
    action_id: int
    action_data: list[str] = []


class CompiledEntry(msgspec.Struct):
    match_key: list[EntryKey]
    action_entry: ActionEntry
    priority: int = 0


class CompiledTable(msgspec.Struct):
    name: str
    key: list[TableKey]
    match_type: str
    type: str
    max_size: int
    with_counters: bool
    action_ids: list[int]
    actions: list[str]
    next_tables: dict[str, str | None]
    action_profile: str | None = None
    base_default_next: str | None = None
    direct_meters: str | None = None
    support_timeout: bool = False
    default_entry: DefaultEntry | None = None
    entries: list[CompiledEntry] | None = None


class Conditional(msgspec.Struct):
    name: str
    expression: object
    true_next: str | None = None
    false_next: str | None = None


class ActionCall(msgspec.Struct):
    name: str
    action_id: int
    next_node: str | None = None


class Selector(msgspec.Struct):
    algo: str
    input: list[dict[str, object]]


class ActionProfile(msgspec.Struct):
    name: str
    max_size: int
    selector: Selector | None = None


class Pipeline(msgspec.Struct):
    name: str
    init_table: str | None
    tables: list[CompiledTable]
    conditionals: list[Conditional]
    action_calls: list[ActionCall] = []
    action_profiles: list[ActionProfile] = []


class CompiledProgram(msgspec.Struct):
    """A whole compiled program."""

    header_types: list[HeaderType]
    headers: list[CompiledHeader]
    parsers: list[Parser]
    deparsers: list[Deparser]
    actions: list[CompiledAction]
    pipelines: list[Pipeline]
    header_stacks: list[CompiledStack] = []
    header_unions: list[Union] = []
    header_union_stacks: list[object] = []
    field_lists: list[FieldList] = []
    errors: list[tuple[str, int]] = []
    parse_vsets: list[ParseValueSet] = []
    meter_arrays: list[CompiledMeter] = []
    counter_arrays: list[CompiledCounter] = []
    register_arrays: list[CompiledRegister] = []
    calculations: list[Calculation] = []
    learn_lists: list[FieldList] = []
    checksums: list[Checksum] = []
    extern_instances: list[dict[str, object]] = []
    field_aliases: list[tuple[str, FieldRef]] = []


def decode(content: bytes, place: str) -> CompiledProgram:
    """The program in these bytes; BadInput names the place of what has another form."""
    try:
        return msgspec.json.decode(content, type=CompiledProgram)
    except msgspec.DecodeError as error:
        mend = "give the JSON that p4c-bm2-ss writes for the v1model architecture"
        raise BadInput(f"{place}: not a program in BMv2 JSON: {error}; {mend}") from None
