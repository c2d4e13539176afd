"""Implementations of total order that are here beside the reference core, by the name that `--iut` has for them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import TypeAlias

from impl.bmv2.core import with_bmv2_switches
from impl.bmv2.session import COMMAND
from impl.p4.builds import DEFAULT, FRAME_CLOCK, build
from impl.p4.core import MakeCore, with_p4_switches
from impl.totalorder.twin import make_core
from spec.errors import CannotRun

# What is behind the colon, empty for nothing, to a factory of nodes.
Further: TypeAlias = Callable[[str], MakeCore]


def _p4(build_name: str) -> MakeCore:
    """Reference hosts, and switches that run this build of the P4 program on the embedded target."""
    return with_p4_switches(build_name or DEFAULT)


def _bmv2(build_name: str) -> MakeCore:
    """The same on BMv2, where it is found."""
    build(build_name or FRAME_CLOCK)
    if shutil.which(COMMAND) is None:
        raise CannotRun(f"{COMMAND} is not on PATH; install BMv2 (on Ubuntu the package p4lang-bmv2), or take --iut p4")
    return with_bmv2_switches(build_name or FRAME_CLOCK)


def _twin(_: str) -> MakeCore:
    """Nodes that use every freedom that the clauses leave."""
    return make_core


FURTHER: dict[str, Further] = {"p4": _p4, "bmv2": _bmv2, "twin": _twin}
