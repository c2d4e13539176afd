"""`python -m scatterproof.impl.totalorder.p4`: the compiled program as a file, and a switch's entries for
p4runtime-shell.

program BUILD PORTS FILE    write the compiled program, BMv2 JSON; the place of its p4info is printed
entries SCHEDULE NODE       print what that switch of the schedule's network is told

Exit codes: 0 done, 2 wrong usage or bad input, 3 where there is no such program.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from scatterproof.impl.totalorder.p4.builds import compiled, p4info
from scatterproof.impl.totalorder.p4.control import SwitchControl, by_cable
from scatterproof.impl.totalorder.p4.entries import Entries
from scatterproof.impl.totalorder.p4.frames import CPU_PORT
from scatterproof.spec import schedule as schedules
from scatterproof.spec.core import node_config
from scatterproof.spec.errors import BadInput, ScatterproofError
from scatterproof.spec.files import write_atomically
from scatterproof.spec.topology import Role, route

_TICK_NS = 1_000  # BMv2 counts microseconds


def commands(entries: Entries) -> Iterator[str]:
    """One command a line, as the shell takes it."""
    for entry in entries.tables:
        yield f'te = table_entry["{entry.table}"](action="{entry.action_name}")'
        yield from (f'te.match["{name}"] = "{value}"' for name, value in entry.match.items())
        yield from (f'te.action["{name}"] = "{value}"' for name, value in entry.params.items())
        yield "te.insert()"
    for group in entries.groups:
        yield f"group = multicast_group_entry({group.number})"
        # BMv2 lets replicas out in the order in which they joined the group, and forgets that of one request.
        for joined, (port, instance) in enumerate(group.replicas):
            yield f"group.add({port}, {instance})"
            yield "group.modify()" if joined else "group.insert()"
    yield f"session = clone_session_entry({entries.clone_session})"
    yield f"session.add({CPU_PORT}, 1)"
    yield "session.insert()"


def entries_of(path: Path, name: str) -> Entries:
    """What the switch of that name or number in a schedule's network is told, its links joined as cables."""
    schedule = schedules.read(path)
    topology = schedule.topology
    switches = topology.switches()
    found = [node for node in switches if name in (str(node), topology.nodes[node].name)]
    if not found:
        known = ", ".join(topology.nodes[node].name for node in switches)
        raise BadInput(f"{path}: {name!r} is no switch of this network; give one of {known}")
    config = node_config(found[0], topology, route(topology), schedule.protocol, schedule.parameters)
    assert config.role is Role.SWITCH
    return SwitchControl(config, by_cable(topology, config), tick_ns=_TICK_NS).entries()


def main(arguments: Sequence[str]) -> int:
    try:
        match arguments:
            case ["program", name, size, path] if size.isdecimal():
                write_atomically(Path(path), compiled(name, int(size)))
                print(p4info(name, int(size)))
            case ["entries", path, name]:
                print("\n".join(commands(entries_of(Path(path), name))))
            case _:
                print(__doc__, file=sys.stderr)
                return 2
    except ScatterproofError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
