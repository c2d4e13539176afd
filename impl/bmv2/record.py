"""Record what BMv2 does with a program: `python -m scatterproof.impl.bmv2.record PROGRAM.json --seed 1 --packets 300
--out FILE`.

Steps come from a file (`--steps`, a recording whose answers are thrown away) or are drawn from the program (`vary`).
All is played on two switches one after the other. What they do differently is not the program's doing, and is left out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from scatterproof.impl.bmv2.recording import (
    FORMAT,
    Fresh,
    RecordedPacket,
    Recording,
    Step,
    digest_of,
    play,
    play_one,
    read,
    replay,
    write,
)
from scatterproof.impl.bmv2.session import version
from scatterproof.impl.bmv2.stf import parse
from scatterproof.impl.bmv2.switch import Bmv2Switch
from scatterproof.impl.bmv2.vary import Variety
from scatterproof.impl.v1model import Aborted, EmbeddedSwitch, load
from scatterproof.spec.errors import BadInput, ScatterproofError

_ATTEMPTS = 8
ROOT = Path(__file__).resolve().parents[2]


def record(
    program: bytes, steps: Sequence[Step], *, name: str, p4info: Path, ports: Sequence[int], cpu_port: int | None
) -> Recording:
    """What BMv2 does with these steps. A step with which it does not do the same twice is left out: the clock or chance
    decides it, not the program alone. Raises BadInput where that never ends."""
    for _ in range(_ATTEMPTS):
        played = []
        for _ in range(2):
            with Bmv2Switch(program, p4info=p4info, ports=ports, cpu_port=cpu_port) as switch:
                played.append(list(play(steps, fresh(switch), cpu_port=cpu_port)))
        steady = [first == second for first, second in zip(*played, strict=True)]
        if all(steady):
            break
        steps = [step for step, same in zip(steps, steady, strict=True) if same]
    else:
        raise BadInput(f"{name}: BMv2 does not do the same twice, whatever is left out; record other steps")
    return Recording(
        format=FORMAT,
        program=name,
        digest=digest_of(program),
        source=f"BMv2 {version()}",
        ports=list(ports),
        cpu_port=cpu_port,
        steps=played[0],
    )


def path_tests(
    program: bytes,
    files: Sequence[Path],
    *,
    name: str,
    p4info: Path,
    author: str,
    ports: Sequence[int],
    cpu_port: int | None,
) -> tuple[Recording, list[str]]:
    """A recording of the STF tests that BMv2 passes, with the packets that they expect; and a sentence on each of the
    others."""
    loaded = load(program, place=name)
    kept: list[Step] = []
    left_out: list[str] = []
    with Bmv2Switch(program, p4info=p4info, ports=ports, cpu_port=cpu_port) as switch:
        for file in files:
            try:
                steps = parse(file.read_text(), loaded, file.name).steps(file.stem)
                found = replay(steps, fresh(switch), cpu_port=cpu_port)
            except BadInput as error:
                left_out.append(f"{file.name}: {error}")
                continue
            left_out += [f"{file.name}: BMv2 does not pass it: {one}" for one in found]
            kept += [] if found else steps
    recording = Recording(
        format=FORMAT,
        program=name,
        digest=digest_of(program),
        source=f"{author}, passed by BMv2 {version()}",
        ports=list(ports),
        cpu_port=cpu_port,
        steps=kept,
    )
    return recording, left_out


def without_aborts(steps: Sequence[Step], program: Path, *, ports: Sequence[int], cpu_port: int | None) -> list[Step]:
    """The steps without packets that would stop BMv2, as the embedded target says: a failed assertion, an endless
    loop."""
    kept: list[Step] = []
    loaded = load(program)
    target = EmbeddedSwitch(loaded, ports=ports, cpu_port=cpu_port)
    for step in steps:
        try:
            if isinstance(step, Fresh):
                target = EmbeddedSwitch(loaded, ports=ports, cpu_port=cpu_port)
            else:
                play_one(step, target, cpu_port=cpu_port)
        except Aborted:
            continue
        kept.append(step)
    return kept


def fresh(switch: Bmv2Switch) -> Callable[[], Bmv2Switch]:
    """A function that resets this switch and returns it, for the beginning of a run and for its `Fresh` steps."""

    def reset() -> Bmv2Switch:
        switch.reset()
        return switch

    return reset


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m scatterproof.impl.bmv2.record", description=(__doc__ or "").split("\n\n")[0]
    )
    parser.add_argument("program", type=Path, help="a program's BMv2 JSON; its p4info is beside it")
    parser.add_argument("--out", type=Path, required=True, help="the recording to write")
    parser.add_argument("--steps", type=Path, help="a recording whose steps are played, instead of drawn ones")
    parser.add_argument("--stf", type=Path, nargs="+", help="tests in STF to keep, as far as BMv2 passes them")
    parser.add_argument("--author", default="p4testgen", help="what made the tests in STF, with its version")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--packets", type=int, default=300)
    parser.add_argument("--ports", type=int, default=8)
    parser.add_argument("--cpu-port", type=int)
    chosen = parser.parse_args(arguments)
    try:
        recording, left_out = _made(chosen)
        write(chosen.out, recording)
    except ScatterproofError as error:
        print(f"record: {error}", file=sys.stderr)
        return error.exit_code
    for sentence in left_out:
        print(sentence)
    packets = sum(isinstance(step, RecordedPacket) for step in recording.steps)
    print(f"{chosen.out}: {packets} packets, {len(recording.steps)} steps of {recording.program}: {recording.source}")
    return 0


def _made(chosen: argparse.Namespace) -> tuple[Recording, list[str]]:
    """The recording that the options ask for, and a sentence on each test that was left out."""
    program, p4info = chosen.program, chosen.program.with_suffix(".p4info.txtpb")
    for path in (program, p4info):
        if not path.is_file():
            raise BadInput(f"{path}: no such file; compile the program first")
    content = program.read_bytes()
    ports, cpu_port = list(range(chosen.ports)), chosen.cpu_port
    name = program.resolve().relative_to(ROOT).as_posix()
    if chosen.stf:
        return path_tests(
            content, chosen.stf, name=name, p4info=p4info, author=chosen.author, ports=ports, cpu_port=cpu_port
        )
    if chosen.steps is not None:
        plan = read(chosen.steps)
        ports, cpu_port, steps = plan.ports, plan.cpu_port, plan.steps
    else:
        variety = Variety(content, p4info.read_text(), ports=ports, cpu_port=cpu_port, seed=chosen.seed)
        steps = without_aborts(list(variety.steps(chosen.packets)), program, ports=ports, cpu_port=cpu_port)
    return record(content, steps, name=name, p4info=p4info, ports=ports, cpu_port=cpu_port), []


if __name__ == "__main__":
    sys.exit(main())
