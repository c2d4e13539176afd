"""Appliances in memory: cores with their links' bytes carried by hand, and receivers that remember."""

from __future__ import annotations

from collections import defaultdict

from scatterproof.impl.pubsub.rules import RULES, Rules
from scatterproof.impl.pubsub.running.core import Core
from scatterproof.impl.pubsub.running.neighbour import Neighbour
from scatterproof.impl.pubsub.running.outbox import Outbox
from scatterproof.impl.pubsub.running.table import Subscription
from scatterproof.impl.pubsub.translation.messages import Carried


class Taker:
    """A receiver. got: payloads with the levels at which they came; guaranteed where `subscribe` says so."""

    def __init__(self, core: Core) -> None:
        self.core, self.is_there = core, True
        self.user = ""
        self.got: list[tuple[bytes, int]] = []
        self.in_force: list[str] = []
        self._subscribed: dict[tuple[str, str], Subscription] = {}

    def give(self, carried: Carried, level: int, key: str, group: str = "") -> None:
        self.got.append((carried.message.payload, level))

    def subscribe(self, filter_: str, level: int = 2, group: str = "") -> None:
        one = Subscription(self, "", filter_, level, group)
        self._subscribed[filter_, group] = one
        if self.core.subscribe(one, lambda: self.in_force.append(filter_)):
            self.in_force.append(filter_)

    def revoked(self, one: Subscription) -> None:
        self.unsubscribe(one.filter, one.group)

    def unsubscribe(self, filter_: str, group: str = "") -> None:
        self.core.unsubscribe(self._subscribed.pop((filter_, group)))


class _End:
    """One end of a connection, and what waits to be carried to it."""

    def __init__(self, core: Core, known: dict[object, str], said: list[str], dialled: tuple[str, int] | None) -> None:
        self.outbox: Outbox = core.outbox()
        self.neighbour = Neighbour(core, self.outbox, known, said.append, dialled)


class Joined:
    """Appliances by name. said: by appliance, the lines that it would have shown to a person."""

    def __init__(self, *names: str, all_paths: bool = False, rules: Rules = RULES) -> None:
        self.cores = {name: Core(name, None, f"life of {name}", rules=rules, all_paths=all_paths) for name in names}
        self.said: dict[str, list[str]] = defaultdict(list)
        self.known: dict[str, dict[object, str]] = defaultdict(dict)
        self.ends: dict[tuple[str, str], _End] = {}

    def join(self, one: str, other: str, *, settle: bool = True) -> None:
        """Have the first appliance dial the second."""
        for name, peer, dialled in ((other, one, None), (one, other, (other, 1))):
            self.ends[name, peer] = _End(self.cores[name], self.known[name], self.said[name], dialled)
        if settle:
            self.run()

    def cut(self, one: str, other: str) -> None:
        """Break the connection; what was on it is lost."""
        for pair in ((one, other), (other, one)):
            end = self.ends.pop(pair, None)
            if end is not None:
                end.outbox.parts.clear()
                end.neighbour.lost()

    def begin_anew(self, name: str, core: Core) -> None:
        """Start another process under that name; its connections have to be made again."""
        for one, other in [pair for pair in self.ends if pair[0] == name]:
            self.cut(one, other)
        self.cores[name] = core

    def carry(self, source: str, target: str) -> bool:
        """Carry what one end has to say to the other; returns whether there was anything."""
        end = self.ends.get((source, target))
        if end is None:
            return False
        self.cores[source].end_turn()
        data = b"".join(end.outbox.parts)
        end.outbox.parts.clear()
        end.outbox.size = 0
        if data:
            self.ends[target, source].neighbour.receive(data)
        if end.outbox.closing is not None:
            self.cut(source, target)
        return bool(data)

    def run(self, most: int = 10_000) -> None:
        """Carry until nobody has anything to say, or this often."""
        for _ in range(most):
            if not sum(self.carry(*pair) for pair in list(self.ends)):
                break
        for core in self.cores.values():
            core.end_turn()
