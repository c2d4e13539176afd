"""What a node of the broadcast stack is set to: the parameters of its configuration, checked, whose bounds and defaults
are in spec/broadcast/parameters.toml; and the limits that cores, codec and program share."""

from __future__ import annotations

from dataclasses import dataclass

from scatterproof.spec.broadcast.messages import Level, dependencies
from scatterproof.spec.core import NodeConfig
from scatterproof.spec.errors import BadInput
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.topology import NodeId, Role

# What a UDP datagram over IPv4 has room for behind the header of a datagram and that of one packet, with the clock of
# few processes (spec/broadcast/wire.toml).
MAX_PAYLOAD_BYTES = 60_000
# Processes are numbered in 16 bits.
MAX_PROCESSES = 1 << 16
# A packet's clock and payload share a datagram: clocks are for this many processes at the most.
MAX_CLOCK = 1_024
# Messages and packets are numbered in 32 bits.
MAX_NUMBER = (1 << 32) - 1
# Messages of one run: what one forged packet could make a process deliver.
MAX_RUN = 4_096


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
    numbers = {name: given.number(name) for name in ("resend_ns", "window", "most_undelivered", "most_in_run")}
    named = dependencies(config.parameters, processes, f"node {config.node}: ")[config.node]
    return Settings(level=level, processes=processes, dependencies=named, **numbers)


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
