"""What a node of the broadcast stack is set to: the parameters of its configuration, checked. Their bounds and defaults
are in spec/broadcast/parameters.toml."""

from __future__ import annotations

from dataclasses import dataclass

from scatterproof.impl.broadcast.limits import MAX_CLOCK, MAX_PROCESSES
from scatterproof.spec.broadcast.messages import Level, dependencies
from scatterproof.spec.core import NodeConfig
from scatterproof.spec.errors import BadInput
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.topology import NodeId, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """resend_ns: the first retransmission time-out.
    window: packets in flight towards one peer.
    most_undelivered: of one's own (BC-FIFO-FLOW).
    most_in_run: messages of one packet.
    dependencies: those of this process (BC-LCB).
    """

    level: Level
    processes: int
    resend_ns: int
    window: int
    most_undelivered: int
    most_in_run: int
    dependencies: frozenset[NodeId]


def settings(config: NodeConfig) -> Settings:
    """The settings of one node; BadInput for a missing or wrong parameter, and for a network without a full mesh."""
    processes = _processes(config)
    given = Parameters("broadcast", config.parameters, f"node {config.node}")
    level = Level(str(given["level"]))
    if level == Level.LCB and processes > MAX_CLOCK:
        raise BadInput(f"node {config.node}: there are {processes} processes; level lcb is for up to {MAX_CLOCK}")
    return Settings(
        level=level,
        processes=processes,
        resend_ns=given.number("resend_ns"),
        window=given.number("window"),
        most_undelivered=given.number("most_undelivered"),
        most_in_run=given.number("most_in_run"),
        dependencies=dependencies(config.parameters, processes, f"node {config.node}: ")[config.node],
    )


def _processes(config: NodeConfig) -> int:
    """How many processes there are; BadInput unless each has a link to each other."""
    peers = sorted(host for host, _ in config.next_link)
    processes = len(peers) + 1
    if config.role is not Role.HOST or sorted([*peers, config.node]) != list(range(processes)):
        raise BadInput(
            f"node {config.node}: it is a {config.role} with links to {peers}; every node is a host, counted from 0, "
            "with a link to each other"
        )
    if processes > MAX_PROCESSES:
        raise BadInput(f"node {config.node}: there are {processes} processes; at most {MAX_PROCESSES} have numbers")
    return processes
