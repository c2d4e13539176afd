"""Ingress and egress: the graph of tables and conditions as nested ifs.

Branches meet again where every way comes together (the immediate post-dominator). Where that would write nodes more
than once too often, the nodes are dispatched by number in topological order instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from scatterproof.impl.v1model import compiled
from scatterproof.impl.v1model.actions import ProgramActions
from scatterproof.impl.v1model.calculations import Calculations, selector_of
from scatterproof.impl.v1model.code import Block, If, Loop, choose
from scatterproof.impl.v1model.expressions import Scope, Value, condition, field_value, fit
from scatterproof.impl.v1model.fields import VALID
from scatterproof.impl.v1model.layout import HeaderLayout
from scatterproof.impl.v1model.tables import MatchKind, TableSpec
from scatterproof.spec.place import Place

# How many times longer than its nodes a pipeline may become by writing some of them twice.
GREATEST_GROWTH = 4
END = ""


Follow = Callable[[str], Block]


class TooLong(Exception):
    """Nested ifs would repeat too many nodes."""


@dataclass(frozen=True, slots=True)
class TableLocals:
    """The closure's names for a table: look-up, and the list that holds its default row."""

    find: str
    default: str


class PipelineCode:
    """One pipeline of a program."""

    def __init__(
        self,
        pipeline: compiled.Pipeline,
        layout: HeaderLayout,
        actions: ProgramActions,
        specs: dict[str, TableSpec],
        objects: dict[str, TableLocals],
        meters: dict[str, compiled.CompiledMeter],
        calculations: Calculations,
        place: Place,
    ) -> None:
        self._pipeline = pipeline
        self._layout, self._actions = layout, actions
        self._specs, self._objects, self._meters = specs, objects, meters
        self._calculations = calculations
        self._profiles = {profile.name: profile for profile in pipeline.action_profiles}
        self._place = place / f"pipeline {pipeline.name}"
        self._tables = {table.name: table for table in pipeline.tables}
        self._conditionals = {conditional.name: conditional for conditional in pipeline.conditionals}
        self._calls = {call.name: call for call in pipeline.action_calls}
        self._order = self._topological()
        self._meeting = self._post_dominators()

    # -- the graph --------------------------------------------------------------------------------------------------

    def _successors(self, name: str) -> list[str]:
        """The nodes that may come next; END is the end of the pipeline."""
        if name in self._tables:
            table = self._tables[name]
            found = list(table.next_tables.values())
            if "__HIT__" in table.next_tables or "__MISS__" in table.next_tables:
                found = [table.next_tables.get("__HIT__"), table.next_tables.get("__MISS__")]
            return list(dict.fromkeys(one or END for one in found or [table.base_default_next]))
        if name in self._conditionals:
            conditional = self._conditionals[name]
            return list(dict.fromkeys([conditional.true_next or END, conditional.false_next or END]))
        if name in self._calls:
            return [self._calls[name].next_node or END]
        return self._place.refuse(f"there is no node {name!r}", "compile the program again")

    def _topological(self) -> list[str]:
        """The nodes that can be reached, every one before its successors."""
        order: list[str] = []
        state: dict[str, int] = {END: 2}
        stack = [(self._pipeline.init_table or END, False)]
        while stack:
            name, done = stack.pop()
            if done:
                state[name] = 2
                order.append(name)
            elif state.get(name) is None:
                state[name] = 1
                stack.append((name, True))
                stack += [(one, False) for one in self._successors(name) if state.get(one) != 2]
            elif state[name] == 1:
                self._place.refuse(f"node {name} comes after itself", "compile the program again")
        return order[::-1]

    def _post_dominators(self) -> dict[str, str]:
        """For every node, the nearest node that all ways from it pass."""
        nearest: dict[str, str] = {}
        depth = {END: 0}
        for name in reversed(self._order):
            ways = self._successors(name)
            meeting = ways[0]
            for other in ways[1:]:
                while meeting != other:
                    if depth[meeting] >= depth[other]:
                        meeting = nearest[meeting] if meeting else END
                    else:
                        other = nearest[other] if other else END
            nearest[name] = meeting
            depth[name] = depth[meeting] + 1
        return nearest

    # -- code -------------------------------------------------------------------------------------------------------

    def block(self, temporaries: list[int]) -> Block:
        """The whole pipeline."""
        self._temporaries = temporaries
        if not self._order:
            return []
        self._budget = GREATEST_GROWTH * len(self._order) + GREATEST_GROWTH
        try:
            body = self._chain(self._order[0], END)
        except TooLong:
            body = self._dispatched()
        if any(self._actions.exits(action) for action in self._reachable_actions()):
            return ["exited = False", Loop([*body, "break"])]
        return body

    def _reachable_actions(self) -> list[compiled.CompiledAction]:
        found = []
        for name in self._order:
            if name in self._tables:
                found += [self._actions.get(one, self._place) for one in self._tables[name].action_ids]
            elif name in self._calls:
                found.append(self._actions.get(self._calls[name].action_id, self._place))
        return found

    def _chain(self, name: str, stop: str) -> Block:
        """The node and all that follow it, up to `stop`."""
        body: Block = []
        while name not in {stop, END}:
            self._budget -= 1
            if self._budget < 0:
                raise TooLong
            meeting = self._meeting[name]
            body += self._node(name, partial(self._chain, stop=meeting))
            name = meeting
        return body

    def _dispatched(self) -> Block:
        """Nodes one after another; each says which one is next."""
        numbers = {name: index for index, name in enumerate(self._order)}
        numbers[END] = len(self._order)
        body: Block = ["state = 0"]
        for name in self._order:
            body.append(
                If([(f"state == {numbers[name]}", self._node(name, lambda target: [f"state = {numbers[target]}"]))])
            )
        return body

    def _node(self, name: str, follow: Follow) -> Block:
        if name in self._tables:
            return self._table(self._tables[name], follow)
        scope = Scope(self._layout, self._place / name, temporaries=self._temporaries)
        if name in self._conditionals:
            conditional = self._conditionals[name]
            truth = condition(scope, conditional.expression)
            if truth.startswith("(") and truth.endswith(")") and _balanced(truth[1:-1]):
                truth = truth[1:-1]
            then, otherwise = follow(conditional.true_next or END), follow(conditional.false_next or END)
            return [*scope.before, *choose(truth, then, otherwise)]
        call = self._calls[name]
        action = self._actions.get(call.action_id, self._place)
        return [*self._actions.inline(action, [], self._temporaries), *follow(call.next_node or END)]

    def _table(self, table: compiled.CompiledTable, follow: Follow) -> Block:
        spec, place = self._specs[table.name], self._place / f"table {table.name}"
        actions = [self._actions.get(identity, place) for identity in table.action_ids]
        ways = self._successors(table.name)
        by_hit = "__HIT__" in table.next_tables or "__MISS__" in table.next_tables
        if not spec.keys and spec.default is not None and spec.default_const:
            # A call written in the control: the compiler makes a table of it that always does the same.
            action = actions[spec.default.branch]
            body = self._actions.inline(action, [hex(one) for one in spec.default.arguments], self._temporaries)
            return [*body, *follow(self._next(table, action.name, hit=False))]
        body = [f"# table {table.name}", *self._look_up(table, spec, place)]
        each: dict[int, Block] = {}
        for branch, action in enumerate(actions):
            inlined = self._actions.inline(action, None, self._temporaries)
            if inlined:
                inlined.insert(0, f"# action {action.name}")
            if len(ways) > 1 and not by_hit:
                inlined += follow(self._next(table, action.name, hit=True))
            each[branch] = inlined
        body += self._switch(each, follow, table, by_hit=by_hit, several=len(ways) > 1)
        if len(ways) == 1:
            return [*body, *follow(ways[0])]
        if by_hit:
            hit, miss = (
                follow(table.next_tables.get("__HIT__") or END),
                follow(table.next_tables.get("__MISS__") or END),
            )
            return [*body, *choose("hit", hit, miss)]
        return body

    def _switch(
        self, each: dict[int, Block], follow: Follow, table: compiled.CompiledTable, *, by_hit: bool, several: bool
    ) -> Block:
        """What each action does, chosen by the row's branch."""
        otherwise: Block = []
        if several and not by_hit and self._specs[table.name].default is None:
            otherwise = list(follow(table.base_default_next or END))
        filled = [(branch, body) for branch, body in each.items() if body]
        if not filled:
            return otherwise
        if len(filled) == 1 and len(each) == 1 and self._specs[table.name].default is not None:
            return filled[0][1]
        if len(filled) == 1:
            return [If([(f"row[0] == {filled[0][0]}", filled[0][1])], otherwise)]
        return ["branch = row[0]", If([(f"branch == {branch}", body) for branch, body in filled], otherwise)]

    def _next(self, table: compiled.CompiledTable, action: str, *, hit: bool) -> str:
        if "__HIT__" in table.next_tables or "__MISS__" in table.next_tables:
            return table.next_tables.get("__HIT__" if hit else "__MISS__") or END
        return table.next_tables.get(action, table.base_default_next) or END

    def _look_up(self, table: compiled.CompiledTable, spec: TableSpec, place: Place) -> Block:
        """Bring the row that matches, or the default one, to `row`."""
        local = self._objects[table.name]
        by_hit = "__HIT__" in table.next_tables or "__MISS__" in table.next_tables
        if not spec.keys:
            return [f"row = {local.default}[0]", *(["hit = False"] if by_hit else [])]
        scope = Scope(self._layout, place, temporaries=self._temporaries)
        codes = [self._key(scope, one.header, one.field, one.width, one.mask) for one in spec.keys]
        if spec.kind is MatchKind.EXACT:
            argument = codes[0].code if len(codes) == 1 else f"({', '.join(one.code for one in codes)})"
        else:
            packed, ranged = "", []
            for one, code in zip(spec.keys, codes, strict=True):
                if one.kind is MatchKind.RANGE:
                    ranged.append(code.code)
                else:
                    packed = f"({packed} << {one.width} | {code})" if packed else str(code)
            argument = ", ".join([packed or "0", *ranged])
        body: Block = [*scope.before, f"row = {local.find}({argument})"]
        missed: Block = [f"row = {local.default}[0]"]
        found: Block = []
        if spec.counted:
            found += ["cell = row[-1]", "cell.packets += 1", "cell.bytes += ingress_length"]
        if spec.meter is not None:
            target = self._meters[spec.meter].result_target
            if target is None:
                place.refuse(f"the direct meter {spec.meter} has no target", "read it in an action of the table")
            colour = Value("row[-1].meter.execute(now_us, ingress_length)", 0, 2, atom=True)
            field = self._layout.field(*target, place)
            found += self._layout.assign(field, fit(colour, field.width, field.signed).code)
        if spec.profile is not None:
            found += self._choose(spec.profile, place)
        if by_hit:
            body.append("hit = row is not None")
        if not found and not by_hit:
            # Rows are never empty, so `or` tells a miss.
            body[-1] = f"{body[-1]} or {local.default}[0]"
            return body
        return [*body, If([("row is None", missed)], found)]

    def _choose(self, name: str, place: Place) -> Block:
        """Ask what the entry refers to for the row: a member has one, of a group the packet's hash chooses one."""
        if self._profiles[name].selector is None:
            return ["row = row[0].rows[0]"]
        scope = Scope(self._layout, place / f"selector {name}", temporaries=self._temporaries)
        hashed = self._calculations.result(scope, selector_of(name), payload="payload")
        return [*scope.before, f"row = row[0].choose({hashed})"]

    def _key(self, scope: Scope, header: str, name: str, width: int, mask: int | None) -> Value:
        """A field as it is looked up: 0 in an invalid header, the bits of a signed one."""
        owner = self._layout.header(header, scope.place)
        if name == VALID:
            return Value(owner.valid, 0, 1, atom=True)
        found = fit(field_value(scope, self._layout.field(header, name, scope.place)), width, signed=False)
        if mask is not None:
            found = Value(f"{found} & {mask:#x}", 0, mask)
        if owner.metadata:
            return found
        return Value(f"{found} if {owner.valid} else 0", 0, found.high)


def _balanced(text: str) -> bool:
    """Whether no parenthesis in it closes one that stands outside."""
    depth = 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth < 0:
            return False
    return True
