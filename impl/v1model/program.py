"""Loading a compiled program: checks what it needs, tells the control plane's side of it, and makes its source once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import CodeType

from scatterproof.impl.v1model import compiled
from scatterproof.impl.v1model.control import Lpm, Match, Range, Ternary
from scatterproof.impl.v1model.fields import VALID
from scatterproof.impl.v1model.generator import Generator
from scatterproof.impl.v1model.layout import HeaderLayout
from scatterproof.impl.v1model.profiles import ProfileSpec
from scatterproof.impl.v1model.rows import ActionSpec, BoundAction, Parameter
from scatterproof.impl.v1model.tables import ConstEntry, Key, MatchKind, TableSpec
from scatterproof.spec.files import read_bytes
from scatterproof.spec.place import Place

AGAIN = "compile the program again"


@dataclass(frozen=True, slots=True, eq=False)
class P4Program:
    """A loaded program; immutable, so that many switches run one."""

    place: str
    compiled: compiled.CompiledProgram
    tables: dict[str, TableSpec]
    profiles: dict[str, ProfileSpec]
    source: str
    code: CodeType


def load(program: Path | bytes, *, place: str | None = None) -> P4Program:
    """Read a program that `p4c-bm2-ss` compiled. BadInput: what is not implemented, and where it stands."""
    content = read_bytes(program, "program") if isinstance(program, Path) else program
    name = place or (str(program) if isinstance(program, Path) else "program")
    decoded = compiled.decode(content, name)
    where = Place(name)
    try:
        return _made(decoded, where)
    except (KeyError, IndexError, ValueError, RecursionError) as error:
        # A compiler's output is consistent; a file that was cut or edited may name what is not there.
        where.refuse(f"its parts do not fit together ({type(error).__name__}: {error})", AGAIN)
    except SyntaxError as error:
        # Python limits the depth of indentation, and of parentheses.
        where.refuse(f"it nests deeper than Python can ({error.msg})", "split its conditions or expressions")


def _made(decoded: compiled.CompiledProgram, where: Place) -> P4Program:
    """The program, its control plane's side and its source."""
    if decoded.header_union_stacks:
        where.refuse("stacks of header unions are not implemented", "use stacks of headers, of which one is valid")
    if decoded.extern_instances:
        where.refuse("extern instances are not implemented", "use those of v1model")
    layout = HeaderLayout(decoded, where)
    specs = {
        table.name: _spec(decoded, table, layout, where / f"table {table.name}")
        for pipeline in decoded.pipelines
        for table in pipeline.tables
    }
    profiles = _profiles(decoded, specs, where)
    source = Generator(decoded, specs, layout, where).source()
    return P4Program(where.text, decoded, specs, profiles, source, compile(source, f"<{where.text}>", "exec"))


def _spec(
    program: compiled.CompiledProgram, table: compiled.CompiledTable, layout: HeaderLayout, place: Place
) -> TableSpec:
    if table.type not in {"simple", "indirect", "indirect_ws"}:
        place.refuse(f"tables of type {table.type!r} are not implemented", "give it actions of its own")
    if table.support_timeout:
        place.refuse("entries that time out are not implemented", "leave out support_timeout")
    try:
        kind = MatchKind(table.match_type)
    except ValueError:
        place.refuse(f"the match type {table.match_type!r} is not implemented", f"take one of {', '.join(MatchKind)}")
    keys = tuple(_key(key, layout, place) for key in table.key)
    known = {action.id: action for action in program.actions}
    for identity in table.action_ids:
        if identity not in known:
            place.refuse(f"there is no action with id {identity}", AGAIN)
    actions = tuple(
        ActionSpec(
            known[identity].name,
            tuple(Parameter(data.name, data.bitwidth) for data in known[identity].runtime_data),
        )
        for identity in table.action_ids
    )
    default, const = None, False
    if table.default_entry is not None:
        given = table.default_entry
        default = _call(table, given.action_id, given.action_data, place)
        const = given.action_const or given.action_entry_const
    meter = next((one for one in program.meter_arrays if one.is_direct and one.name == table.direct_meters), None)
    if meter is None and table.direct_meters is not None:
        place.refuse(f"the direct meter {table.direct_meters!r} is missing", "read it in an action of the table")
    return TableSpec(
        name=table.name,
        kind=kind,
        keys=keys,
        actions=actions,
        size=table.max_size,
        counted=table.with_counters,
        meter=None if meter is None else meter.name,
        meter_bytes=meter is not None and meter.type == "bytes",
        default=default,
        default_const=const,
        profile=table.action_profile,
        const_entries=None if table.entries is None else _const_entries(table, keys, place),
    )


def _profiles(program: compiled.CompiledProgram, specs: dict[str, TableSpec], place: Place) -> dict[str, ProfileSpec]:
    """The action profiles, each with the actions of its tables, which number them alike."""
    found: dict[str, ProfileSpec] = {}
    declared = {profile.name: profile for pipeline in program.pipelines for profile in pipeline.action_profiles}
    for table in specs.values():
        if table.profile is None:
            continue
        if table.profile not in declared:
            place.refuse(f"there is no action profile {table.profile!r}", AGAIN)
        profile = declared[table.profile]
        made = ProfileSpec(profile.name, table.actions, profile.max_size, profile.selector is not None)
        if found.setdefault(profile.name, made) != made:
            place.refuse(
                f"tables of profile {profile.name} with other actions are not implemented", "list the same ones"
            )
        if table.const_entries is not None:
            place.refuse(f"const entries of {table.name}, which has a profile, are not implemented", "add them later")
    return found


def _key(key: compiled.TableKey, layout: HeaderLayout, place: Place) -> Key:
    match key.target:
        case [str(header), str(field)]:
            pass
        case _:
            place.refuse(f"the key {key.target!r} is not implemented", "match on fields")
    width = 1 if field == VALID else layout.field(header, field, place).width
    layout.header(header, place)
    try:
        kind = MatchKind(key.match_type)
    except ValueError:
        place.refuse(f"the match type {key.match_type!r} is not implemented", f"take one of {', '.join(MatchKind)}")
    mask = None if key.mask is None else int(key.mask, 16)
    return Key(key.name or f"{header}.{field}", header, field, width, kind, mask)


def _call(table: compiled.CompiledTable, identity: int, data: list[str], place: Place) -> BoundAction:
    if identity not in table.action_ids:
        place.refuse(f"the action with id {identity} is none of the table's", AGAIN)
    return BoundAction(table.action_ids.index(identity), tuple(int(one, 16) for one in data))


def _const_entries(table: compiled.CompiledTable, keys: tuple[Key, ...], place: Place) -> tuple[ConstEntry, ...]:
    """Entries of the program's text: there the least priority wins, in P4Runtime the greatest."""
    ranked = any(key.kind in {MatchKind.TERNARY, MatchKind.RANGE} for key in keys)
    highest = max((entry.priority for entry in table.entries or ()), default=0) + 1
    entries = []
    for entry in table.entries or ():
        parts = ((key.name, _match(given, key)) for given, key in zip(entry.match_key, keys, strict=True))
        match = {name: part for name, part in parts if part is not None}
        call = _call(table, entry.action_entry.action_id, entry.action_entry.action_data, place)
        entries.append(ConstEntry(match, call, highest - entry.priority if ranked else 0))
    return tuple(entries)


def _match(given: compiled.EntryKey, key: Key) -> Match | None:
    """The match of one key; None where everything matches."""
    full = (1 << key.width) - 1

    def number(text: object) -> int:
        return int(text, 16) & full if isinstance(text, str) else int(bool(text))

    match key.kind:
        case MatchKind.EXACT:
            return number(given.key)
        case MatchKind.LPM:
            prefix = given.prefix_length or 0
            return Lpm(number(given.key) & (full ^ full >> prefix), prefix) if prefix else None
        case MatchKind.TERNARY:
            mask = number(given.mask)
            return Ternary(number(given.key) & mask, mask) if mask else None
        case MatchKind.RANGE:
            return Range(number(given.start), number(given.end))
