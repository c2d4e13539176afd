"""The course's hosts and configuration files (BC-IO-HOSTS, BC-IO-CONFIG). There processes count from 1, here from 0."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scatterproof.impl.broadcast.settings import MAX_NUMBER, MAX_PROCESSES
from scatterproof.spec.broadcast.messages import Level
from scatterproof.spec.errors import BadInput
from scatterproof.spec.files import read_bytes
from scatterproof.spec.topology import NodeId

_MOST_PORTS = (1 << 16) - 1
_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Host:
    name: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What a configuration asks of the processes: each broadcasts this many messages, or sends them to `receiver`.
    dependencies: of each process, at level lcb."""

    level: Level
    messages: int
    receiver: NodeId | None = None
    dependencies: tuple[tuple[NodeId, ...], ...] = ()


def read_hosts(path: Path) -> list[Host]:
    """The hosts, by process. BadInput for a line that is none, and for ids that are not 1 to n, each once."""
    found: dict[int, Host] = {}
    places: dict[Host, int] = {}
    for line, words in _lines(path, "hosts"):
        place = f"{path}: line {line}"
        if len(words) != 3:
            raise BadInput(f"{place} is {_shown(words)}; write 'id host port'")
        number = _number(place, "id", words[0], 1, MAX_PROCESSES)
        host = Host(words[1], _number(place, "port", words[2], 1, _MOST_PORTS))
        if number in found:
            raise BadInput(f"{place} is the second with id {number}; give each process one line")
        if host in places:
            raise BadInput(
                f"{place} gives process {number} host {host.name} and port {host.port}, as line {places[host]} did for "
                "another; give each process a port of its own"
            )
        found[number] = host
        places[host] = line
    if not found:
        raise BadInput(f"{path}: there is no host; write a line 'id host port' for each process")
    for number in range(1, len(found) + 1):
        if number not in found:
            raise BadInput(f"{path}: there are {len(found)} hosts, but none has id {number}; number them 1, 2, 3, ...")
    return [found[number] for number in range(1, len(found) + 1)]


def read_config(path: Path, processes: int, level: Level | None = None) -> Assignment:
    """The assignment; its form tells the level unless one is asked for. BadInput for what fits no form."""
    lines = list(_lines(path, "configuration"))
    if not lines:
        raise BadInput(f"{path}: the file is empty; write 'm i' (pl), 'm' (urb, fifo), or 'm' and dependencies (lcb)")
    (first, head), rest = lines[0], lines[1:]
    place = f"{path}: line {first}"
    if len(head) > 2:
        raise BadInput(f"{place} is {_shown(head)}; write 'm i' for level pl, or 'm'")
    form = Level.PL if len(head) == 2 else Level.LCB if rest else Level.FIFO
    chosen = form if level is None else level
    if (Level.FIFO if chosen is Level.URB else chosen) is not form:
        raise BadInput(f"{path}: it has the form of level {form}; for level {chosen} write {_form_of(chosen)}")
    messages = _number(place, "m", head[0], 0, MAX_NUMBER)
    if chosen is Level.PL:
        if rest:
            raise BadInput(f"{path}: line {rest[0][0]} is one too many; at level pl there is one line, 'm i'")
        receiver = _number(place, "i", head[1], 1, processes) - 1
        return Assignment(level=chosen, messages=messages, receiver=receiver)
    dependencies = _dependencies(path, rest, processes) if chosen is Level.LCB else ()
    return Assignment(level=chosen, messages=messages, dependencies=dependencies)


def _form_of(level: Level) -> str:
    if level is Level.PL:
        return "one line 'm i'"
    return "'m' and a line for each process, its id and those it depends on" if level is Level.LCB else "one line 'm'"


def _dependencies(path: Path, lines: list[tuple[int, list[str]]], processes: int) -> tuple[tuple[NodeId, ...], ...]:
    found: dict[int, tuple[NodeId, ...]] = {}
    for line, words in lines:
        place = f"{path}: line {line}"
        number, *others = (_number(place, "id", word, 1, processes) - 1 for word in words)
        if number in found:
            raise BadInput(f"{place} is the second for process {number + 1}; give each process one line")
        found[number] = tuple(others)
    for number in range(processes):
        if number not in found:
            raise BadInput(f"{path}: process {number + 1} has no line; write its id and those it depends on")
    return tuple(found[number] for number in range(processes))


def _lines(path: Path, what: str) -> Iterator[tuple[int, list[str]]]:
    """The words of each line that has some, with its number. Lines may end in CR LF."""
    try:
        text = read_bytes(path, what).decode("ascii")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: byte {error.start} is no ASCII character; write plain numbers and names") from None
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if words:
            yield number, words


def _number(place: str, name: str, word: str, least: int, most: int) -> int:
    if not word.isdecimal() or len(word) > len(str(most)) or not least <= int(word) <= most:
        raise BadInput(f"{place}: {name} is {_shown([word])}; give a whole number of {least} to {most}")
    return int(word)


def _shown(words: list[str]) -> str:
    text = " ".join(words)
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")
