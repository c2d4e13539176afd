"""Actions and their primitives as Python statements, written where the action is called."""

from __future__ import annotations

import re
from collections import Counter

from scatterproof.impl.v1model import compiled
from scatterproof.impl.v1model.calculations import Calculations
from scatterproof.impl.v1model.code import Block, If, Loop, choose
from scatterproof.impl.v1model.expressions import (
    Scope,
    Value,
    condition,
    constant,
    fit,
    indexed,
    is_boolean,
    number,
    unwrap,
    value,
)
from scatterproof.impl.v1model.fields import Field, HeaderInstance, HeaderStack
from scatterproof.impl.v1model.layout import HeaderLayout
from scatterproof.impl.v1model.liveness import from_row
from scatterproof.spec.place import Place

JUMPS = frozenset({"_jump", "_jump_if_zero"})
# Bit 15 of a session number says "a clone was asked for" in simple_switch, so it is no part of the number.
SESSION_MASK = 0x7FFF


class Unstructured(Exception):
    """Jumps that are no if and else."""


class ProgramActions:
    """All actions of a program."""

    def __init__(
        self,
        program: compiled.CompiledProgram,
        layout: HeaderLayout,
        calculations: Calculations,
        objects: dict[str, str],
        place: Place,
    ) -> None:
        self._actions = {action.id: action for action in program.actions}
        self._layout = layout
        self._calculations = calculations
        self._objects = objects
        self._registers = {register.name: register for register in program.register_arrays}
        self._counters = {counter.name: counter for counter in program.counter_arrays if not counter.is_direct}
        self._meters = {meter.name: meter for meter in program.meter_arrays if not meter.is_direct}
        self._place = place

    def get(self, identity: int, place: Place) -> compiled.CompiledAction:
        if identity not in self._actions:
            place.refuse(f"there is no action with id {identity}", "compile the program again")
        return self._actions[identity]

    def exits(self, action: compiled.CompiledAction) -> bool:
        return any(primitive.op == "exit" for primitive in action.primitives)

    def inline(self, action: compiled.CompiledAction, arguments: list[str] | None, temporaries: list[int]) -> Block:
        """The action's statements; `arguments` are Python expressions for its parameters, None if they are in `row`.

        An action that exits ends with `break`: the pipeline stands in a loop that runs once.
        """
        parameters = tuple((f"p_{_plain(data.name)}", data.bitwidth) for data in action.runtime_data)
        place = self._place / f"action {action.name}"

        def scope() -> Scope:
            return Scope(self._layout, place, parameters, temporaries=temporaries)

        try:
            body = self._structured(action.primitives, 0, len(action.primitives), len(action.primitives), scope)
        except Unstructured:
            body = self._dispatched(action.primitives, scope)
        if self.exits(action):
            self._layout.use("exit")
            if body[-1] == "exited = True":
                body[-1] = "break"
            else:
                body.append(If([("exited", ["break"])]))
        used = re.findall(r"\bp_\w+", repr(body))
        if arguments is None:
            return from_row([name for name, _ in parameters], Counter(used), body)
        binding: Block = [
            f"{name} = {argument}" for (name, _), argument in zip(parameters, arguments, strict=True) if name in used
        ]
        return binding + body

    def _structured(self, all_: list[compiled.Operation], start: int, stop: int, follow: int, scope) -> Block:  # type: ignore[no-untyped-def]
        """Primitives `start` to `stop` as nested ifs; control goes to `follow` after them."""
        body: Block = []
        at = start
        while at < stop:
            primitive = all_[at]
            if primitive.op == "_jump":
                if at != stop - 1 or self._target(primitive, scope()) != follow:
                    raise Unstructured
                at += 1
            elif primitive.op == "_jump_if_zero":
                here = scope()
                target = self._target(primitive, here)
                if not at < target <= stop:
                    raise Unstructured
                truth = condition(here, primitive.parameters[0])
                end = target
                if all_[target - 1].op == "_jump" and target - 1 > at:
                    end = self._target(all_[target - 1], here)
                    if not target <= end <= stop:
                        raise Unstructured
                after = follow if end == stop else end
                then = self._structured(all_, at + 1, target, after, scope)
                otherwise = self._structured(all_, target, end, after, scope)
                body += here.before + choose(truth, then, otherwise)
                at = end
            else:
                body += self.primitive(primitive, scope())
                at += 1
        return body

    def _dispatched(self, all_: list[compiled.Operation], scope) -> Block:  # type: ignore[no-untyped-def]
        """Primitives with any jumps, as a loop over numbered pieces."""
        branches: list[tuple[str, Block]] = []
        for at, primitive in enumerate(all_):
            here = scope()
            if primitive.op == "_jump":
                piece: Block = [f"pc = {self._target(primitive, here)}"]
            elif primitive.op == "_jump_if_zero":
                truth = condition(here, primitive.parameters[0])
                target = self._target(primitive, here)
                piece = [*here.before, If([(truth, [f"pc = {at + 1}"])], [f"pc = {target}"])]
            else:
                piece = [*self.primitive(primitive, here), f"pc = {at + 1}"]
            branches.append((f"pc == {at}", piece))
        return ["pc = 0", Loop([If(branches, ["break"])])]

    def _target(self, primitive: compiled.Operation, scope: Scope) -> int:
        match unwrap(primitive.parameters[-1]):
            case {"type": "hexstr", "value": str(text)}:
                return number(text)
        return scope.refuse("a jump to a computed place")

    # -- primitives -------------------------------------------------------------------------------------------------

    def primitive(self, primitive: compiled.Operation, outer: Scope) -> Block:
        """The statements of one primitive; refused when it is not known."""
        scope = outer.at(f"primitive {primitive.op}")
        layout = self._layout
        match primitive.op, primitive.parameters:
            case "assign", [target, source]:
                body = self.assign(scope, target, lambda: value(scope, source))
            case "assign_VL", [target, source]:
                body = self._assign_variable(scope, target, source)
            case "assign_header", [target, source]:
                body = self._assign_header(scope, target, source)
            case "assign_union", [{"value": str(target)}, {"value": str(source)}]:
                pairs = zip(layout.union(target, scope.place), layout.union(source, scope.place), strict=True)
                body = [line for mine, theirs in pairs for line in self._copy(scope, mine, theirs)]
            case "assign_header_stack", [target, source]:
                body = self._assign_stack(scope, _stack(scope, target), _stack(scope, source))
            case "add_header", [target]:
                body = self._each(scope, target, self._add)
            case "remove_header", [target]:
                body = self._each(scope, target, self._remove)
            case "push" | "pop" as op, [target, count]:
                body = self._move(scope, op, _stack(scope, target), count)
            case "mark_to_drop" | "drop", _:
                body = self._drop(scope)
            case "register_read", [target, {"value": str(name)}, index]:
                body = self._register_read(scope, target, name, index)
            case "register_write", [{"value": str(name)}, index, source]:
                body = self._register_write(scope, name, index, source)
            case "count", [{"value": str(name)}, index]:
                body = self._count(scope, name, index)
            case "execute_meter", [{"value": str(name)}, index, target]:
                body = self._execute_meter(scope, name, index, target)
            case "modify_field_with_hash_based_offset", [target, base, {"value": str(name)}, size]:
                body = self._hash(scope, target, base, name, size)
            case "modify_field_rng_uniform", [target, low, high]:
                body = self._draw(scope, target, low, high)
            case "generate_digest", [_, number_]:
                layout.use("digest")
                body = [f"digest_list = {value(scope, number_).code}"]
            case "clone_ingress_pkt_to_egress" | "clone_egress_pkt_to_egress" as op, [session, number_]:
                body = self._clone(scope, op, session, number_)
            case "resubmit" | "recirculate" as op, [number_]:
                layout.use(op)
                body = [f"{op}_list = {value(scope, number_).code}"]
            case "truncate", [length]:
                layout.use("truncate")
                least = scope.atom(value(scope, length))
                body = choose(f"truncated is None or {least} < truncated", [f"truncated = {least}"])
            case "exit", []:
                body = ["exited = True"]
            case "assert" | "assume" as op, [test]:
                truth = condition(scope, test) if is_boolean(test) else str(value(scope, test))
                body = choose(f"not {truth}", [f"raise aborted({f'{outer.place.text}: {op} failed'!r})"])
            case "log_msg" | "no_op", _:
                body = []
            case _:
                outer.refuse(f"the primitive {primitive.op} with {len(primitive.parameters)} parameters")
        return [*scope.before, *body]

    def assign(self, scope: Scope, target: object, source) -> Block:  # type: ignore[no-untyped-def]
        """The statements that store a value in a field, or in a field of a stack's element."""
        match unwrap(target):
            case {"type": "field", "value": [str(header), str(name)]}:
                return self._store(scope.layout.field(header, name, scope.place), source())
            case {"op": "access_field", "left": left, "right": int(index)}:
                stack, where = indexed(scope, left)
                stored = scope.atom(source())
                branches: list[tuple[str, Block]] = [
                    (f"{where} == {place}", self._store(member.fields[index], stored))
                    for place, member in enumerate(stack.members)
                ]
                return [If(branches)]
        return scope.refuse(f"assigning to {target!r}")

    def _store(self, target: Field, stored: Value) -> Block:
        if target is self._layout.standard("mcast_grp"):
            self._layout.use("multicast")
        return self._layout.assign(target, fit(stored, target.width, target.signed).code)

    def _assign_variable(self, scope: Scope, target: object, source: object) -> Block:
        match unwrap(target), unwrap(source):
            case {"type": "field", "value": [str(to), str(name)]}, {"type": "field", "value": [str(of), str(field)]}:
                mine, theirs = scope.layout.field(to, name, scope.place), scope.layout.field(of, field, scope.place)
                return [f"{mine.local}, {mine.bits_local} = {theirs.local}, {theirs.bits_local}"]
        return scope.refuse("assigning this variable field")

    def _each(self, scope: Scope, target: object, make) -> Block:  # type: ignore[no-untyped-def]
        """Statements for a header, or for the element of a stack at an index known at run time."""
        found = unwrap(target)
        match found:
            case {"type": "header", "value": str(name)}:
                return list(make(scope.layout.header(name, scope.place)))
        stack, where = indexed(scope, found)
        return [If([(f"{where} == {place}", list(make(member))) for place, member in enumerate(stack.members)])]

    def _add(self, header: HeaderInstance) -> Block:
        if header.metadata:
            return []
        self._layout.make(header)
        zero = [name for name in self._layout.locals(header)[1:] if not header.variable or not name.endswith("_bits")]
        body: Block = [f"{' = '.join([*zero, '0'])}"] if zero else []
        return choose(f"not {header.valid}", [*body, *self._layout.validate(header), *self._grow(header, "+")])

    def _remove(self, header: HeaderInstance) -> Block:
        if header.metadata:
            return []
        return choose(header.valid, [*self._grow(header, "-"), f"{header.valid} = 0"])

    def _grow(self, header: HeaderInstance, sign: str) -> Block:
        """Keep the packet's length, where something reads it."""
        if not self._layout.uses("length"):
            return []
        variable = f" + ({header.variable.bits_local} >> 3)" if header.variable else ""
        return [f"length {sign}= {header.bits // 8}{variable}"]

    def _assign_header(self, scope: Scope, target: object, source: object) -> Block:
        return self._each(
            scope, target, lambda mine: self._each(scope, source, lambda theirs: self._copy(scope, mine, theirs))
        )

    def _copy(self, scope: Scope, mine: HeaderInstance, theirs: HeaderInstance) -> Block:
        if mine is theirs:
            return []
        if mine.type != theirs.type:
            scope.refuse(f"assigning {theirs.name} to {mine.name} of another type")
        self._layout.join(mine, theirs)
        to, of = self._layout.locals(mine), self._layout.locals(theirs)
        if mine.metadata:
            return [f"{', '.join(to)} = {', '.join(of)}"] if to else []
        copied: Block = [f"{', '.join(to)} = {', '.join(of)}"]
        return [If([(theirs.valid, [*copied, *self._layout.validate(mine)[:-1]])], [f"{mine.valid} = 0"])]

    def _assign_stack(self, scope: Scope, mine: HeaderStack, theirs: HeaderStack) -> Block:
        body: Block = []
        for to, of in zip(mine.members, theirs.members, strict=True):
            body += self._copy(scope, to, of)
        return [*body, f"{mine.next} = {theirs.next}"]

    def _move(self, scope: Scope, op: str, stack: HeaderStack, count: object) -> Block:
        """`push` makes room at the front with invalid headers, `pop` takes headers from the front."""
        wanted = value(scope, count)
        if wanted.low is None or wanted.low != wanted.high:
            scope.refuse("a number of headers that is not constant")
        size, by = len(stack.members), min(wanted.low, len(stack.members))
        kept = stack.members[: size - by] if op == "push" else stack.members[by:]
        into = stack.members[by:] if op == "push" else stack.members[: size - by]
        to = [name for member in into for name in self._layout.locals(member)]
        of = [name for member in kept for name in self._layout.locals(member)]
        empty = stack.members[:by] if op == "push" else stack.members[size - by :]
        body: Block = [f"{', '.join(to)} = {', '.join(of)}"] if to else []
        if empty:
            body.append(f"{' = '.join(member.valid for member in empty)} = 0")
        bound = f"min({stack.next} + {by}, {size})" if op == "push" else f"max({stack.next} - {by}, 0)"
        return [*body, f"{stack.next} = {bound}"]

    def _draw(self, scope: Scope, target: object, low: object, high: object) -> Block:
        """A random number; bounds in the wrong order leave the target alone."""
        least, most = scope.atom(value(scope, low)), scope.atom(value(scope, high))
        drawn = Value(f"random({least}, {most})", least.low, most.high)
        return choose(f"{least} <= {most}", self.assign(scope, target, lambda: drawn))

    def _clone(self, scope: Scope, op: str, session: object, listed: object) -> Block:
        self._layout.use("clone_ingress" if op.startswith("clone_ingress") else "clone_egress")
        wanted = value(scope, session)
        code = wanted.code if wanted.within(0, SESSION_MASK) else f"{wanted} & {SESSION_MASK:#x}"
        return [f"clone_session = {code}", f"clone_list = {value(scope, listed).code}"]

    def _drop(self, scope: Scope) -> Block:
        body: Block = []
        for name, code in (("egress_spec", "drop_port"), ("mcast_grp", "0")):
            field = self._layout.standard(name)
            if field is not None and (name == "egress_spec" or self._layout.uses("multicast")):
                body.append(f"{self._layout.modify(field)} = {code}")
        return body

    # -- objects that keep state ------------------------------------------------------------------------------------

    def _inside(self, index: Value, size: int, body: Block) -> Block:
        """The body, guarded where the index may be outside: simple_switch then does nothing."""
        if index.within(0, size - 1):
            return body
        return choose(f"0 <= {index} < {size}" if index.negative else f"{index} < {size}", body)

    def _register_read(self, scope: Scope, target: object, name: str, index: object) -> Block:
        register = self._known(self._registers, name, scope)
        where = scope.atom(value(scope, index))
        read = Value(f"{self._objects[name]}[{where.code}]", 0, (1 << register.bitwidth) - 1, atom=True)
        return self._inside(where, register.size, self.assign(scope, target, lambda: read))

    def _register_write(self, scope: Scope, name: str, index: object, source: object) -> Block:
        register = self._known(self._registers, name, scope)
        where = scope.atom(value(scope, index))
        stored = fit(value(scope, source), register.bitwidth, signed=False)
        return self._inside(where, register.size, [f"{self._objects[name]}[{where.code}] = {stored.code}"])

    def _count(self, scope: Scope, name: str, index: object) -> Block:
        counter = self._known(self._counters, name, scope)
        where, local = scope.atom(value(scope, index)), self._objects[name]
        body: Block = [f"{local}_packets[{where.code}] += 1", f"{local}_bytes[{where.code}] += ingress_length"]
        return self._inside(where, counter.size, body)

    def _execute_meter(self, scope: Scope, name: str, index: object, target: object) -> Block:
        meter = self._known(self._meters, name, scope)
        where = scope.atom(value(scope, index))
        colour = Value(f"{self._objects[name]}[{where.code}].execute(now_us, ingress_length)", 0, 2, atom=True)
        return self._inside(where, meter.size, self.assign(scope, target, lambda: colour))

    def _hash(self, scope: Scope, target: object, base: object, name: str, size: object) -> Block:
        result = self._calculations.result(scope, name, payload="payload")
        of, by = scope.atom(value(scope, size)), value(scope, base)
        divisor = of if of.low is not None and of.low > 0 else f"({of} or 1)"
        high = None if of.high is None or by.high is None else max(of.high - 1, 0) + by.high
        reduced = f"{result} % {divisor}"
        if by == constant(0):
            return self.assign(scope, target, lambda: Value(reduced, 0, high))
        return self.assign(scope, target, lambda: Value(f"{reduced} + {by}", 0, high))

    def _known(self, all_, name: str, scope: Scope):  # type: ignore[no-untyped-def]
        if name not in all_:
            scope.place.refuse(f"there is no {name!r} of this kind", "compile the program again")
        return all_[name]


def _plain(name: str) -> str:
    return re.sub(r"\W+", "_", name)


def _stack(scope: Scope, node: object) -> HeaderStack:
    match unwrap(node):
        case {"type": "header_stack", "value": str(name)}:
            return scope.layout.stack(name, scope.place)
    return scope.refuse(f"the header stack {node!r}")
