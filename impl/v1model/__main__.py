"""Tries a compiled program: prints its tables or its Python source, or gives it packets.

python -m scatterproof.impl.v1model PROGRAM.json [--source]
python -m scatterproof.impl.v1model PROGRAM.json --ports 8 --in 0=a.pcap --in 1=b.pcap --out FOLDER
    [--control CONTROL.json]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scatterproof.impl.v1model.capture import configure, run
from scatterproof.impl.v1model.program import P4Program, load
from scatterproof.impl.v1model.switch import EmbeddedSwitch
from scatterproof.spec.errors import BadInput, ScatterproofError


def main(arguments: list[str] | None = None) -> int:
    """The exit code: 0, or that of the error."""
    parser = argparse.ArgumentParser(
        prog="python -m scatterproof.impl.v1model", description="Tries a program compiled by p4c-bm2-ss."
    )
    parser.add_argument("program", type=Path, metavar="PROGRAM.json")
    parser.add_argument("--source", action="store_true", help="print the Python source made from it")
    parser.add_argument("--ports", type=int, default=8, help="ports 0 to PORTS - 1 are connected")
    parser.add_argument("--cpu-port", type=int, help="one more port, the controller's")
    parser.add_argument(
        "--in", dest="inputs", action="append", default=[], metavar="PORT=FILE", help="packets that come"
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where PORT.pcap tells what left")
    parser.add_argument("--control", type=Path, metavar="FILE", help="entries, groups and sessions, in JSON")
    chosen = parser.parse_args(arguments)
    try:
        program = load(chosen.program)
        if chosen.source:
            print(program.source, end="")
        elif chosen.out is not None:
            switch = EmbeddedSwitch(program, ports=chosen.ports, cpu_port=chosen.cpu_port)
            if chosen.control is not None:
                configure(switch, chosen.control)
            for port, packets in run(switch, dict(_input(text) for text in chosen.inputs), chosen.out):
                print(f"port {port}: {packets} packets left")
        else:
            tell(program)
    except ScatterproofError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def tell(program: P4Program) -> None:
    """The tables, as the control plane sees them."""
    for name, table in sorted(program.tables.items()):
        keys = ", ".join(f"{key.name}: {key.kind}<{key.width}>" for key in table.keys)
        print(f"{name}({keys}) size {table.size}: {', '.join(action.name for action in table.actions)}")


def _input(text: str) -> tuple[int, Path]:
    port, _, path = text.partition("=")
    if not port.isdecimal() or not path:
        raise BadInput(f"--in {text}: no port and file; write PORT=FILE, such as 0=a.pcap")
    return int(port), Path(path)


if __name__ == "__main__":
    sys.exit(main())
