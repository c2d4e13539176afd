"""The broadcast stack as a program over UDP, with the course's command line:

    python -m scatterproof.impl.broadcast.program --id ID --hosts HOSTS --output OUTPUT CONFIG

Runs until SIGTERM or SIGINT; then it sends and takes nothing more, writes its output out in full, and ends with 0. Ends
with 2 after bad input and with 3 when it has no socket or cannot write. Refused datagrams are counted, and reported on
stderr at the end.
"""

from __future__ import annotations

import argparse
import gc
import selectors
import socket
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from scatterproof.impl.broadcast import make_core
from scatterproof.impl.broadcast.course_files import Assignment, read_config, read_hosts
from scatterproof.impl.broadcast.process import OutputWriter, Process
from scatterproof.impl.broadcast.sockets import Mesh
from scatterproof.impl.drivers.lines import run_until_signal
from scatterproof.spec.broadcast.messages import Level, in_words
from scatterproof.spec.core import NodeConfig, Parameter
from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import NodeId, Role

# Command-line options that are parameters of the core.
_PARAMETERS = ("resend_ns", "window", "most_undelivered", "most_in_run")
# After so long without anything to do, a process writes what it has to tell.
_IDLE_S = 0.02


def config_of(me: NodeId, processes: int, assignment: Assignment, given: dict[str, int]) -> NodeConfig:
    """The core's configuration. The link from process p is p, the link to it `processes` + p."""
    peers = [peer for peer in range(processes) if peer != me]
    parameters: dict[str, Parameter] = {"level": str(assignment.level), **given}
    if assignment.dependencies:
        parameters["dependencies"] = in_words(assignment.dependencies)
    return NodeConfig(
        node=me,
        role=Role.HOST,
        protocol="broadcast",
        ingress=tuple(peers),
        egress=tuple(processes + peer for peer in peers),
        next_link=tuple((peer, processes + peer) for peer in peers),
        reaching=((),) * len(peers),
        parameters=parameters,
    )


def serve(arguments: argparse.Namespace, alarm: socket.socket) -> None:
    """Run one process until a signal, which arrives as a byte from `alarm`."""
    hosts = read_hosts(arguments.hosts)
    if not 1 <= arguments.id <= len(hosts):
        raise BadInput(f"--id is {arguments.id}; {arguments.hosts} has the ids 1 to {len(hosts)}")
    me = arguments.id - 1
    level = None if arguments.level is None else Level(arguments.level)
    assignment = read_config(arguments.config, len(hosts), level)
    given = {name: value for name in _PARAMETERS if (value := getattr(arguments, name)) is not None}
    core = make_core(config_of(me, len(hosts), assignment, given))
    with OutputWriter(arguments.output) as output:
        with closing(Mesh(me, hosts, arguments.lose)) as mesh, selectors.DefaultSelector() as selector:
            process = Process(me, core, assignment, mesh, output)
            selector.register(alarm, selectors.EVENT_READ)
            selector.register(mesh.socket, selectors.EVENT_READ)
            timeout: float | None = 0
            while True:
                ready = {key.fileobj for key, _ in selector.select(timeout)}
                if alarm in ready:
                    break
                if not ready:
                    output.write()
                timeout = process.turn(mesh.socket in ready)
                if output.waiting and (timeout is None or timeout > _IDLE_S):
                    timeout = _IDLE_S
        process.tell_refusals()


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m scatterproof.impl.broadcast.program",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--id", type=int, required=True, help="which process of the hosts file this is")
    parser.add_argument("--hosts", type=Path, required=True, help="a line 'id host port' for each process")
    parser.add_argument("--output", type=Path, required=True, help="where to write 'b SEQ' and 'd SENDER SEQ'")
    parser.add_argument("--level", choices=list(map(str, Level)), help="default: by the form of CONFIG")
    lose = "share of the datagrams that it drops in place of sending them, to measure what loss costs"
    parser.add_argument("--lose", type=float, default=0.0, metavar="SHARE", help=lose)
    for name in _PARAMETERS:
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, help="parameter of the core")
    parser.add_argument(
        "config", type=Path, metavar="CONFIG", help="'m i' (pl), 'm' (fifo), 'm' and dependencies (lcb)"
    )
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Run the program; its exit code."""
    arguments = _arguments(words)
    # Nothing here makes cycles: the collector would go through all that waits, in vain.
    gc.disable()
    return run_until_signal(lambda alarm: serve(arguments, alarm))


if __name__ == "__main__":
    sys.exit(main())
