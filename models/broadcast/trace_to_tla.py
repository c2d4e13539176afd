"""A recorded run of the broadcast stack as TraceBroadcast.tla reads it: its network, and one tuple a row.

Processes and links count from 1 there, and digests are numbered. It has no times: the module says nothing about when
things happen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from scatterproof.models.validation import Reader, tla_record, tla_sequence, tla_set, tla_truth
from scatterproof.spec.broadcast.messages import Level, PacketKind, dependencies
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.schedule import EVERYBODY
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import ABSENT, Header, Kind, Order, Row, Trace, schema

MOST_IN_RUN = 4_096  # longer ones TLC would take one by one for long
_MOST = (1 << 31) - 1  # TLC's integers have 32 bits
_SETTLED = 3  # the flags of a run that ended as planned, with nothing in flight
_RECORDED = (Kind.SUBMITTED, Kind.BEGUN, Kind.SENT, Kind.ARRIVED, Kind.DELIVERED)
_PACKETS = {int(kind): kind.name.lower() for kind in PacketKind}
# Columns that are written as they are, after those that need a change.
_PLAIN = ("pseq", "count", "clock_sum", "clock_weighted")

# Conditions on a row that are no clauses of the catalogue, in words.
REASONS = {
    "ArrivedAsSent": "no packet like it was put on that link under this count",
    "CountedOnItsLink": "the packets of a link are counted from 0 without gaps",
    "CrashesOnce": "the process has crashed before",
    "Exists": "there is no such packet or beginning",
    "NothingIsRefused": "the packet broke no promise of its sender",
    "OnItsLink": "it is not for the process that its link leads to, or not on a link of its node",
    "OneThatStandsStillDoesNothing": "the process has crashed, or is paused",
    "ResumesWhatIsPaused": "the process is not paused",
}


def reader_of(trace: Trace) -> Reader:
    """The run in TLA+. Raises CannotRun for a run that the module does not describe, BadInput for invalid
    parameters."""
    header = trace.header
    if not header.topology.is_full_mesh:
        raise CannotRun("the network is no full mesh of hosts, which is all that the module for traces describes")
    set_to = Parameters("broadcast", header.parameters)
    level = str(set_to["level"])
    columns = {name: at for at, name in enumerate(schema("broadcast").columns)}
    _refuse_uncounted(trace.rows, columns, level)
    digests: dict[int, int] = {}
    rows = ",\n  ".join(_event(position, row, columns, digests) for position, row in enumerate(trace.rows))
    return Reader(
        module="TraceBroadcast",
        configuration="MCTraceBroadcast.cfg",
        text=tla_record({**_network(header, set_to), "rows": f"<<\n  {rows}>>"}),
        times={},
        reasons=REASONS,
        rules=("MajorityRules", "CausalRules"),
    )


def _event(position: int, row: Row, columns: Mapping[str, int], digests: dict[int, int]) -> str:
    def field(name: str) -> int:
        value = row[columns[name]]
        if not -_MOST < value < _MOST:
            raise CannotRun(f"row {position}: {name} is {value}, and TLC's integers have 32 bits")
        return value

    def identity(name: str) -> int:
        return field(name) + 1 if field(name) >= 0 else ABSENT

    kind, digest, flags = Kind(field("kind")), row[columns["digest"]], row[columns["flags"]]
    if kind is Kind.RESTARTED or (kind is Kind.CRASHED and field("link") != ABSENT):
        raise CannotRun(
            f"row {position}: {kind.name.lower()}: the module for traces knows no restarts and no cut links"
        )
    is_run = kind in (Kind.BEGUN, Kind.SENT, Kind.ARRIVED) and field("packet") != PacketKind.ACK
    if is_run and field("count") > MOST_IN_RUN:
        raise CannotRun(f"row {position}: a run of {field('count')} messages; TLC reads at most {MOST_IN_RUN} in one")
    if digest != ABSENT:
        digest = digests.setdefault(digest, len(digests))
    if kind is Kind.ENDED:
        flags = flags & _SETTLED if flags > 0 else 0
    elif not 0 <= flags <= 1:
        flags = ABSENT
    packet = "" if field("packet") == ABSENT else _PACKETS.get(field("packet"), "unknown")
    values: Iterable[int | str] = (
        f'"{kind.name.lower()}"', identity("node"), identity("link"), field("link_seq"), identity("sender"),
        identity("receiver"), field("number"), digest, flags, f'"{packet}"', *map(field, _PLAIN),
    )  # fmt: skip
    return f"<<{', '.join(map(str, values))}>>"


def _network(header: Header, set_to: Parameters) -> dict[str, object]:
    links = header.topology.links
    recorded = [kind.name.lower() for kind in _RECORDED]
    named = dependencies(header.parameters, len(header.topology.nodes))
    return {kind: tla_set(sorted(header.complete.get(kind, ()))) for kind in recorded} | {
        "level": f'"{set_to["level"]}"',
        "most": min(set_to.number("most_undelivered"), _MOST),
        "window": set_to.number("window"),
        "linked": tla_truth(header.order.includes(Order.LINK)),
        "on": tla_sequence(map(tla_set, map(sorted, named))),
        "source": tla_sequence(str(link.source + 1) for link in links),
        "target": tla_sequence(str(link.target + 1) for link in links),
    }


def _refuse_uncounted(rows: Sequence[Row], columns: Mapping[str, int], level: str) -> None:
    """Raises CannotRun where submissions are not numbered as the recorder does it: nothing can be said of such a
    run."""
    kind, *names = (columns[name] for name in ("kind", "node", "sender", "receiver", "number"))
    numbers: dict[tuple[NodeId, NodeId], int] = {}
    for position, row in enumerate(rows):
        if row[kind] != Kind.SUBMITTED:
            continue
        node, sender, receiver, number = (row[at] for at in names)
        due = numbers[node, receiver] = numbers.get((node, receiver), 0) + 1
        for_one = receiver not in (node, EVERYBODY)
        if sender != node or number != due or for_one != (level == Level.PL):
            raise CannotRun(f"row {position}: the submission is not the next of its node; have the harness record it")
