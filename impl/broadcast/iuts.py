"""Implementations of the broadcast stack that are here beside the reference core, by the name that `--iut` has."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from impl.broadcast import AnyCore
from impl.broadcast.twin import make_core
from spec.core import NodeConfig

MakeCore: TypeAlias = Callable[[NodeConfig], AnyCore]


def _twin(_: str) -> MakeCore:
    """Processes that use every freedom that the clauses leave."""
    return make_core


FURTHER: dict[str, Callable[[str], MakeCore]] = {"twin": _twin}
