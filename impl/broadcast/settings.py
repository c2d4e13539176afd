"""What a node of the broadcast stack is set to: the parameters of its configuration, checked."""

from __future__ import annotations

from dataclasses import dataclass

from impl.broadcast.limits import MAX_CLOCK, MAX_PROCESSES, MAX_RUN
from spec.broadcast.messages import Level
from spec.core import NodeConfig
from spec.errors import BadInput
from spec.topology import NodeId, Role

RESEND_NS = 50_000_000
WINDOW = 64
MOST_UNDELIVERED = 8_192
_RUNS_AT_ONCE = 8  # into so many runs a process cuts what it may begin at once
_MAX_RESEND_NS = 1 << 50  # sums and doublings of it stay far below the edge of int64
_MAX_WINDOW = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """resend_ns: the first retransmission time-out. window: packets in flight towards one peer. most_undelivered: of
    one's own (BC-FIFO-FLOW). most_in_run: messages of one packet. dependencies: those of this process (BC-LCB)."""

    level: Level
    processes: int
    resend_ns: int = RESEND_NS
    window: int = WINDOW
    most_undelivered: int = MOST_UNDELIVERED
    most_in_run: int = MOST_UNDELIVERED // _RUNS_AT_ONCE
    dependencies: frozenset[NodeId] = frozenset()


def settings(config: NodeConfig) -> Settings:
    """The settings of one node; BadInput for a missing or wrong parameter, and for a network without a full mesh."""
    processes = _processes(config)
    level = config.parameters.get("level")
    if level not in list(Level):
        raise BadInput(f"node {config.node}: parameter level is {level!r}; give one of {', '.join(Level)}")
    if level == Level.LCB and processes > MAX_CLOCK:
        raise BadInput(f"node {config.node}: there are {processes} processes; level lcb is for up to {MAX_CLOCK}")
    most = _number(config, "most_undelivered", MOST_UNDELIVERED, 1, 1 << 32)
    derived = min(MAX_RUN, max(1, most // _RUNS_AT_ONCE))
    return Settings(
        level=Level(str(level)),
        processes=processes,
        resend_ns=_number(config, "resend_ns", RESEND_NS, 1, _MAX_RESEND_NS),
        window=_number(config, "window", WINDOW, 1, _MAX_WINDOW),
        most_undelivered=most,
        most_in_run=_number(config, "most_in_run", derived, 1, MAX_RUN),
        dependencies=dependencies(config, processes),
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


def dependencies(config: NodeConfig, processes: int) -> frozenset[NodeId]:
    """Whom the node depends on: its part of a text like "1,2;0;" (process 0 on 1 and 2, 1 on 0, 2 on none)."""
    text = config.parameters.get("dependencies", "")
    parts = text.split(";") if isinstance(text, str) else []
    if text == "":
        return frozenset()
    if len(parts) != processes:
        raise BadInput(f"node {config.node}: parameter dependencies is {text!r}; give {processes} lists, parted by ';'")
    found: set[NodeId] = set()
    for part in parts[config.node].split(",") if parts[config.node].strip() else ():
        if not part.strip().isdecimal() or int(part) >= processes:
            raise BadInput(
                f"node {config.node}: parameter dependencies names {part!r}; processes are 0 to {processes - 1}"
            )
        found.add(int(part))
    return frozenset(found)


def _number(config: NodeConfig, name: str, default: int, least: int, most: int) -> int:
    given = config.parameters.get(name, default)
    if not isinstance(given, int) or not least <= given <= most:
        raise BadInput(f"node {config.node}: parameter {name} is {given!r}; give a whole number of {least} to {most}")
    return given
