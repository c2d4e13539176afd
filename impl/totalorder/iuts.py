"""Implementations of total order that are here beside the reference core, by the name that `--iut` has for them."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
from collections.abc import Callable
from typing import TypeAlias

from impl.p4.builds import DEFAULT, FRAME_CLOCK, build
from impl.p4.core import MakeCore, with_p4_switches
from spec.errors import CannotRun

# What is behind the colon, empty for nothing, to a factory of nodes.
Further: TypeAlias = Callable[[str], MakeCore]

_BMV2 = "simple_switch_grpc"


def _p4(build_name: str) -> MakeCore:
    """Reference hosts, and switches that run this build of the P4 program on the embedded target."""
    return with_p4_switches(build_name or DEFAULT)


def _bmv2(build_name: str) -> MakeCore:
    """The same on BMv2, where it is found."""
    build(build_name or FRAME_CLOCK)
    if shutil.which(_BMV2) is None or importlib.util.find_spec("impl.bmv2.core") is None:
        raise CannotRun(f"{_BMV2} is not on PATH; install BMv2 (on Ubuntu the package p4lang-bmv2), or take --iut p4")
    make: MakeCore = importlib.import_module("impl.bmv2.core").with_bmv2_switches(build_name or FRAME_CLOCK)
    return make


FURTHER: dict[str, Further] = {"p4": _p4, "bmv2": _bmv2}
