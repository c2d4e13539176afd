"""Action profiles and selectors: actions with arguments that entries share, alone or as a group to choose from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from scatterproof.impl.v1model.control import Code, ControlError, Member, Params, SelectorGroup
from scatterproof.impl.v1model.rows import NO_ACTION, ActionSpec, RecordedRow, call


@dataclass(frozen=True, slots=True)
class ProfileSpec:
    """What a program says about a profile; `selects` if it has groups."""

    name: str
    actions: tuple[ActionSpec, ...]
    size: int
    selects: bool


class ProfileChoice:
    """What an entry refers to: the rows of a member or of a group, which may change while entries stay."""

    __slots__ = ("rows",)

    def __init__(self) -> None:
        self.rows: list[RecordedRow] = []

    def choose(self, hashed: int) -> RecordedRow:
        """The row for a packet with this hash; of an empty group no action."""
        rows = self.rows
        return rows[hashed % len(rows)] if rows else (NO_ACTION, None)


class ProfileState:
    """The members and groups of one profile of one switch, by number."""

    def __init__(self, spec: ProfileSpec) -> None:
        self.spec = spec
        self._members: dict[int, ProfileChoice] = {}
        self._groups: dict[int, tuple[ProfileChoice, tuple[int, ...]]] = {}
        # Entries by what they refer to, told by the tables.
        self.uses: dict[Member | SelectorGroup, int] = {}

    def add_member(self, number: int, action: str, params: Params = ()) -> None:
        """ALREADY_EXISTS when the number is taken, RESOURCE_EXHAUSTED when the profile is full."""
        row = self._row(action, params)
        if number in self._members:
            raise ControlError(Code.ALREADY_EXISTS, f"{self.spec.name} has member {number} already; modify it")
        if len(self._members) >= self.spec.size:
            raise ControlError(Code.RESOURCE_EXHAUSTED, f"{self.spec.name} is full with {self.spec.size}; delete some")
        chosen = self._members[number] = ProfileChoice()
        chosen.rows.append(row)

    def modify_member(self, number: int, action: str, params: Params = ()) -> None:
        """Another action for all entries and groups that refer to it."""
        row = self._row(action, params)
        self._member(number).rows[0] = row
        for chosen, members in self._groups.values():
            self._fill(chosen, members)

    def delete_member(self, number: int) -> None:
        """FAILED_PRECONDITION while a group or an entry refers to it."""
        self._member(number)
        if self.uses.get(Member(number)) or any(number in members for _, members in self._groups.values()):
            raise ControlError(Code.FAILED_PRECONDITION, f"member {number} of {self.spec.name} is in use; free it")
        del self._members[number]

    def set_group(self, number: int, members: Iterable[int]) -> None:
        """Make a group, or put other members into it. A packet's hash chooses among them, in the order of numbers."""
        if not self.spec.selects:
            raise ControlError(Code.INVALID_ARGUMENT, f"{self.spec.name} selects nothing; refer to its members")
        listed = tuple(sorted(members))
        for member in listed:
            self._member(member)
        if len(set(listed)) < len(listed):
            raise ControlError(Code.INVALID_ARGUMENT, f"group {number} has a member twice; give it once")
        chosen = self._groups[number][0] if number in self._groups else ProfileChoice()
        self._fill(chosen, listed)
        self._groups[number] = (chosen, listed)

    def delete_group(self, number: int) -> None:
        """FAILED_PRECONDITION while an entry refers to it."""
        self.chosen(SelectorGroup(number))
        if self.uses.get(SelectorGroup(number)):
            raise ControlError(Code.FAILED_PRECONDITION, f"group {number} of {self.spec.name} is in use; free it")
        del self._groups[number]

    def chosen(self, reference: Member | SelectorGroup) -> ProfileChoice:
        """What a reference leads to; NOT_FOUND when there is none."""
        if isinstance(reference, Member):
            return self._member(reference.number)
        if reference.number not in self._groups:
            raise ControlError(Code.NOT_FOUND, f"{self.spec.name} has no group {reference.number}; set it")
        return self._groups[reference.number][0]

    def _member(self, number: int) -> ProfileChoice:
        if number not in self._members:
            raise ControlError(Code.NOT_FOUND, f"{self.spec.name} has no member {number}; add it")
        return self._members[number]

    def _fill(self, chosen: ProfileChoice, members: tuple[int, ...]) -> None:
        chosen.rows[:] = [self._members[member].rows[0] for member in members]

    def _row(self, action: str, params: Params) -> RecordedRow:
        made = call(self.spec.name, self.spec.actions, action, params)
        return (made.branch, *made.arguments, None)
