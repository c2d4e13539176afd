"""A recorded run of total order as TraceOrder.tla, TraceLoss.tla and TraceFailures.tla read it: its network, and one
tuple a row.

Nodes and links count from 1 there, digests are numbered, and times are ranks (`scatterproof.models.ranks`). Ranks
cannot be added, so sums of times are computed here: the clock plus the beacon interval, when a link becomes idle
(TO-ENV-C) and by when the resending that two acknowledgements ask for is due (TO-RETX); where failures are handled, the
time plus the time-out, until when a node that something reached counts as up (TO-FAIL). With adjusted clocks TLC adds
itself: times are then written as they are, if all fit its integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from scatterproof.models.ranks import ranks
from scatterproof.models.validation import Reader, tla_sequence, tla_set, tla_truth
from scatterproof.spec.core import Parameter
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.topology import Role, route
from scatterproof.spec.totalorder.messages import Environment, PacketKind
from scatterproof.spec.trace import ABSENT, Kind, Order, Row, Trace, schema

_TIMES = ("timestamp", "barrier", "clock_ns")
_TIMES_UNDER_LOSS = ("ack_barrier", "loss_record", "greatest")
# Parameters, each with the only value that the modules describe.
_NOT_DESCRIBED = {"switch": "one"}
_INTEGERS = 1 << 31
_LATEST = 1 << 28  # TLC's integers have 32 bits, and sums of a few times must be among them
# Rows with an effect for a beacon interval: data sent on a link, and acknowledgements that arrive.
_LASTING = {(int(Kind.SENT), int(PacketKind.DATA)), (int(Kind.ARRIVED), int(PacketKind.ACK))}
_SETTLED = 3  # the flags of a run that ended as planned, with nothing in flight
_OF_ROUNDS = (PacketKind.ADJUST, PacketKind.ADJUSTED)
_PACKETS = {int(kind): kind.name.lower() for kind in PacketKind}

# Conditions on a row that are no clauses of the catalogue, in words.
REASONS = {
    "SentAsSubmitted": "no message that was handed over there and has not left is like it",
    "SentAsArrived": "no message that arrived there and has not left is like it",
    "OnItsRoute": "it is not on the route from its sender to its receiver",
    "ArrivedAsSent": "no packet on that link is like it",
    "NothingIsRefused": "the packet broke no promise of its link",
    "Exists": "there is no such packet in this environment",
    "AckBarriersNeverFall": "ack barriers fall on no link",
    "GreatestIsAboveItsRecord": "greatest is at or above the loss record",
}


def reader_of(trace: Trace) -> Reader:
    """The run in TLA+. Raises CannotRun for a run that no module describes."""
    parameters = trace.header.parameters
    environment = Environment(str(parameters.get("environment")))
    for name, usual in _NOT_DESCRIBED.items():
        if parameters.get(name, usual) != usual:
            raise CannotRun(f"the run has {name} {parameters[name]}, which no module for traces describes yet")
    timeout = int(parameters.get("failure_timeout_ns", 0))
    module = "TraceFailures" if timeout else "TraceLoss" if environment.loses else "TraceOrder"
    interval = int(parameters.get("beacon_interval_ns", 0))
    columns = {name: number for number, name in enumerate(schema("totalorder").columns)}
    _refuse_uncounted(trace.rows, columns)
    times = (*_TIMES, *_TIMES_UNDER_LOSS) if environment.loses else _TIMES
    adjusts = parameters.get("adjustment_interval_ns", 0) != 0
    adjusted = frozenset(trace.header.topology.hosts() if adjusts else ())
    clocks = _Clocks(columns, adjusted, interval, timeout)
    shown = _times_of(trace.rows, columns, times, clocks)
    sums = adjusts and not timeout and max(shown, default=0) < _LATEST and min(shown, default=0) >= ABSENT
    rank = {time: time for time in shown | {0, ABSENT}} if sums else ranks(shown)
    of_rounds = {row[columns["number"]] for row in trace.rows if row[columns["packet"]] in _OF_ROUNDS}
    table = _Table(columns, times, clocks, sums, rank, {}, ranks(of_rounds))
    rows = ",\n  ".join(table.event(position, row) for position, row in enumerate(trace.rows))
    network = _network(trace, environment, sums)
    return Reader(
        module=module,
        configuration=f"MC{module}.cfg",
        text=f"[{network},\n  rows |-> <<\n  {rows}>>]",
        times={rank: time for time, rank in table.rank.items()},
        reasons=REASONS,
    )


@dataclass(frozen=True, slots=True)
class _Clocks:
    """The values of a row's columns Clock and BusyUntil, in ns.

    adjusted: the nodes with adjusted clocks, whose readings the trace does not have.
    timeout: of failures, 0 where they are not handled; where they are, true time stands for the clock.
    """

    columns: Mapping[str, int]
    adjusted: frozenset[int]
    interval: int
    timeout: int

    def of(self, row: Row) -> tuple[int, int]:
        kind, clock = row[self.columns["kind"]], row[self.columns["clock_ns"]]
        if self.timeout:
            now = row[self.columns["time_ns"]]
            return now, now + self.timeout if kind == Kind.ARRIVED else ABSENT
        # Adjusted clocks are not those of the trace; a link is busy by the local one all the same.
        lasts = clock != ABSENT and (kind, row[self.columns["packet"]]) in _LASTING
        known = row[self.columns["node"]] not in self.adjusted
        return clock if known else ABSENT, clock + self.interval if lasts else ABSENT


def _times_of(rows: Sequence[Row], columns: Mapping[str, int], names: Sequence[str], clocks: _Clocks) -> set[int]:
    times = {row[columns[name]] for row in rows for name in names}
    held = {row[columns["digest"]] for row in rows if clocks.adjusted and row[columns["packet"]] == PacketKind.ADJUSTED}
    return times.union(held, *map(clocks.of, rows))


@dataclass(frozen=True, slots=True)
class _Table:
    """How columns become fields.

    times: the columns that are ranks.
    sums: whether these are the times themselves.
    digests: digest -> number, in the order of their first rows.
    rounds: of adjustment, the number of each, renumbered in their order: hosts may count them by their clocks.
    """

    columns: Mapping[str, int]
    times: Sequence[str]
    clocks: _Clocks
    sums: bool
    rank: dict[int, int]
    digests: dict[int, int]
    rounds: dict[int, int]

    def event(self, position: int, row: Row) -> str:
        def field(name: str) -> int:
            return row[self.columns[name]]

        def identity(name: str) -> int:
            return field(name) + 1 if field(name) >= 0 else ABSENT

        kind, packet = Kind(field("kind")), field("packet")
        if kind in (Kind.CRASHED, Kind.RESTARTED) and field("link") != ABSENT and not self.clocks.timeout:
            raise CannotRun(f"row {position}: {kind.name.lower()}: the modules for traces know no cut links")
        digest = held = field("digest")
        if digest != ABSENT:
            digest = self.digests.setdefault(digest, len(self.digests))
        clock, busy_until = self.clocks.of(row)
        flags = field("flags")
        if kind is Kind.ENDED:
            flags = flags & _SETTLED if flags > 0 else 0
        # Of a notice's number it only matters whether it is 0; other numbers may not fit TLC's integers.
        number = min(field("number"), 1) if packet == PacketKind.NOTICE else field("number")
        if packet in _OF_ROUNDS:
            number = self.rounds[number]
        rank, name_of = self.rank, "" if packet == ABSENT else _PACKETS.get(packet, "unknown")
        values: Iterable[int | str] = (
            f'"{kind.name.lower()}"', identity("node"), identity("link"), field("link_seq"), identity("sender"),
            identity("receiver"), number, digest, flags, f'"{name_of}"', rank[field("timestamp")],
            rank[field("barrier")], field("scattering"), rank[clock], rank[busy_until],
            *(rank[field(name)] for name in self.times if name in _TIMES_UNDER_LOSS),
            *((field("clock_ns"), held if packet == PacketKind.ADJUSTED else ABSENT) if self.sums else ()),
        )  # fmt: skip
        told = tuple(values)
        large = next((value for value in told if isinstance(value, int) and not -_INTEGERS <= value < _INTEGERS), None)
        if large is not None:
            raise CannotRun(f"row {position} has {large} in a column that is no time; TLC's integers have 32 bits")
        return f"<<{', '.join(map(str, told))}>>"


def _network(trace: Trace, environment: Environment, sums: bool) -> str:
    topology = trace.header.topology
    routes = route(topology)
    nodes, links = range(len(topology.nodes)), range(len(topology.links))

    def used(among: Iterable[int]) -> list[int]:
        return [link for link in among if link in routes.used]

    def paths(sender: int) -> str:
        return tla_sequence(
            tla_set(routes.path(topology, sender, receiver) if both(sender, receiver) else ()) for receiver in nodes
        )

    def both(*ends: int) -> bool:
        return all(topology.nodes[end].role is Role.HOST for end in ends)

    header = trace.header
    recorded = (Kind.SUBMITTED, Kind.SENT, Kind.ARRIVED, Kind.DELIVERED)
    complete = [f"{kind.name.lower()} |-> {tla_set(header.complete.get(kind.name.lower(), ()))}" for kind in recorded]
    return ",\n  ".join(
        (
            *complete,
            f"loses |-> {tla_truth(environment.loses)}",
            f"packets |-> {{{', '.join(map(_quoted, ('', *_packets(environment, header.parameters))))}}}",
            f"fills |-> {tla_truth(environment.data_carry_barriers and header.parameters.get('fill_barrier', 0) == 1)}",
            f"sums |-> {tla_truth(sums)}",
            *([f"interval |-> {header.parameters['adjustment_interval_ns']}"] if sums else []),
            f"withholds |-> {tla_truth(header.parameters.get('every_beacon') == 0)}",
            f"causal |-> {tla_truth(header.parameters.get('causal', 0) == 1)}",
            f"hostFlags |-> {tla_truth(header.parameters.get('host_flags', 0) == 1)}",
            f"linked |-> {tla_truth(header.order.includes(Order.LINK))}",
            f'environment |-> "{environment}"',
            f"hosts |-> {tla_set(topology.hosts())}",
            f"source |-> {tla_sequence(str(link.source + 1) for link in topology.links)}",
            f"ingress |-> {tla_sequence(tla_set(used(topology.ingress(node))) for node in nodes)}",
            f"egress |-> {tla_sequence(tla_set(used(topology.egress(node))) for node in nodes)}",
            f"reaching |-> {tla_sequence(tla_set(routes.reaching[link]) for link in links)}",
            f"next |-> {tla_sequence(tla_sequence(str(link + 1) for link in row) for row in routes.next_link)}",
            *([f"route |-> {tla_sequence(map(paths, nodes))}"] if environment.loses else []),
        )
    )


def _packets(environment: Environment, parameters: Mapping[str, Parameter]) -> list[str]:
    """The kinds of packets that there are in such a run."""
    kinds = [PacketKind.DATA, PacketKind.BEACON]
    kinds += [PacketKind.ACK] if environment.loses else []
    kinds += [PacketKind.ADJUST, PacketKind.ADJUSTED] if parameters.get("adjustment_interval_ns", 0) else []
    return [_PACKETS[kind] for kind in kinds]


def _quoted(text: str) -> str:
    return f'"{text}"'


def _refuse_uncounted(rows: Sequence[Row], columns: Mapping[str, int]) -> None:
    """Raises CannotRun where submissions are not numbered as the recorder does it: nothing can be said of such a
    run."""
    read: Callable[[Row], tuple[int, ...]] = lambda row: tuple(  # noqa: E731
        row[columns[name]] for name in ("kind", "node", "sender", "receiver", "number", "scattering")
    )
    numbers: dict[tuple[int, int], int] = {}
    scatterings: dict[int, int] = {}
    going_on: set[int] = set()
    for position, row in enumerate(rows):
        kind, node, sender, receiver, number, scattering = read(row)
        if kind == Kind.SENT:
            going_on.discard(node)
        if kind != Kind.SUBMITTED:
            continue
        due = numbers[node, receiver] = numbers.get((node, receiver), 0) + 1
        goes_on = node in going_on and scattering == scatterings.get(node)
        if not goes_on:
            scatterings[node] = scatterings.get(node, 0) + 1
        going_on.add(node)
        if sender != node or number != due or scattering != scatterings[node]:
            raise CannotRun(f"row {position}: the submission is not the next of its node; have the harness record it")
