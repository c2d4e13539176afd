"""Which member of a group gets a message (PS-SHARED)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TypeAlias

from scatterproof.impl.pubsub.running.table import Receiver, Shared, Subscription

Chosen: TypeAlias = tuple[str, "Subscription | str"]


class Turns:
    """Members of a group take turns: those of this appliance that are connected, else those that are away, else
    neighbours with members behind them."""

    def __init__(self) -> None:
        self._turns: Counter[str] = Counter()

    def choose(
        self,
        groups: dict[str, Shared],
        wanted: list[str] | None,
        but: Receiver | None,
        may_go: Callable[[str], bool],
    ) -> Iterator[Chosen]:
        """For each group its name, and the member or neighbour that gets the message.

        wanted: the groups to serve, None for all.
        but: a receiver that does not get it.
        may_go: whether it may go to a neighbour.
        """
        for name, shared in groups.items():
            if wanted is not None and name not in wanted:
                continue
            self._turns[name] += 1
            here = [one for one in shared.here if one.receiver is not but]
            here = [one for one in here if one.receiver.is_there] or here
            there = [peer for peer in shared.there if may_go(peer)]
            if here:
                yield name, here[self._turns[name] % len(here)]
            elif there:
                yield name, there[self._turns[name] % len(there)]
