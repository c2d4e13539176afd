"""The trace: what an observer outside can see of a run, one schema for every protocol.

A trace is a header and rows. A row is a tuple of integers in the order of `TraceSchema.columns`; its position in the
run is its index. Columns and kinds are data (`common_trace.toml` and each protocol's `trace.toml`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from enum import IntEnum, StrEnum
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeAlias

import msgspec

from scatterproof.spec.core import Parameter
from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import NodeId, Role, Topology

VERSION = 1
ABSENT = -1

Row: TypeAlias = tuple[int, ...]


@lru_cache(maxsize=1 << 12)
def digest_of(payload: bytes) -> int:
    """What stands for a payload in the column `digest`: the upper 63 bits of its BLAKE2b digest of 8 bytes, read in
    network order. A payload is in many rows, one soon after another."""
    from hashlib import blake2b  # it loads OpenSSL, and most nodes of a run take no digest

    return int.from_bytes(blake2b(payload, digest_size=8).digest()) >> 1


class Kind(IntEnum):
    """Event kinds that no protocol defines for itself; spec/common_trace.toml says what each means."""

    SUBMITTED = 1
    SENT = 2
    ARRIVED = 3
    DELIVERED = 4
    REFUSED = 5
    LOST = 6
    ENDED = 7
    CRASHED = 8
    RESTARTED = 9
    BEGUN = 10
    PAUSED = 11
    RESUMED = 12
    # Of protocols with calls alone.
    CALLED = 13
    RETURNED = 14


CLEAN, QUIESCENT = 1, 2  # bits of `flags` in an ENDED row


class Order(StrEnum):
    """Which order the rows are known to have happened in; each includes those above it.

    node: the rows of one node. link: also, packets of one link arrive after they were sent. global: the rows are a
    linearisation of the whole run that agrees with causality.
    """

    NODE = "node"
    LINK = "link"
    GLOBAL = "global"

    def includes(self, other: Order) -> bool:
        ranks = list(Order)
        return ranks.index(self) >= ranks.index(other)


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What must be known to judge the rows.

    complete: for each kind, by name, the nodes whose events of that kind are all in the trace.
    order: see `Order`.
    catalogue: version of the clause catalogue.
    run: which run of a corpus this is.
    notes: why the run was cut short, and what else the recorder has to say to a reader; no check looks at them.
    """

    protocol: str
    topology: Topology
    parameters: dict[str, Parameter]
    complete: dict[str, tuple[NodeId, ...]]
    order: Order
    iut: str = ""
    run: int = 0
    seed: int = 0
    catalogue: str = ""
    notes: tuple[str, ...] = ()
    trace: int = VERSION


class Domain(StrEnum):
    """What the values of a column are. All but NUMBER name something that exists, or are ABSENT."""

    NUMBER = "number"
    NODE = "node"
    LINK = "link"
    KIND = "kind"
    PACKET = "packet"
    CALL = "call"
    OUTCOME = "outcome"


class EventKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of events, as trace.toml has it.

    at: the roles of the nodes at which it can be; empty for all.
    says: how a diagram marks it; empty for what is no mark.
    named: whether the mark goes on with what the protocol calls the row.
    """

    code: int
    means: str
    at: tuple[Role, ...] = ()
    says: str = ""
    named: bool = False


class TraceSchema(msgspec.Struct, frozen=True):
    """Column names in order; the codes of kinds, packets, calls and outcomes by name, from 1 without gaps.

    domains: what each column's values are.
    events: the kinds by their code.
    calls, outcomes: empty for a protocol without calls.
    """

    protocol: str
    columns: tuple[str, ...]
    domains: dict[str, Domain]
    events: dict[int, EventKind]
    kinds: dict[str, int]
    packets: dict[str, int]
    calls: dict[str, int]
    outcomes: dict[str, int]

    def index(self, column: str) -> int:
        return self.columns.index(column)

    def codes(self, domain: Domain) -> dict[str, int]:
        """The codes of kinds, packets, calls or outcomes by name."""
        listed = {Domain.KIND: self.kinds, Domain.PACKET: self.packets, Domain.CALL: self.calls}
        return (listed | {Domain.OUTCOME: self.outcomes})[domain]

    def kind(self, code: int) -> str:
        """The name of the kind with this code."""
        return next(name for name, known in self.kinds.items() if known == code)

    def naming(self, *domains: Domain) -> tuple[str, ...]:
        """The columns whose values are of one of these domains."""
        return tuple(column for column in self.columns if self.domains[column] in domains)


class Trace(msgspec.Struct):
    header: Header
    rows: list[Row]

    @property
    def notes(self) -> tuple[str, ...]:
        return self.header.notes

    def column(self, name: str) -> list[int]:
        at = schema(self.header.protocol).index(name)
        return [row[at] for row in self.rows]


@cache
def schema(protocol: str) -> TraceSchema:
    """The schema of `protocol`'s traces. Raises BadInput for a protocol that has none."""
    here = Path(__file__).parent
    path = here / protocol / "trace.toml"
    if not protocol.isidentifier() or not path.is_file():
        known = sorted(found.parent.name for found in here.glob("*/trace.toml"))
        raise BadInput(f"protocol {protocol!r} is unknown; choose one of: {', '.join(known)}")
    common = tomllib.loads((here / "common_trace.toml").read_text())
    own = tomllib.loads(path.read_text())
    calls = common["calls"] if "calls" in own else {"columns": {}, "kinds": {}, "outcomes": {}}
    columns = common["columns"] | calls["columns"] | own.get("columns", {})
    try:
        events = msgspec.convert(common["kinds"] | calls["kinds"] | own.get("kinds", {}), dict[str, EventKind])
        domains = {name: Domain(domain) for name, (domain, _) in columns.items()}
    except ValueError as error:  # msgspec's own among them
        raise BadInput(f"spec/{protocol}/trace.toml: {error}; spec/common_trace.toml shows how it is said") from None
    found = TraceSchema(
        protocol=protocol,
        columns=tuple(columns),
        domains=domains,
        events={event.code: event for event in events.values()},
        kinds={name: event.code for name, event in events.items()},
        packets=own.get("packets", {}),
        calls={name: code for name, (code, _) in own.get("calls", {}).items()},
        outcomes=calls["outcomes"],
    )
    for domain in (Domain.KIND, Domain.PACKET, Domain.CALL):
        codes = list(found.codes(domain).values())
        if codes != list(range(1, len(codes) + 1)):
            raise BadInput(
                f"spec/{protocol}/trace.toml: the codes of the {domain}s are {codes}; they count from 1 in their "
                f"order, and kinds of its own go on after {len(common['kinds']) + len(calls['kinds'])}"
            )
    return found


def rows_of_packet(columns: Sequence[str], rows: Sequence[Row], at: int) -> list[int]:
    """The positions of all rows of the packet that row `at` belongs to, wherever it is on its link; `at` alone where
    the row is of no packet. columns: the names of the columns."""
    link, number = columns.index("link"), columns.index("link_seq")
    packet = (rows[at][link], rows[at][number])
    if packet[1] < 0:
        return [at]
    return [place for place, row in enumerate(rows) if (row[link], row[number]) == packet]
