"""Nodes of a network in which every switch is a P4 switch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from scatterproof.impl import node
from scatterproof.impl.totalorder import AnyCore, make_core
from scatterproof.impl.totalorder.embodiments import ONE
from scatterproof.impl.totalorder.p4.builds import DEFAULT, FRAME_CLOCK, build
from scatterproof.impl.totalorder.p4.embedded import EmbeddedTarget
from scatterproof.impl.totalorder.p4.failing import P4FailingSwitch
from scatterproof.impl.totalorder.p4.node import MakeTarget, P4Switch
from scatterproof.impl.totalorder.p4.split import P4SplitSwitch
from scatterproof.impl.totalorder.settings import settings
from scatterproof.spec.core import NodeConfig
from scatterproof.spec.topology import Role

MakeCore: TypeAlias = Callable[[NodeConfig], AnyCore]


def with_p4_switches(build_name: str = DEFAULT, make_host: MakeCore = make_core) -> MakeCore:
    """A factory of nodes whose switches run this build on the embedded target; BadInput for an unknown build."""
    build(build_name)
    return with_switches(
        lambda size: EmbeddedTarget(build_name, size), clock_in_frame=build_name == FRAME_CLOCK, make_host=make_host
    )


def with_switches(make_target: MakeTarget, *, clock_in_frame: bool, make_host: MakeCore = make_core) -> MakeCore:
    """A factory of nodes: hosts, the reference's if no others are given, and switches on targets of `make_target`."""

    def make(config: NodeConfig) -> AnyCore:
        if config.role is Role.HOST:
            return make_host(config)
        return switch_on(config, make_target, clock_in_frame=clock_in_frame)

    return make


def switch_on(config: NodeConfig, make_target: MakeTarget, *, clock_in_frame: bool) -> P4Switch | P4SplitSwitch:
    """The switch of a configuration, on targets that `make_target` makes; BadInput for one that cannot be used."""
    node.check(config)
    if config.parameters.get("switch", ONE) != ONE:
        return P4SplitSwitch(config, make_target, clock_in_frame=clock_in_frame)
    kind = P4FailingSwitch if settings(config).reliable else P4Switch
    return kind(config, make_target, clock_in_frame=clock_in_frame)
