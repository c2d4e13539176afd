"""The parser as one loop: a state that has one way in stands where it is entered, the others are dispatched by number.

`data` is the packet, `size` its length. While the place in the packet is known it is written as a number; after a
join of ways it is in `pos`. Leaving the loop ends parsing, with `pos` at the payload.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from scatterproof.impl.v1model import compiled
from scatterproof.impl.v1model.actions import ProgramActions
from scatterproof.impl.v1model.code import Block, If, Loop, choose
from scatterproof.impl.v1model.expressions import (
    Scope,
    Value,
    condition,
    constant,
    fit,
    is_boolean,
    number,
    unwrap,
    value,
)
from scatterproof.impl.v1model.fields import Field, HeaderInstance, HeaderStack, Raw, chunks, part
from scatterproof.impl.v1model.layout import HeaderLayout
from scatterproof.spec.place import Place

# States deeper than this are dispatched too: Python limits the depth of indentation.
GREATEST_DEPTH = 12
# How many fields are worth a call that takes them out of the bytes at once.
UNPACK_FROM = 3
MASKS_MEND = "compile the program again"


@dataclass(frozen=True, slots=True)
class At:
    """A place in the packet: bytes from its start, or from `pos`."""

    base: str
    offset: int

    def plus(self, count: int) -> str:
        offset = self.offset + count
        if not self.base:
            return str(offset)
        return f"{self.base} + {offset}" if offset else self.base

    def moved(self, count: int) -> At:
        return At(self.base, self.offset + count)

    @property
    def store(self) -> Block:
        """Bring `pos` here."""
        return [] if self == POS else [f"pos = {self.plus(0)}"]


START = At("", 0)
POS = At("pos", 0)


class ParserCode:
    """The parser of a program."""

    def __init__(
        self,
        program: compiled.CompiledProgram,
        layout: HeaderLayout,
        actions: ProgramActions,
        value_sets: dict[str, str],
        place: Place,
    ) -> None:
        if len(program.parsers) != 1:
            place.refuse(f"{len(program.parsers)} parsers are not implemented", "give the program one parser")
        self._parser = program.parsers[0]
        self._states = {state.name: state for state in self._parser.parse_states}
        self._layout, self._actions = layout, actions
        self._sets = {declared.name: (declared, value_sets[declared.name]) for declared in program.parse_vsets}
        self._errors = dict(program.errors)
        self._place = place / f"parser {self._parser.name}"
        self._numbers: dict[str, int] = {}
        # Names of the functions that take headers apart, by `struct` format.
        self.formats: dict[str, str] = {}

    def block(self, temporaries: list[int]) -> Block:
        """Everything from the first byte to the payload; `std_parser_error` is set where parsing fails."""
        if self._parser.init_state is None:
            return ["pos = 0"]
        self._temporaries = temporaries
        ways = self._ways()
        self._numbers = {}
        self._joins = {name for name, count in ways.items() if count > 1}
        start = self._parser.init_state
        waiting: list[str] = []
        self._enter_later: Callable[[str], None] = lambda name: waiting.append(name)
        if start in self._joins:
            first = self._go(start, START)
            done = first
        else:
            done = self._state(self._states[start], START, 0)
        if not self._numbers:
            return [Loop(done)]
        branches: list[tuple[str, Block]] = [("state == 0", done)]
        written = 0
        while written < len(waiting):
            name = waiting[written]
            branches.append((f"state == {self._numbers[name]}", self._state(self._states[name], POS, 0)))
            written += 1
        return ["state = 0", Loop([If(branches)])]

    def _ways(self) -> Counter[str]:
        """How many ways lead into each state that can be reached."""
        assert self._parser.init_state is not None
        ways = Counter([self._parser.init_state])
        reached = [self._parser.init_state]
        for name in reached:
            if name not in self._states:
                (self._place / f"state {name}").refuse("this state is missing", MASKS_MEND)
            for transition in self._states[name].transitions:
                if transition.next_state is not None:
                    ways[transition.next_state] += 1
                    if ways[transition.next_state] == 1:
                        reached.append(transition.next_state)
        return ways

    # -- states -----------------------------------------------------------------------------------------------------

    def _go(self, name: str | None, at: At, depth: int = 0) -> Block:
        """Enter a state, or accept."""
        if name is None:
            return [*at.store, "break"]
        if name in self._joins or depth > GREATEST_DEPTH:
            if name not in self._numbers:
                self._numbers[name] = len(self._numbers) + 1
                self._enter_later(name)
            return [*at.store, f"state = {self._numbers[name]}"]
        return self._state(self._states[name], at, depth)

    def _state(self, state: compiled.ParseState, at: At, depth: int) -> Block:
        place = self._place / f"state {state.name}"
        body: Block = [f"# state {state.name}"]
        for operation in state.parser_ops:
            scope = self._scope(place / operation.op, at)
            step, at = self._operation(scope, operation, at)
            body += [*scope.before, *step]
        return [*body, *self._select(state, place, at, depth)]

    def _scope(self, place: Place, at: At) -> Scope:
        return Scope(self._layout, place, temporaries=self._temporaries, empty_stack=self._fail("StackOutOfBounds", at))

    def _fail(self, error: str, at: At) -> Block:
        """Leave with an error of the core library."""
        return self._raise(str(self._errors.get(error, 0)), at)

    def _raise(self, code: str, at: At) -> Block:
        field = self._layout.standard("parser_error")
        stored: Block = [] if field is None else [f"{self._layout.modify(field)} = {code}"]
        return [*stored, *at.store, "break"]

    def _enough(self, at: At, count: str | int) -> Block:
        """Fail unless this many bytes are left."""
        end = at.plus(count) if isinstance(count, int) else f"{at.plus(0)} + {count}"
        return choose(f"size < {end}", self._fail("PacketTooShort", at))

    # -- operations -------------------------------------------------------------------------------------------------

    def _operation(self, scope: Scope, operation: compiled.Operation, at: At) -> tuple[Block, At]:
        match operation.op, operation.parameters:
            case "extract", [{"type": "regular", "value": str(name)}]:
                return self._extract(scope, self._layout.header(name, scope.place), at)
            case "extract", [{"type": "stack", "value": str(name)}]:
                return self._extract_next(scope, self._layout.stack(name, scope.place), at)
            case "extract_VL", [{"type": "regular", "value": str(name)}, length]:
                return self._extract_variable(scope, self._layout.header(name, scope.place), length, at)
            case "extract_VL", [{"type": "stack", "value": str(name)}, length]:
                return self._extract_next_variable(scope, self._layout.stack(name, scope.place), length, at)
            case "set", [target, {"type": "lookahead", "value": [int(offset), int(width)]}]:
                seen = self._lookahead(scope, offset, width, at)
                return self._actions.assign(scope, target, lambda: seen), at
            case "set", [target, source]:
                return self._actions.assign(scope, target, lambda: value(scope, source)), at
            case "verify", [truth, error]:
                code = value(scope, error).code
                return choose(f"not {self._truth(scope, truth)}", self._raise(code, at)), at
            case "shift", [int(count)]:
                return self._enough(at, count), at.moved(count)
            case "advance", [bits]:
                return self._advance(scope, bits, at)
            case "primitive", [{"op": str(op), **rest}]:
                given = rest.get("parameters", [])
                assert isinstance(given, list)
                return self._actions.primitive(compiled.Operation(op, given), scope), at
        return scope.refuse(f"the operation with parameters {operation.parameters!r}")

    def _truth(self, scope: Scope, node: object) -> str:
        code = condition(scope, node)
        return code if is_boolean(node) and code.isidentifier() else f"({code})"

    def _extract(self, scope: Scope, header: HeaderInstance, at: At) -> tuple[Block, At]:
        if header.variable:
            scope.refuse(f"extracting {header.name} without the length of its variable field")
        count = header.bits // 8
        return [*self._enough(at, count), *self._take(header, at)], at.moved(count)

    def _take(self, header: HeaderInstance, at: At) -> Block:
        """Fill a header's locals from the packet."""
        layout, count = self._layout, header.bits // 8
        piece = f"data[{at.plus(0)}:{at.plus(count)}]" if at.plus(0) != "0" else f"data[:{count}]"
        raw, tracked = layout.raw(header), layout.tracked(header)
        body: Block = []
        if raw is Raw.BYTES:
            body.append(f"{header.raw} = {piece}")
            piece = header.raw
        whole = header.raw if raw is Raw.INT else "number"
        unpacked, rest = self._unpack(header, tracked, at)
        if raw is Raw.INT or rest:
            body.append(f"{whole} = from_bytes({piece})")
        body += unpacked
        body += [f"{one.local} = {part(whole, one, header.bits)}" for one in rest]
        if not header.metadata:
            body += layout.validate(header)
        return body

    def _unpack(self, header: HeaderInstance, tracked: list[Field], at: At) -> tuple[Block, list[Field]]:
        """Take many fields out of the bytes at once; and the fields that this does not reach."""
        form, targets, inside = ">", [], []
        rest = list(tracked)
        for size, fields in chunks(header):
            wanted = [one for one in fields if one in rest]
            code = {1: "B", 2: "H", 4: "I", 8: "Q"}.get(size)
            if not wanted or code is None:
                form += f"{size}x"
                continue
            form += code
            rest = [one for one in rest if one not in wanted]
            if len(fields) == 1 and not fields[0].signed:
                targets.append(fields[0].local)
                continue
            name = f"n{len(targets)}"
            targets.append(name)
            low = fields[-1].shift
            for one in wanted:
                moved = replace(one, shift=one.shift - low)
                inside.append(f"{one.local} = {part(name, moved, size * 8)}")
        if len(targets) < UNPACK_FROM:
            return [], tracked
        unpack = self.formats.setdefault(form, f"unpack_{len(self.formats)}")
        return [f"{', '.join(targets)} = {unpack}(data, {at.plus(0)})", *inside], rest

    def _extract_next(self, scope: Scope, stack: HeaderStack, at: At) -> tuple[Block, At]:
        if stack.members[0].variable:
            scope.refuse(f"extracting {stack.name} without the length of its variable field")
        count = stack.members[0].bits // 8
        body = choose(f"{stack.next} >= {len(stack.members)}", self._fail("StackOutOfBounds", at))
        body += self._enough(at, count)
        body.append(
            If([(f"{stack.next} == {index}", self._take(member, at)) for index, member in enumerate(stack.members)])
        )
        return [*body, f"{stack.next} += 1"], at.moved(count)

    def _extract_next_variable(self, scope: Scope, stack: HeaderStack, length: object, at: At) -> tuple[Block, At]:
        body = [*scope.before, *choose(f"{stack.next} >= {len(stack.members)}", self._fail("StackOutOfBounds", at))]
        branches: list[tuple[str, Block]] = []
        for index, member in enumerate(stack.members):
            inner = self._scope(scope.place, at)
            taken, _ = self._extract_variable(inner, member, length, at)
            branches.append((f"{stack.next} == {index}", [*inner.before, *taken]))
        return [*body, If(branches), f"{stack.next} += 1"], POS

    def _extract_variable(self, scope: Scope, header: HeaderInstance, length: object, at: At) -> tuple[Block, At]:
        """The fields before the variable one, it itself, and those after it."""
        variable = header.variable
        if variable is None:
            scope.refuse(f"a length for {header.name}, which has no variable field")
        bits = scope.atom(value(scope, length))
        fixed = header.bits // 8
        body = choose(f"{bits} & 7", self._fail("ParserInvalidArgument", at))
        whole = scope.temporary(f"{fixed} + ({bits} >> 3)")
        body += self._enough(at, whole)
        if header.max_bytes:
            body += choose(f"{whole} > {header.max_bytes}", self._fail("HeaderTooShort", at))
        body.append(f"number = from_bytes(data[{at.plus(0)}:{at.plus(0)} + {whole}])")
        for one in header.fields:
            local = self._layout.modify(one)
            if one.variable:
                low = f"number >> {one.shift}" if one.shift else "number"
                body += [f"{one.bits_local} = {bits}", f"{local} = {low} & (1 << {bits}) - 1"]
            elif one.index < variable.index:
                body.append(f"{local} = number >> {one.shift} + {bits} & {one.mask:#x}")
            else:
                body.append(f"{local} = {part('number', one, header.bits + 1)}")
        return [*body, *self._layout.validate(header), f"pos = {at.plus(0)} + {whole}"], POS

    def _lookahead(self, scope: Scope, offset: int, width: int, at: At) -> Value:
        """Bits that are not consumed; too few bytes are an error."""
        start, end = offset // 8, (offset + width + 7) // 8
        scope.before.extend(self._enough(at, (width + 7) // 8))
        bytes_ = f"from_bytes(data[{at.plus(start)}:{at.plus(end)}])"
        right = end * 8 - offset - width
        code = f"{bytes_} >> {right}" if right else bytes_
        if offset % 8:
            code = f"{code} & {(1 << width) - 1:#x}"
        return Value(code, 0, (1 << width) - 1)

    def _advance(self, scope: Scope, bits: object, at: At) -> tuple[Block, At]:
        count = value(scope, bits)
        if count.low is not None and count.low == count.high:
            if count.low % 8:
                return self._fail("ParserInvalidArgument", at), at
            return self._enough(at, count.low // 8), at.moved(count.low // 8)
        atom = scope.atom(count)
        body = choose(f"{atom} & 7", self._fail("ParserInvalidArgument", at))
        body += self._enough(at, f"({atom} >> 3)")
        return [*body, f"pos = {at.plus(0)} + ({atom} >> 3)"], POS

    # -- transitions ------------------------------------------------------------------------------------------------

    def _select(self, state: compiled.ParseState, place: Place, at: At, depth: int) -> Block:
        scope = self._scope(place / "select", at)
        if not any(_kind(transition) != "default" for transition in state.transitions):
            default = state.transitions[0].next_state if state.transitions else None
            return self._go(default, at, depth)
        keys = [self._key(scope, node, at) for node in state.transition_key]
        branches: list[tuple[str, Block]] = []
        otherwise: Block | None = None
        for transition in state.transitions:
            if _kind(transition) == "default":
                otherwise = self._go(transition.next_state, at, depth + 1)
                break
            test = self._test(scope, transition, keys)
            branches.append((test, self._go(transition.next_state, at, depth + 1)))
        if otherwise is None:
            otherwise = [*at.store, "break"]
        chosen: Block = [If(branches, otherwise)] if branches else otherwise
        return [*scope.before, *chosen]

    def _key(self, scope: Scope, node: dict[str, object], at: At) -> tuple[Value, int]:
        """A key of a select, as an atom, with its width in bits."""
        match node:
            case {"type": "lookahead", "value": [int(offset), int(width)]}:
                return scope.atom(self._lookahead(scope, offset, width, at)), width
            case {"type": "field", "value": [str(header), str(name)]} if name != "$valid$":
                width = self._layout.field(header, name, scope.place).width
            case {"type": "stack_field", "value": [str(stack), str(name)]}:
                member = self._layout.stack(stack, scope.place).members[0]
                width = self._layout.field(member.name, name, scope.place).width
            case {"type": "field"}:
                width = 1
            case _:
                scope.refuse(f"the key {unwrap(node)!r}")
        # Signed fields are compared by their bits.
        return scope.atom(fit(value(scope, node), width, signed=False)), width

    def _test(self, scope: Scope, transition: compiled.Transition, keys: list[tuple[Value, int]]) -> str:
        match _kind(transition):
            case "hexstr" if transition.value is not None:
                wanted = _split(transition.value, keys)
                masks = _split(transition.mask, keys) if transition.mask else [None] * len(keys)
                tests = [
                    test
                    for (key, width), one, mask in zip(keys, wanted, masks, strict=True)
                    if (test := _compare(key, width, one, mask))
                ]
                return " and ".join(tests) or "True"
            case "parse_vset" if transition.mask is None:
                if transition.value not in self._sets:
                    scope.refuse(f"the value set {transition.value!r}")
                packed = "0"
                for key, width in keys:
                    packed = key.code if packed == "0" else f"({packed} << {width} | {key})"
                return f"{packed} in {self._sets[transition.value][1]}"
        return scope.refuse(f"a transition of type {_kind(transition)!r} with mask {transition.mask!r}")


def _kind(transition: compiled.Transition) -> str:
    """Old compilers wrote the default transition as a value."""
    if transition.type is None:
        return "default" if transition.value in {None, "default"} else "hexstr"
    return transition.type


def _split(text: str, keys: list[tuple[Value, int]]) -> list[int]:
    """The parts of a constant for several keys: each is filled up to whole bytes."""
    rest, parts = number(text), []
    for _, width in reversed(keys):
        padded = (width + 7) // 8 * 8
        parts.append(rest & (1 << padded) - 1)
        rest >>= padded
    return parts[::-1]


def _compare(key: Value, width: int, wanted: int, mask: int | None) -> str:
    full = (1 << width) - 1
    if mask is None or mask & full == full:
        return f"{key} == {constant(wanted)}"
    mask &= full
    return f"{key} & {mask:#x} == {wanted & mask:#x}" if mask else ""
