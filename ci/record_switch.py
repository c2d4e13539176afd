"""Records what BMv2 does with the P4 switch: the frames that the switches of conformance cases get, one run after the
other. `PYTHONPATH=. .venv/bin/python ci/record_switch.py --protocol NAME --out FILE`.

The cases run on the embedded target, where all that goes into each switch is noted; then BMv2 is given the same.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from scatterproof.conformance.case import select
from scatterproof.conformance.network.run import simulate
from scatterproof.impl.bmv2.record import path_tests, record
from scatterproof.impl.bmv2.recording import RecordedPacket, Step, write
from scatterproof.impl.totalorder.p4.bmv2 import Noting
from scatterproof.impl.totalorder.p4.builds import FRAME_CLOCK, compiled, p4info
from scatterproof.impl.totalorder.p4.chip import Target
from scatterproof.impl.totalorder.p4.core import with_switches
from scatterproof.impl.totalorder.p4.embedded import EmbeddedTarget
from scatterproof.impl.totalorder.p4.frames import CPU_PORT
from scatterproof.spec.errors import CannotRun, ScatterproofError

SIZE = 8
NAME = f"scatterproof.impl.totalorder.p4 {FRAME_CLOCK} {SIZE}"


def noted(protocol: str, patterns: Sequence[str], *, each: int, together: int) -> list[Step]:
    """Steps of evenly spaced cases: from each, up to `each` packets of its busiest switch; about `together` packets in
    all."""
    cases = select(protocol, patterns)
    steps: list[Step] = []
    for case in cases[:: max(1, len(cases) * each // together)]:
        made: list[Noting] = []

        def make(size: int, name: str = case.id, made: list[Noting] = made) -> Target:
            if size != SIZE:
                raise CannotRun(f"{name} has switches of {size} ports")
            made.append(Noting(EmbeddedTarget(FRAME_CLOCK, size), f"{name}, switch {len(made)}"))
            return made[-1]

        try:
            simulate(case.schedule, with_switches(make, clock_in_frame=True))
        except CannotRun as error:
            print(f"{case.id}: left out: {error}", file=sys.stderr)
            continue
        if made:
            steps += _first(max(made, key=lambda one: len(one.steps)).steps, each)
    return steps


def _first(steps: Sequence[Step], packets: int) -> Sequence[Step]:
    """The beginning that has this many packets."""
    places = [place for place, step in enumerate(steps) if isinstance(step, RecordedPacket)]
    return steps if len(places) <= packets else steps[: places[packets]]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="ci/record_switch.py", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--protocol", default="", help="whose conformance cases")
    parser.add_argument("--stf", type=Path, nargs="+", help="instead, tests in STF, as far as BMv2 passes them")
    parser.add_argument("--author", default="p4testgen", help="what made those tests, with its version")
    parser.add_argument("--case", action="append", default=[], help="as for `scatterproof conform`")
    parser.add_argument("--each", type=int, default=20, help="packets of one case at most")
    parser.add_argument("--together", type=int, default=500, help="packets in all, about")
    parser.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args(arguments)
    try:
        if chosen.stf:
            recording, left_out = path_tests(
                compiled(FRAME_CLOCK, SIZE),
                chosen.stf,
                name=NAME,
                p4info=p4info(FRAME_CLOCK, SIZE),
                author=chosen.author,
                ports=range(SIZE),
                cpu_port=CPU_PORT,
            )
            print("\n".join(left_out))
            write(chosen.out, recording)
            return 0
        steps = noted(chosen.protocol, chosen.case, each=chosen.each, together=chosen.together)
        recording = record(
            compiled(FRAME_CLOCK, SIZE),
            steps,
            name=NAME,
            p4info=p4info(FRAME_CLOCK, SIZE),
            ports=range(SIZE),
            cpu_port=CPU_PORT,
        )
        write(chosen.out, recording)
    except ScatterproofError as error:
        print(f"record_switch: {error}", file=sys.stderr)
        return error.exit_code
    packets = sum(1 for step in recording.steps if isinstance(step, RecordedPacket))
    print(f"{chosen.out}: {packets} packets, {len(recording.steps)} steps on {recording.source}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
