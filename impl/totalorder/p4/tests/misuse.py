"""What a controller may not write into the P4 switch, as data for any target, with P4Runtime's code for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scatterproof.impl.totalorder.p4 import entries as to
from scatterproof.impl.totalorder.p4.entries import MulticastGroup, TableEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Misuse:
    """entries: written one after the other; the last one is refused with `code`, the others are taken. on_bmv2: the
    code that BMv2 1.15.5 has for it where that is another; NOT_FOUND is of names, which the client looks up itself."""

    name: str
    entries: tuple[TableEntry, ...]
    code: str
    on_bmv2: str = ""


def towards(match: Mapping[str, int] | None = None, params: Mapping[str, int] | None = None) -> TableEntry:
    """A sound entry, except for what is given instead. Host 4000 does not exist."""
    key = {"standard.ingress_port": 7, "hdr.message.receiver": 4_000}
    return TableEntry(
        table=to.ONWARD,
        match=key if match is None else match,
        action="towards",
        params={"port": 1, "group": 0} if params is None else params,
    )


def _action(name: str, params: Mapping[str, int]) -> TableEntry:
    sound = towards()
    return TableEntry(table=sound.table, match=sound.match, action=name, params=params)


def _returned(port: int) -> TableEntry:
    return TableEntry(
        table=to.RETURNED_TO, match={"hdr.message.number": 1 << 40 | port}, action="leaves_at", params={"port": 1}
    )


MISUSES = (
    Misuse(name="an entry twice", entries=(towards(), towards()), code="ALREADY_EXISTS"),
    Misuse(
        name="a port of ten bits in a key",
        entries=(towards(match={"standard.ingress_port": 512, "hdr.message.receiver": 1}),),
        code="OUT_OF_RANGE",
        on_bmv2="INVALID_ARGUMENT",
    ),
    Misuse(
        name="a group of seventeen bits",
        entries=(towards(params={"port": 1, "group": 1 << 16}),),
        code="OUT_OF_RANGE",
        on_bmv2="INVALID_ARGUMENT",
    ),
    Misuse(
        name="a key that lacks a field", entries=(towards(match={"standard.ingress_port": 7}),), code="INVALID_ARGUMENT"
    ),
    Misuse(
        name="a key with a field too many",
        entries=(towards(match={**towards().match, "hdr.message.sender": 1}),),
        code="INVALID_ARGUMENT",
        on_bmv2="NOT_FOUND",
    ),
    Misuse(name="an action that lacks a parameter", entries=(towards(params={"port": 1}),), code="INVALID_ARGUMENT"),
    Misuse(
        name="an action with a parameter too many",
        entries=(towards(params={"port": 1, "group": 0, "queue": 3}),),
        code="INVALID_ARGUMENT",
        on_bmv2="NOT_FOUND",
    ),
    Misuse(
        name="an action that there is not",
        entries=(_action("given_up", {}),),
        code="INVALID_ARGUMENT",
        on_bmv2="NOT_FOUND",
    ),
    Misuse(
        name="a table that is full",
        entries=tuple(map(_returned, range(33))),
        code="RESOURCE_EXHAUSTED",
        on_bmv2="UNKNOWN",
    ),
)
GROUPS = (
    (MulticastGroup(number=0, replicas=((1, 1),)), "INVALID_ARGUMENT"),
    (MulticastGroup(number=7, replicas=((1, 1), (1, 1))), "INVALID_ARGUMENT"),
)
