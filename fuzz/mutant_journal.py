"""The journal of a measurement of core mutants, a line a mutant, so that an interrupted one can go on."""

from __future__ import annotations

import hashlib
import importlib
import inspect
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from scatterproof.fuzz.core_mutants import modules_of
from scatterproof.fuzz.trying import Tried
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.files import read_bytes, write_atomically


class MeasureKey(msgspec.Struct, frozen=True, kw_only=True):
    """What must be the same for a measurement to go on.

    schedules: drawn for each group of rules; of judges, how often each trace is damaged.
    cores: a digest of the sources that are changed, and of the files that mutants are tried on.
    """

    protocol: str
    schedules: int
    cores: str


def measured(protocol: str, areas: Mapping[str, str], schedules: int, files: Iterable[Path] = ()) -> MeasureKey:
    """files: what mutants are tried on."""
    texts = [inspect.getsource(importlib.import_module(module)) for module in modules_of(areas)]
    texts += [path.read_text() for path in sorted(files)]
    cores = hashlib.blake2b("\n".join(texts).encode(), digest_size=8).hexdigest()
    return MeasureKey(protocol=protocol, schedules=schedules, cores=cores)


class MutantJournal:
    """The file. known: by mutant, the results that this measurement goes on from."""

    def __init__(self, path: Path, what: MeasureKey, *, resume: bool) -> None:
        self._path = path
        self.known = {one.mutant: one for one in _read(path, what)} if resume else {}
        self._write(what, self.known.values())

    def add(self, found: Tried) -> None:
        self.known[found.mutant] = found
        try:
            with self._path.open("ab") as file:
                file.write(msgspec.json.encode(found) + b"\n")
        except OSError as error:
            raise CannotRun(f"{self._path}: cannot be written: {error.strerror}; check the disk") from None

    def _write(self, what: MeasureKey, found: Iterable[Tried]) -> None:
        write_atomically(self._path, b"".join(msgspec.json.encode(line) + b"\n" for line in (what, *found)))


def _read(path: Path, what: MeasureKey) -> list[Tried]:
    """The mutants of the journal; a last line that was cut short is left out. Nothing where there is no file."""
    if not path.is_file():
        return []
    first, *lines = read_bytes(path, "journal").split(b"\n")
    try:
        before = msgspec.json.decode(first, type=MeasureKey)
        found = [msgspec.json.decode(line, type=Tried) for line in lines[:-1]]
    except msgspec.DecodeError as error:
        raise BadInput(f"{path}: is no journal of core mutants: {error}; leave --resume out") from None
    for name in MeasureKey.__struct_fields__:
        was, now = getattr(before, name), getattr(what, name)
        if was != now:
            raise BadInput(f"{path}: holds a measure with {name} {was}, not {now}; leave --resume out")
    return found
