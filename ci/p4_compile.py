"""Compiles every build of the P4 switch, and keeps the results beside the sources.

    ci/p4-compile [--check] [BUILD ...]

Writes into `impl/totalorder/p4/compiled`: the program of the corrected rules, the others as edits of its lines, one
p4info for all builds that have the same, and `manifest.json`: the hash of each source and of each program, the
compiler's version, and the macros of each build. With --check nothing is written: the results are compared with the
files that are there. Exit codes: 0 done, or all equal; 1 something differs; 2 wrong usage or a program that the
compiler refuses; 3 where p4c-bm2-ss is not on PATH.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from scatterproof.impl.totalorder.p4.builds import (
    BUILDS,
    COMPILED,
    DEFAULT,
    MANIFEST,
    PROGRAM,
    Build,
    BuildManifest,
    Compiled,
    Edit,
    build,
    edits_of,
    file_name,
)
from scatterproof.impl.totalorder.p4.control import SIZES
from scatterproof.spec.errors import BadInput, CannotRun, ScatterproofError
from scatterproof.spec.files import write_atomically

COMPILER = "p4c-bm2-ss"
MAIN = "switch.p4"


def compiler() -> str:
    """The compiler on PATH; CannotRun where there is none."""
    found = shutil.which(COMPILER)
    if found is None:
        raise CannotRun(f"{COMPILER} is not on PATH; install p4c (on Ubuntu the package p4lang-p4c)")
    return found


def version(program: str) -> str:
    """The compiler's version; CannotRun where it does not print one."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"^Version\s+(\S+)", done.stdout + done.stderr, re.MULTILINE)
    if found is None:
        raise CannotRun(f"{program} does not say which version it is; install p4c 1.2 or later")
    return found.group(1)


def flags(chosen: Build, size: int) -> list[str]:
    """The macros of a build. They and the sources alone decide the result."""
    return [f"-DPORTS={size}", *([f"-D{chosen.macro}"] if chosen.macro else [])]


def compile_one(program: str, chosen: Build, size: int) -> tuple[bytes, bytes]:
    """The program and its p4info; BadInput, with the compiler's message, when it refuses the program."""
    with tempfile.TemporaryDirectory() as folder:
        out, info = Path(folder) / "out.json", Path(folder) / "out.p4info.txtpb"
        # From the sources' folder, so that no path of this machine is in the result.
        command = [program, *flags(chosen, size), "--p4runtime-files", str(info), "-o", str(out), MAIN]
        done = subprocess.run(command, cwd=PROGRAM, capture_output=True, text=True, check=False)
        if done.returncode or not out.is_file():
            raise BadInput(f"{MAIN}, build {chosen.name}: {COMPILER} refuses it:\n{done.stderr.strip()}")
        return plain(json.loads(out.read_bytes())), info.read_bytes()


def plain(compiled: Any) -> bytes:
    """JSON without source positions, one list item a line: small, and still readable in a diff."""
    parts = [f"{json.dumps(key)}: {_listed(_without_places(value))}" for key, value in compiled.items()]
    return ("{\n" + ",\n".join(parts) + "\n}\n").encode()


def _listed(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(_pipeline(item) for item in value) + "\n]"
    return _compact(value)


def _pipeline(item: Mapping[str, Any]) -> str:
    """An item as JSON; its own long lists, such as a pipeline's tables and conditionals, get a line an entry."""
    parts = [
        f"{json.dumps(key)}: "
        + (
            "[\n" + ",\n".join(map(_compact, value)) + "]"
            if isinstance(value, list) and len(value) > 3
            else _compact(value)
        )
        for key, value in item.items()
    ]
    return "{" + ",".join(parts) + "}"


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _without_places(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_places(held) for key, held in value.items() if key != "source_info"}
    return [_without_places(held) for held in value] if isinstance(value, list) else value


def listed(edits: Sequence[Edit]) -> bytes:
    """The edits as JSON, each new line of the program on a line of its own."""
    parts = [f"[{first},{last},[" + ",\n".join(map(json.dumps, lines)) + "]]" for first, last, lines in edits]
    return ("[\n" + ",\n".join(parts) + "\n]\n").encode()


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def sources() -> dict[str, str]:
    """Hashes of the sources, by name."""
    return {path.name: digest(path.read_bytes()) for path in sorted(PROGRAM.glob("*.p4"))}


def outputs(program: str, chosen: Sequence[Build]) -> dict[str, bytes]:
    """The files that belong into the folder, by name, with the manifest."""
    files: dict[str, bytes] = {}
    builds: dict[str, Compiled] = {}
    infos: dict[bytes, str] = {}
    corrected = {size: compile_one(program, build(DEFAULT), size)[0] for size in SIZES}
    for one in chosen:
        for size in one.sizes:
            compiled, info = compile_one(program, one, size)
            whole = one.name == DEFAULT
            files[file_name(one, size)] = compiled if whole else listed(edits_of(corrected[size], compiled))
            named = infos.setdefault(info, f"{one.name}_{size}.p4info.txtpb")
            files[named] = info
            builds[f"{one.name}_{size}"] = Compiled(flags=flags(one, size), sha256=digest(compiled), p4info=named)
    manifest = BuildManifest(
        compiler=f"{COMPILER} {version(program)}",
        sources=sources(),
        p4info={name: digest(info) for info, name in infos.items()},
        builds=builds,
    )
    files[MANIFEST] = msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"
    return files


def differing(files: Mapping[str, bytes]) -> list[str]:
    """Names of files that are missing, superfluous or different."""
    there = {path.name: path.read_bytes() for path in COMPILED.iterdir() if path.is_file()}
    return sorted(name for name in {*files, *there} if files.get(name) != there.get(name))


def write(files: Mapping[str, bytes]) -> None:
    COMPILED.mkdir(exist_ok=True)
    for path in COMPILED.iterdir():
        if path.name not in files:
            path.unlink()
    for name, content in files.items():
        write_atomically(COMPILED / name, content)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Compile every build of the P4 switch.")
    parser.add_argument("--check", action="store_true", help="compare with what is there, and write nothing")
    parser.add_argument("builds", nargs="*", metavar="BUILD", help="with --check: these alone")
    given = parser.parse_args(arguments)
    if given.builds and not given.check:
        parser.error("builds are named with --check alone: the manifest tells of all")
    try:
        files = outputs(compiler(), [build(name) for name in given.builds] or BUILDS)
        if not given.check:
            write(files)
            return 0
        found = differing(files)
        if given.builds:
            found = [name for name in found if name in files and name != MANIFEST and name.endswith(".json")]
    except ScatterproofError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    for name in found:
        print(f"impl/totalorder/p4/compiled/{name} is not what the sources give; run ci/p4-compile")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
