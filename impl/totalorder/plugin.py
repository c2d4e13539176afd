"""Total order, as `impl` sees it."""

from __future__ import annotations

import shutil

from scatterproof.impl.protocol import ImplPlugin, MakeCore
from scatterproof.impl.totalorder import codec, make_core
from scatterproof.impl.totalorder.records import Records
from scatterproof.spec.errors import CannotRun


def _p4(build_name: str) -> MakeCore:
    """Reference hosts, and switches that run this build of the P4 program on the embedded target."""
    from scatterproof.impl.totalorder.p4.builds import DEFAULT
    from scatterproof.impl.totalorder.p4.core import with_p4_switches

    return with_p4_switches(build_name or DEFAULT)


def _bmv2(build_name: str) -> MakeCore:
    """The same on BMv2, where it is found."""
    from scatterproof.impl.bmv2.session import COMMAND
    from scatterproof.impl.totalorder.p4.bmv2 import with_bmv2_switches
    from scatterproof.impl.totalorder.p4.builds import FRAME_CLOCK, build_with_clock

    build_with_clock(build_name or FRAME_CLOCK)
    if shutil.which(COMMAND) is None:
        raise CannotRun(f"{COMMAND} is not on PATH; install BMv2 (on Ubuntu the package p4lang-bmv2), or take --iut p4")
    return with_bmv2_switches(build_name or FRAME_CLOCK)


def _twin(_: str) -> MakeCore:
    """Nodes that use every freedom that the clauses leave."""
    from scatterproof.impl.totalorder import twin

    return twin.make_core


PLUGIN = ImplPlugin(
    make_core=make_core,
    encode=codec.encode,
    decode=codec.decode,
    flaw=codec.flaw,
    records=Records,
    further={"p4": _p4, "bmv2": _bmv2, "twin": _twin},
    has_figures=True,
)
