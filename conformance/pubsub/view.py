"""What an observer knows of publish and subscribe, from the same tables as the checks. At an appliance: its clients'
subscriptions, and what it has told its neighbours that it wants. At a client: its filters, and the messages that it is
owed. At a row of a message: the way that this has come.

A message is owed where the checks are sure that it must come; one of best effort may be lost nevertheless. Retained
messages, those that expire, and what comes by a shared subscription are never surely owed. Only the latest messages are
remembered, so that the view of a long run stays small."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scatterproof.conformance.checks.tables import PlainTable, field, find, remove
from scatterproof.conformance.pubsub import vocabulary
from scatterproof.conformance.pubsub.knowledge import (
    connection_of,
    is_new_to,
    learn_delivered,
    learn_returned,
    note_called,
)
from scatterproof.conformance.pubsub.owing import is_present, sure_level
from scatterproof.conformance.pubsub.records import (
    CLIENT,
    DROP,
    FILTER,
    FOREVER,
    GROUP,
    HAS,
    MAY_UNTIL,
    MESSAGE,
    NEVER,
    OUTCOME,
    PUBLISH,
    REQUEST,
    SURE_FROM,
    TOPIC,
    UNKNOWN,
    WANT,
    Book,
    Known,
)
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.topology import NodeId, Role
from scatterproof.spec.trace import ABSENT, Header, Kind, Row, schema

MOST = 250  # messages that are remembered, beside those whose publish is open
_Name = tuple[int, int]


class View:
    """Shows messages as client.call, with the topic."""

    def __init__(self, header: Header) -> None:
        self._columns = schema(header.protocol).columns
        self._given = header.parameters
        self._names = [node.name for node in header.topology.nodes]
        self._is_appliance = [node.role is Role.HOST for node in header.topology.nodes]
        self._links = [(link.source, link.target) for link in header.topology.links]
        self._near = dict(self._links)  # a client has one link out, to its appliance
        self._book: Book = (PlainTable(), PlainTable(), PlainTable(), PlainTable(), PlainTable())
        self._wants: dict[tuple[NodeId, NodeId], dict[int, None]] = {}
        self._serials: dict[tuple[NodeId, NodeId], int] = {}
        # By message: the hops in the order in which it was first sent, and whether it has arrived. And the message of
        # the last row, with that row's node.
        self._ways: dict[_Name, dict[tuple[NodeId, NodeId], bool]] = {}
        self._here: tuple[NodeId, _Name] | None = None

    def see(self, row: Row) -> None:
        told = dict(zip(self._columns, row, strict=True))
        # The tables' positions of rows are not shown: 0 stands for all.
        node, kind, time_ns = told["node"], told["kind"], told["time_ns"]
        name = (told["sender"], told["number"])
        self._here = None
        if kind == Kind.CALLED:
            what = told["topic"], told["filter"], told["level"], told["digest"]
            given = *what, told["session"], told["retain"], told["group"], told["expiry_ns"]
            note_called(0, node, time_ns, told["call"], told["operation"], given, self._book)
            self._forget()
        elif kind == Kind.RETURNED or (kind == Kind.CRASHED and told["link"] == ABSENT):
            learn_returned(node, time_ns, told["outcome"] if kind == Kind.RETURNED else UNKNOWN, self._book)
        elif kind == Kind.DELIVERED:
            self._here = node, name
            if find(self._book[0], name) >= 0:
                learn_delivered(node, 0, name, told["topic"], told["level"], told["again"], self._book)
        elif kind in (Kind.SENT, Kind.ARRIVED) and told["link"] != ABSENT:
            self._pass(told, self._links[told["link"]])

    def _pass(self, told: dict[str, int], hop: tuple[NodeId, NodeId]) -> None:
        """Learn from a packet that is sent or arrives. What is sent again has its old serial."""
        packet = told["packet"]
        if packet == MESSAGE or (packet == REQUEST and told["call"] == PUBLISH):
            name = told["sender"], told["number" if packet == MESSAGE else "operation"]
            self._here = told["node"], name
            way = self._ways.setdefault(name, {})
            way[hop] = told["kind"] == Kind.ARRIVED or way.get(hop, False)
            if len(self._ways) > MOST:
                del self._ways[next(iter(self._ways))]
        elif packet in (WANT, DROP) and told["serial"] > self._serials.get(hop, 0):
            self._serials[hop] = told["serial"]
            wanted = self._wants.setdefault(hop, {})
            wanted.pop(told["filter"], None)
            if packet == WANT:
                wanted[told["filter"]] = None

    def _forget(self) -> None:
        """Forget the oldest message whose publish has returned, if there are more than are remembered."""
        messages, _, clients, deliveries, _ = self._book
        if len(messages.places) > MOST:
            old = next((name for name, slot in messages.places.items() if field(messages, slot, OUTCOME) != 0), None)
            if old is not None:
                remove(messages, find(messages, old))
                for client in clients.places:
                    if (slot := find(deliveries, (*client, *old))) >= 0:
                        remove(deliveries, slot)

    def facts(self, node: NodeId) -> list[tuple[str, str]]:
        found = []
        if self._is_appliance[node]:
            for (source, target), wanted in self._wants.items():
                if source == node:
                    found.append((f"wants of {self._names[target]}", self._filters(wanted) or "nothing"))
        elif connection := connection_of(self._book[2], node):
            is_up = is_present(self._book[2], node)
            found.append(("connection", f"{connection}" if is_up else f"{connection}, not up for sure"))
        if self.mark(node):
            found.append(("subscribed", self.mark(node)))
        if self._here is not None and self._here[0] == node and self._here[1] in self._ways:
            sender, number = self._here[1]
            way = [
                f"{self._names[source]}->{self._names[target]}{'' if is_there else ' (under way)'}"
                for (source, target), is_there in self._ways[sender, number].items()
            ]
            found.append((f"way of {sender}.{number}", ", ".join(way)))
        return found

    def mark(self, node: NodeId) -> str:
        """The filters that a client surely is subscribed to."""
        subscriptions = self._book[1]
        return self._filters(
            filter_
            for (client, filter_), slot in subscriptions.places.items()
            if client == node and field(subscriptions, slot, SURE_FROM) != NEVER
        )

    def buffer(self, node: NodeId) -> list[str]:
        """An appliance's clients with their subscriptions, also those that only may be in force; or the messages that a
        client is owed, in the order of their publishing."""
        subscriptions = self._book[1]
        if not self._is_appliance[node]:
            return self._owed(node)
        return [
            self._told(slot)
            for (client, _), slot in subscriptions.places.items()
            if self._near.get(client) == node
            if field(subscriptions, slot, SURE_FROM) != NEVER or field(subscriptions, slot, MAY_UNTIL) == FOREVER
        ]

    def _owed(self, node: NodeId) -> list[str]:
        messages, subscriptions, clients, deliveries, _ = self._book
        words: dict[str, Any] = {**vocabulary.counts(self._given), **vocabulary.arrays(self._given)}
        counts = words["filter_count"], words["topic_count"]
        known = Known(words["filter_matches"], *counts, messages, subscriptions, clients, deliveries)
        slots = [slot for (client, _), slot in subscriptions.places.items() if client == node]
        found = []
        for (sender, number), one in messages.places.items():
            level = max((sure_level(one, slot, known) for slot in slots), default=-1)
            if level >= 0 and is_new_to(deliveries, node, sender, number):
                on = self._word("topics", field(messages, one, TOPIC))
                found.append(f"owed {sender}.{number} on {on}" + (" (best effort)" if level == 0 else ""))
        return found

    def _told(self, slot: int) -> str:
        subscriptions = self._book[1]
        client, filter_, level, group, sure = (
            field(subscriptions, slot, number) for number in (CLIENT, FILTER, HAS, GROUP, SURE_FROM)
        )
        shared = f" in group {group}" if group > 0 else ""
        told = f"{self._names[client]} subscribed to {self._word('filters', filter_)} at level {level}{shared}"
        return told if sure != NEVER else f"{told}, perhaps"

    def _filters(self, numbers: Iterable[int]) -> str:
        return ", ".join(self._word("filters", number) for number in numbers)

    def _word(self, of: str, number: int) -> str:
        """A topic or filter as it is written; its number where there is none such."""
        words = str(Parameters("pubsub", self._given)[of]).split("\n")
        return (words[number - 1] or '""') if 1 <= number <= len(words) else str(number)
