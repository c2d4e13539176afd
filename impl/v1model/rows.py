"""What the data plane gets from a table: rows (branch, arguments..., attached); branches number the table's actions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scatterproof.impl.v1model.control import Code, ControlError, Params, fits

RecordedRow = tuple[object, ...]
NO_ACTION = -1


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an action, given by the control plane; `width` in bits."""

    name: str
    width: int


@dataclass(frozen=True, slots=True)
class BoundAction:
    """An action of a table with its arguments; `branch` is its place in the table's list of actions."""

    branch: int
    arguments: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """An action as the control plane knows it."""

    name: str
    parameters: tuple[Parameter, ...]


def call(owner: str, actions: tuple[ActionSpec, ...], action: str, params: Params) -> BoundAction:
    """A call of one of the owner's actions, as the control plane asks for it."""
    names = [known.name for known in actions]
    if action not in names:
        known = ", ".join(names)
        raise ControlError(Code.INVALID_ARGUMENT, f"{owner} has no action {action!r}; its actions are {known}")
    branch = names.index(action)
    wanted = actions[branch].parameters
    if isinstance(params, Mapping):
        if params.keys() != {parameter.name for parameter in wanted}:
            given = ", ".join(params) or "none"
            needed = ", ".join(parameter.name for parameter in wanted) or "none"
            raise ControlError(Code.INVALID_ARGUMENT, f"{action} was given {given}; its parameters are {needed}")
        params = [params[parameter.name] for parameter in wanted]
    if len(params) != len(wanted):
        raise ControlError(Code.INVALID_ARGUMENT, f"{action} was given {len(params)} parameters; give it {len(wanted)}")
    return BoundAction(
        branch,
        tuple(
            fits(value, parameter.width, f"{parameter.name} of {action}")
            for value, parameter in zip(params, wanted, strict=True)
        ),
    )
