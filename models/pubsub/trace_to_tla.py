"""A recorded run of publish and subscribe as TracePubSub.tla reads it: which filters match which topics and cover which
others, and one tuple a row. Clients and links count from 1 there; times and digests are ranks, as TLC counts in 32
bits. Packets are read only where all sendings are recorded, and for requests all arrivals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from scatterproof.models.calls_to_tla import Columns, is_gone
from scatterproof.models.pubsub.words import covers, matches
from scatterproof.models.validation import Reader, tla_sequence, tla_truth
from scatterproof.spec.core import Outcome
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.pubsub.messages import CallName, PacketName
from scatterproof.spec.trace import CLEAN, QUIESCENT, Header, Kind, Order, Trace, schema

NAMES = schema("pubsub")
CALLS = {code: name for name, code in NAMES.calls.items()}
PACKETS = {code: name for name, code in NAMES.packets.items()}
ACTIONS = (
    *("Publish", "Subscribe", "Unsubscribe", "Return", "GiveUp", "Deliver"),
    *("Want", "Drop", "Repeat", "Request", "Answer", "Hear", "End"),
)
_OF_CALLS = frozenset({Kind.CALLED, Kind.RETURNED, Kind.DELIVERED})
_MOST = 2**31 - 1

Told = tuple[str | int, ...]


def reader_of(trace: Trace) -> Reader:
    """CannotRun for a trace that lacks calls or deliveries of a client, or in which a call returns that was not made;
    BadInput for parameters that cannot be."""
    topology, given = trace.header.topology, Parameters("pubsub", trace.header.parameters)
    rows = list(_Rows(trace, given).told())
    topics, filters, grammar = _lines(given, "topics"), _lines(given, "filters"), str(given["grammar"])
    sizes = f"clients |-> {len(topology.clients())}, links |-> {len(topology.links)}"
    matching = tla_sequence(_places(topics, [matches(grammar, one, topic) for topic in topics]) for one in filters)
    covering = tla_sequence(_places(filters, [covers(grammar, one, other) for other in filters]) for one in filters)
    read = ",\n  ".join(text for _, text in rows)
    return Reader(
        module="TracePubSub",
        configuration="MCTracePubSub.cfg",
        text=f"[{sizes},\n  matches |-> {matching},\n  covers |-> {covering},\n  rows |-> <<\n  {read}>>]",
        times={},
        reasons={},
        rules=(),
        positions=tuple(position for position, _ in rows),
    )


class _Rows:
    """By client:

    inside: the call that it is in, the number or filter that it is about, and the call's number.
    asked: the number of the last call whose request it has sent.
    """

    def __init__(self, trace: Trace, given: Parameters) -> None:
        self._kinds, header = _read(trace.header), trace.header
        self._rows = [dict(zip(NAMES.columns, row, strict=True)) for row in trace.rows]
        self._times = _ranks(row["time_ns"] for row in self._rows)
        self._digests = _ranks(row["digest"] for row in self._rows)
        self._clients = {client: at for at, client in enumerate(header.topology.clients(), 1)}
        self._topics, self._filters = len(_lines(given, "topics")), len(_lines(given, "filters"))
        self._inside: dict[int, tuple[str, int, int]] = {}
        self._asked: dict[int, int] = {}

    def told(self) -> Iterator[tuple[int, str]]:
        """The positions and tuples of the rows that are read."""
        for position, row in enumerate(self._rows):
            if is_gone(row) and row["node"] in self._inside:
                yield position, tla_sequence(map(_written, self._left(row["node"], self._times[row["time_ns"]])))
            if row["kind"] == Kind.SENT and row["sender"] == row["node"] and row["packet"] == NAMES.packets["request"]:
                self._asked[row["node"]] = row["operation"]
            if row["kind"] in self._kinds and (told := self._tuple(position, row)) is not None:
                yield position, tla_sequence(map(_written, told))

    def _tuple(self, position: int, row: Columns) -> Told | None:
        now, client = self._times[row["time_ns"]], self._clients.get(row["node"], 0)
        if row["kind"] == Kind.CALLED:
            return self._called(position, row, now, client)
        if row["kind"] == Kind.RETURNED:
            return self._returned(position, row, now, client)
        if row["kind"] == Kind.DELIVERED:
            if row["retain"] == 1:
                raise CannotRun(f"row {position}: a message that was kept, and the module keeps none; ask checks")
            name = self._clients.get(row["sender"], 0), _named(row["number"])
            return ("delivered", now, client, *name, *self._content(row), int(row["again"] == 1))
        if row["kind"] == Kind.ENDED:
            returned = all(self._asked.get(client) != number for client, (_, _, number) in self._inside.items())
            return ("ended", now, 0, row["flags"] == CLEAN | QUIESCENT, returned)
        return self._packet(row, now)

    def _packet(self, row: Columns, now: int) -> Told | None:
        kind, client, filter_ = PACKETS.get(row["packet"], ""), self._clients.get(row["sender"], 0), self._filter(row)
        if row["kind"] == Kind.SENT and kind in (PacketName.WANT, PacketName.DROP) and filter_:
            return (kind, now, row["link"] + 1, filter_, _named(row["serial"]))
        asks = (row["kind"], kind) in ((Kind.ARRIVED, PacketName.REQUEST), (Kind.SENT, PacketName.ANSWER))
        call = _named(row["operation"])
        if (row["kind"], kind) == (Kind.ARRIVED, PacketName.ANSWER) and row["node"] == row["sender"] and client:
            return ("heard", now, client, call, _outcome(row))
        return (kind, now, client, call) if asks and client else None

    def _called(self, position: int, row: Columns, now: int, client: int) -> Told:
        call, number, filter_ = CALLS.get(row["call"]), _named(row["operation"]), self._filter(row)
        if call is None or not client or row["node"] in self._inside or not number:
            raise CannotRun(f"row {position}: no call of a client, or one within another; record each call once")
        if call not in (CallName.PUBLISH, CallName.SUBSCRIBE, CallName.UNSUBSCRIBE):
            raise CannotRun(f"row {position}: a {call}, and the module has no sessions; let the checks judge the trace")
        if call == CallName.SUBSCRIBE and row["group"] > 0:
            raise CannotRun(f"row {position}: a shared subscription, and the module has none; ask the checks")
        self._inside[row["node"]] = call, number if call == CallName.PUBLISH else filter_, number
        rest = self._content(row) if call == CallName.PUBLISH else (filter_, _level(row))
        return (call, now, client, number, *rest)

    def _returned(self, position: int, row: Columns, now: int, client: int) -> Told:
        call, about, _ = self._inside.pop(row["node"], ("", 0, 0))
        if call != CALLS.get(row["call"]) or row["outcome"] not in tuple(Outcome):
            raise CannotRun(f"row {position}: a call returns that was not made, or without an outcome")
        return ("returned", now, client, call, about, _outcome(row), _named(row["operation"]))

    def _left(self, node: int, now: int) -> Told:
        """The call in which its client crashes: of unknown outcome, and no answer to call 0 says another."""
        call, about, _ = self._inside.pop(node)
        return ("returned", now, self._clients[node], call, about, Outcome.UNKNOWN.name.lower(), 0)

    def _content(self, row: Columns) -> tuple[int, int, int]:
        """Topic, level and digest of a message."""
        topic = row["topic"] if 1 <= row["topic"] <= self._topics else 0
        return topic, _level(row), self._digests[row["digest"]]

    def _filter(self, row: Columns) -> int:
        return row["filter"] if 1 <= row["filter"] <= self._filters else 0


def _read(header: Header) -> frozenset[Kind]:
    """The kinds of rows that are read."""
    if not header.order.includes(Order.LINK):
        raise CannotRun("the rows are in no order between nodes; record them in that of links")
    everybody = set(range(len(header.topology.nodes)))

    def recorded(kind: Kind, nodes: set[int]) -> bool:
        return nodes <= set(header.complete.get(kind.name.lower(), ()))

    for kind in sorted(_OF_CALLS):
        if not recorded(kind, set(header.topology.clients())):
            raise CannotRun(f"the trace does not record all that is {kind.name.lower()} at each client; record that")
    packets = {Kind.SENT} if recorded(Kind.SENT, everybody) else set()
    if packets and recorded(Kind.ARRIVED, everybody):
        packets.add(Kind.ARRIVED)
    return _OF_CALLS | packets | {Kind.ENDED}


def _written(value: str | bool | int) -> str:
    if isinstance(value, bool):
        return tla_truth(value)
    return f'"{value}"' if isinstance(value, str) else str(value)


def _lines(given: Parameters, name: str) -> list[str]:
    return str(given[name]).split("\n")


def _places(of: Iterable[str], chosen: Iterable[bool]) -> str:
    """The set of chosen places, counted from 1, in TLA+."""
    return "{" + ", ".join(str(place) for place, (_, one) in enumerate(zip(of, chosen, strict=True), 1) if one) + "}"


def _ranks(values: Iterable[int]) -> Mapping[int, int]:
    return {value: rank for rank, value in enumerate(sorted(set(values)), 1)}


def _named(number: int) -> int:
    """The number of a call or packet; 0 for one that no call or packet has."""
    return number if 1 <= number <= _MOST else 0


def _outcome(row: Columns) -> str:
    """In words; none for a number that is none."""
    return Outcome(row["outcome"]).name.lower() if row["outcome"] in tuple(Outcome) else "none"


def _level(row: Columns) -> int:
    """Within TLC's integers; an absent level stays absent."""
    return max(-_MOST, min(row["level"], _MOST))
