"""Compiles the sample programs of the embedded target, and keeps the results beside the sources.

    ci/p4-samples [--check]

Writes `NAME.json`, `NAME.p4info.txtpb` for every `NAME.p4` in `impl/v1model/tests/programs`, and `manifest.json`:
hashes of all three, and the compiler's version. With --check nothing is written: the results are compared with the
files that are there. Exit codes: 0 done, or all equal; 1 something differs; 2 a program that the compiler refuses; 3
p4c-bm2-ss is not on PATH.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ci.p4_compile import COMPILER, compiler, digest, plain
from scatterproof.spec.errors import BadInput, CannotRun, ScatterproofError
from scatterproof.spec.files import write_atomically

PROGRAMS = Path(__file__).resolve().parent.parent / "impl" / "v1model" / "tests" / "programs"
MANIFEST = "manifest.json"


def version(program: str) -> str:
    """The compiler's version, wherever it prints it."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"[Vv]ersion\s+(\S+)", done.stdout + done.stderr)
    if found is None:
        raise CannotRun(f"{program}: it does not tell its version; install a released p4c")
    return found.group(1)


def compile_sample(program: str, source: Path) -> tuple[bytes, bytes]:
    """The compiled program and its p4info."""
    with tempfile.TemporaryDirectory() as folder:
        out, info = Path(folder) / "out.json", Path(folder) / "out.p4info.txtpb"
        command = [program, "--p4runtime-files", str(info), "-o", str(out), source.name]
        done = subprocess.run(command, cwd=source.parent, capture_output=True, text=True, check=False)
        if done.returncode or not out.is_file():
            raise BadInput(f"{source.name}: {COMPILER} refuses it:\n{done.stderr.strip()}")
        return plain(json.loads(out.read_bytes())), info.read_bytes()


def outputs(program: str) -> dict[str, bytes]:
    """All files that belong beside the sources, by name."""
    files: dict[str, bytes] = {}
    told: dict[str, dict[str, str]] = {}
    for source in sorted(PROGRAMS.glob("*.p4")):
        compiled, info = compile_sample(program, source)
        files[f"{source.stem}.json"], files[f"{source.stem}.p4info.txtpb"] = compiled, info
        told[source.stem] = {"p4": digest(source.read_bytes()), "json": digest(compiled), "p4info": digest(info)}
    manifest = {"compiler": f"{COMPILER} {version(program)}", "programs": told}
    files[MANIFEST] = (json.dumps(manifest, indent=1) + "\n").encode()
    return files


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Compile the sample programs of the embedded target.")
    parser.add_argument("--check", action="store_true", help="compare with what is there, and write nothing")
    given = parser.parse_args(arguments)
    try:
        files = outputs(compiler())
    except ScatterproofError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    there = {path.name: path.read_bytes() for path in PROGRAMS.iterdir() if path.suffix in {".json", ".txtpb"}}
    if given.check:
        found = sorted(name for name in {*files, *there} if files.get(name) != there.get(name))
        for name in found:
            print(f"impl/v1model/tests/programs/{name} is not what the sources give; run ci/p4-samples")
        return 1 if found else 0
    for name in there.keys() - files.keys():
        (PROGRAMS / name).unlink()
    for name, content in files.items():
        write_atomically(PROGRAMS / name, content)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
