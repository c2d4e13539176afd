"""Conformance cases as files in TOML have them: a table `[[case]]` each, with a line for each thing that is done in it.

Numbers are written as in Python, several of them with commas; `1_000+500*3` is 1_000, 1_500 and 2_000, and `2..4` is 2,
3 and 4. What is separated by `|` is taken in turn. Times are ns of true time.
"""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from scatterproof.conformance.case_building import case_of
from scatterproof.conformance.protocol import Case
from scatterproof.spec.core import Parameter
from scatterproof.spec.errors import BadInput
from scatterproof.spec.files import read_bytes
from scatterproof.spec.schedule import Call, Clock, Delay, Failure, FailureKind, Fault, FaultKind, Schedule, Submission
from scatterproof.spec.topology import Link, LinkId, NodeId, Topology

T = TypeVar("T")

_NUMBERS = re.compile(r"(-?\d[\d_]*)(?:([+-]\d[\d_]*)\*(\d+)|\.\.(\d[\d_]*))?")
_ENDS = {
    FailureKind.CRASH: FailureKind.RESTART,
    FailureKind.CUT: FailureKind.MEND,
    FailureKind.PAUSE: FailureKind.RESUME,
}


class WrittenCase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A case as it is written.

    id: CLAUSE/what.
    network: a shape and its numbers, `star 3`.
    steps: a line each: when, by which node, what, and what that is given; see the protocol's `CASE_WORDS`. Of
        `0,500 0,1 sends a` both nodes do it each time, of `0,500 0|1 sends a` one after the other, of `0 all sends a`
        all hosts. `#` begins a comment.
    also: clauses that are at stake beside the case's own and those of all cases of the protocol.
    without: which of these are not.
    delays: ns by link, `0>3`, and of `all` others; `jitter`, of all. Without it, as the protocol's cases have them.
    clocks: by how many ns each node's is ahead.
    drifts: by how many parts in 1e9 each node's goes too fast.
    faults: `lose 0>3 1 2`: the packets 1 and 2, from 0, of the link from node 0 to node 3; `delay 0>3 500 1` and
        `duplicate 0>3 500 1`: by 500 ns. The link may be `all`, or `0>3/2`, the second from node 0 to node 3.
    failures: `1_000 crash 2 3`, or `1_000..2_000 cut 0>3`, which comes back then.
    set: parameters.
    """

    id: str
    stimulus: str
    duty: str
    network: str
    steps: str
    also: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    delays: dict[str, int] = {}
    clocks: str = ""
    drifts: str = ""
    faults: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    set: dict[str, Parameter] = {}


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    case: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseStep:
    """What one node does at one time.

    number: of the time among those of its line, from 0.
    words, named: what is given: `a` or `key=value`.
    of, network: the case and its network.
    """

    time_ns: int
    node: NodeId
    number: int
    words: tuple[str, ...]
    named: Mapping[str, str]
    of: WrittenCase
    network: Topology

    def given(self, make: Callable[..., Any], *words: object, **named: object) -> Any:
        """What `make` returns for the time, the node and these arguments; BadInput where it does not take them."""
        return _made(make, self.time_ns, self.node, *words, **named)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseWords:
    """What the cases of a protocol are written with.

    steps: by the word for it, what a step hands over or calls.
    networks: by the first word of a network, what makes it of the numbers that follow.
    delay: of a link, where a case says nothing of delays.
    parameters: all of a case.
    at_stake: what each case puts at stake beside its clause.
    pause_ns: from one call of a client to its next one, at the least.
    """

    protocol: str
    steps: Mapping[str, Callable[[CaseStep], Iterable[Submission | Call]]]
    networks: Mapping[str, Callable[..., Topology]]
    delay: Callable[[LinkId], Delay]
    parameters: Callable[[WrittenCase, Topology], dict[str, Parameter]]
    at_stake: Callable[[WrittenCase], tuple[str, ...]]
    pause_ns: int = 0

    def read(self, path: Path) -> tuple[Case, ...]:
        """The cases of a file, in their order. BadInput says where it cannot be understood."""
        text = read_bytes(path, "cases")
        with _told(str(path)):
            tables = msgspec.toml.decode(text, type=_File).case
            return tuple(self.case(_written(number, table)) for number, table in enumerate(tables, 1))

    def case(self, written: WrittenCase) -> Case:
        with _told(written.id):
            network = self._network(written.network)
            done = list(self._done(written, network))
            schedule = Schedule(
                protocol=self.protocol,
                topology=network,
                delays=tuple(self._delays(written, network)),
                submissions=tuple(one for one in done if isinstance(one, Submission)),
                clocks=_clocks(written),
                parameters=self.parameters(written, network),
                faults=tuple(_each(written.faults, "faults", network, _faults)),
                failures=_in_order(_each(written.failures, "failures", network, _failures)),
                calls=spread((one for one in done if isinstance(one, Call)), self.pause_ns),
                seed=1,
            )
        at_stake = [clause for clause in self.at_stake(written) if clause not in written.without]
        return case_of(written.id, written.stimulus, written.duty, schedule, (*written.also, *at_stake))

    def _network(self, words: str) -> Topology:
        name, *sizes = words.split() or [""]
        with _told(f"network {words!r}"):
            network: Topology = _made(_known(self.networks, name, "shape"), *(int(size) for size in sizes))
            return network

    def _delays(self, written: WrittenCase, network: Topology) -> Iterator[Delay]:
        with _told("delays"):
            jitter_ns = written.delays.get("jitter", 0)
            given = {
                link: Delay(by_ns, jitter_ns)
                for word, by_ns in sorted(written.delays.items(), key=lambda one: one[0] != "all")
                if word != "jitter"
                for link in _links(word, network)
            }
        yield from (given.get(link) or self.delay(link) for link in range(len(network.links)))

    def _done(self, written: WrittenCase, network: Topology) -> Iterator[Submission | Call]:
        for line in written.steps.splitlines():
            with _told(f"steps, {line.strip()!r}"):
                words = shlex.split(line, comments=True)
                if not words:
                    continue
                if len(words) < 3:
                    raise BadInput("give when, by which node, and what")
                when, who, name, *given = words
                make = _known(self.steps, name, "step")
                for number, time_ns in enumerate(numbers(when)):
                    now = [_in_turn(word, number) for word in given]
                    nodes = network.hosts() if who == "all" else numbers(_in_turn(who, number))
                    for node in nodes:
                        step = CaseStep(
                            time_ns=time_ns,
                            node=node,
                            number=number,
                            words=tuple(word for word in now if "=" not in word),
                            named=dict(word.split("=", 1) for word in now if "=" in word),
                            of=written,
                            network=network,
                        )
                        yield from make(step)


def _written(number: int, table: dict[str, Any]) -> WrittenCase:
    with _told(str(table.get("id", f"case {number}"))):
        return msgspec.convert(table, WrittenCase)


def numbers(text: str) -> tuple[int, ...]:
    """The numbers in a text such as `0,1_000+500*3`; BadInput for any other text."""
    found: list[int] = []
    for part in text.split(","):
        if not (match := _NUMBERS.fullmatch(part)):
            raise BadInput(f"{part!r} is no number; write 1_000, 1_000+500*3 or 2..4")
        first, step, count, last = match.groups()
        begin = int(first)
        if count:
            found += (begin + int(step) * n for n in range(int(count)))
        else:
            found += range(begin, int(last or begin) + 1)
    return tuple(found)


def spread(calls: Iterable[Call], pause_ns: int) -> tuple[Call, ...]:
    """The calls in the order of their times, each at least `pause_ns` after its client's call before."""
    free: dict[NodeId, int] = {}
    found: list[Call] = []
    for one in calls:
        time_ns = max(one.time_ns, free.get(one.node, 0))
        free[one.node] = time_ns + pause_ns
        found.append(replace(one, time_ns=time_ns))
    return tuple(sorted(found, key=lambda one: one.time_ns))


def _made(make: Callable[..., Any], *words: object, **named: object) -> Any:
    try:
        inspect.signature(make).bind(*words, **named)
    except TypeError as error:
        raise BadInput(str(error)) from None
    return make(*words, **named)


def _clocks(written: WrittenCase) -> tuple[Clock, ...]:
    with _told("clocks and drifts"):
        ahead, drifts = (numbers(text) if text else () for text in (written.clocks, written.drifts))
        if ahead and drifts and len(ahead) != len(drifts):
            raise BadInput(f"there are {len(ahead)} and {len(drifts)}; give one of each a node")
    none = (0,) * max(len(ahead), len(drifts))
    return tuple(map(Clock, ahead or none, drifts or none))


def _each(
    lines: Iterable[str], field: str, network: Topology, read: Callable[[list[str], Topology], Iterable[T]]
) -> Iterator[T]:
    for line in lines:
        with _told(f"{field}, {line!r}"):
            words = line.split()
            if len(words) < 3:
                raise BadInput("give at least three words: `lose 0>3 1`, `1_000 crash 2`")
            yield from read(words, network)


def _faults(words: list[str], network: Topology) -> Iterator[Fault]:
    kind, where, *given = words
    chosen = FaultKind(_known({one.value: one for one in FaultKind}, kind, "fault"))
    by_ns = (0,) if chosen is FaultKind.LOSE else numbers(given.pop(0))
    for number, link in enumerate(_links(where, network)):
        packets = [packet for word in given for packet in numbers(_in_turn(word, number))]
        if not packets:
            raise BadInput("say which packets of the link, from 0")
        yield from (Fault(link, packet, chosen, by_ns[n % len(by_ns)]) for n, packet in enumerate(packets))


def _failures(words: list[str], network: Topology) -> Iterator[Failure]:
    when, name, *given = words
    begin, _, end = when.partition("..")
    kind = FailureKind(_known({one.value: one for one in FailureKind}, name, "failure"))
    for word in given:
        where = {"link": _links(word, network)[0]} if ">" in word else {"node": int(word)}
        yield Failure(int(begin), kind, **where)
        if end:
            yield Failure(int(end), _known(_ENDS, kind.value, "failure that ends"), **where)


def _in_order(failures: Iterable[Failure]) -> tuple[Failure, ...]:
    return tuple(sorted(failures, key=lambda failure: failure.time_ns))


def _links(word: str, network: Topology) -> tuple[LinkId, ...]:
    """The links that a word names: `0>3`, or `all`; `0>3/2` is the second of several between the two."""
    if word == "all":
        return tuple(range(len(network.links)))
    ends, _, place = word.partition("/")
    source, _, target = ends.partition(">")
    link = Link(int(source), int(target)) if source.isdigit() and target.isdigit() else None
    found = [number for number, one in enumerate(network.links) if one == link]
    if not 1 <= int(place or 1) <= len(found):
        there = " ".join(f"{one.source}>{one.target}" for one in network.links)
        raise BadInput(f"{word!r} is no link; the network has {there}")
    return (found[int(place or 1) - 1],)


def _in_turn(word: str, number: int) -> str:
    """The choice with this number, of `a|b` or `key=a|b`."""
    key, is_named, value = word.rpartition("=")
    choices = value.split("|")
    return key + is_named + choices[number % len(choices)]


def _known(there: Mapping[Any, T], name: Any, what: str) -> T:
    if name not in there:
        raise BadInput(f"{name!r} is no {what}; there are {', '.join(sorted(there))}")
    return there[name]


@contextmanager
def _told(place: str) -> Iterator[None]:
    """Errors that are raised within become BadInput that begins with the place."""
    try:
        yield
    except (BadInput, ValueError, msgspec.DecodeError) as error:
        raise BadInput(f"{place}: {error}") from None
