"""A recorded run of the broadcast stack as TraceBroadcast.tla reads it: its network, and one tuple a row.

Processes and links count from 1 there, and digests are numbered. No times are in it: what must happen when, the module
does not say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from scatterproof.models.validation import Reader, tla_sequence, tla_set, tla_truth
from scatterproof.spec.broadcast.messages import Level, PacketKind
from scatterproof.spec.core import Parameter
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.schedule import EVERYBODY
from scatterproof.spec.topology import Link, NodeId, Role, Topology
from scatterproof.spec.trace import ABSENT, Header, Kind, Order, Row, Trace, schema

MOST_UNDELIVERED = 8_192  # where the parameters say nothing
WINDOW = 64  # likewise
MOST_IN_RUN = 4_096  # longer ones TLC would take one by one for long
_MOST = (1 << 31) - 1  # TLC's integers have 32 bits
_SETTLED = 3  # the flags of a run that ended as planned, with nothing in flight
_RECORDED = (Kind.SUBMITTED, Kind.BEGUN, Kind.SENT, Kind.ARRIVED, Kind.DELIVERED)
_PACKETS = {int(kind): kind.name.lower() for kind in PacketKind}
# Columns that are written as they are, after those that need a change.
_PLAIN = ("pseq", "count", "clock_sum", "clock_weighted")

# The actions of the module, but those that take a fault of a process or of the recorder.
ACTIONS = (
    "Submit", "Begin", "Send", "Forward", "Resend", "Answer", "Receive", "ReceiveAgain", "Acknowledge", "Deliver",
    "Lose", "Crash", "Pause", "Resume", "Settle", "Stop",
)  # fmt: skip

# What a row must keep that is no clause of the catalogue, in words.
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
    """The run in TLA+. CannotRun for a run that the module does not describe."""
    header = trace.header
    _refuse_other_networks(header.topology)
    level = str(header.parameters.get("level"))
    if level not in list(Level):
        raise CannotRun(f"parameter level is {level!r}; the module for traces describes {', '.join(Level)}")
    columns = {name: at for at, name in enumerate(schema("broadcast").columns)}
    _refuse_uncounted(trace.rows, columns, level)
    digests: dict[int, int] = {}
    rows = ",\n  ".join(_event(position, row, columns, digests) for position, row in enumerate(trace.rows))
    return Reader(
        module="TraceBroadcast",
        configuration="MCTraceBroadcast.cfg",
        text=f"[{_network(header, level)},\n  rows |-> <<\n  {rows}>>]",
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
    if (
        kind in (Kind.BEGUN, Kind.SENT, Kind.ARRIVED)
        and field("packet") != PacketKind.ACK
        and field("count") > MOST_IN_RUN
    ):
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


def _network(header: Header, level: str) -> str:
    topology, parameters = header.topology, header.parameters
    recorded = [kind.name.lower() for kind in _RECORDED]
    complete = [f"{kind} |-> {tla_set(sorted(header.complete.get(kind, ())))}" for kind in recorded]
    usual = {"most_undelivered": MOST_UNDELIVERED, "window": WINDOW}
    most, window = (_whole(parameters, name, otherwise) for name, otherwise in usual.items())
    return ",\n  ".join(
        (
            *complete,
            f'level |-> "{level}"',
            f"most |-> {min(most, _MOST)}",
            f"window |-> {min(window, _MOST)}",
            f"linked |-> {tla_truth(header.order.includes(Order.LINK))}",
            f"on |-> {tla_sequence(map(tla_set, map(sorted, dependencies(parameters, len(topology.nodes)))))}",
            f"source |-> {tla_sequence(str(link.source + 1) for link in topology.links)}",
            f"target |-> {tla_sequence(str(link.target + 1) for link in topology.links)}",
        )
    )


def _whole(parameters: Mapping[str, Parameter], name: str, otherwise: int) -> int:
    value = parameters.get(name, otherwise)
    if not isinstance(value, int):
        raise CannotRun(f"parameter {name} is {value!r}; give a whole number")
    return value


def dependencies(parameters: Mapping[str, Parameter], processes: int) -> list[set[NodeId]]:
    """By process, those that it depends on: "1,2;0;" for process 0 on 1 and 2, 1 on 0, 2 on none."""
    text = str(parameters.get("dependencies", ""))
    if not text:
        return [set() for _ in range(processes)]
    lists = [[name.strip() for name in part.split(",") if name.strip()] for part in text.split(";")]
    if len(lists) != processes or not all(n.isdecimal() and int(n) < processes for one in lists for n in one):
        raise CannotRun(f"parameter dependencies is {text!r}; give {processes} lists of processes, parted by ';'")
    return [{int(name) for name in one} for one in lists]


def _refuse_other_networks(topology: Topology) -> None:
    count = len(topology.nodes)
    mesh = {Link(a, b) for a in range(count) for b in range(count) if a != b}
    if any(node.role is not Role.HOST for node in topology.nodes) or set(topology.links) != mesh:
        raise CannotRun("the network is no full mesh of hosts, which is all that the module for traces describes")
    if len(topology.links) != len(mesh):
        raise CannotRun("the network has two links from one process to another; the module for traces knows one")


def _refuse_uncounted(rows: Sequence[Row], columns: Mapping[str, int], level: str) -> None:
    """CannotRun where submissions are not the recorder's own, counted: then nothing can be said of the run."""
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
