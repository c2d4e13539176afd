"""What brings runs that a majority has into order: FIFO, and localized causal broadcast."""

from __future__ import annotations

from scatterproof.impl.broadcast.rules import Rules
from scatterproof.impl.broadcast.runs import Run
from scatterproof.spec.topology import NodeId


class Fifo:
    """Each creator's messages in their order (BC-FIFO).

    By creator: delivered, how many; waiting, runs that came before their turn, by their first message.
    """

    def __init__(self, processes: int, rules: Rules) -> None:
        self._rules = rules
        self.delivered = [0] * processes
        self.waiting: list[dict[int, Run]] = [{} for _ in range(processes)]

    def receive(self, run: Run) -> list[Run]:
        """The runs that are in their turn now, in their order. Runs never overlap."""
        creator = run.creator
        if not self._rules.in_turn(run.first, self.delivered[creator]):
            self.waiting[creator][run.first] = run
            return []
        found = [run]
        waiting = self.waiting[creator]
        while found[-1].last + 1 in waiting:
            found.append(waiting.pop(found[-1].last + 1))
        self.delivered[creator] = found[-1].last
        return found


class Causal:
    """A message waits for what its creator depended on, and for nothing else (BC-LCB).

    delivered: the vector clock, by creator how many. depended: the dependency clock, own entry unused.
    waiting: by creator, runs that may not be delivered yet, by their first message."""

    def __init__(self, me: NodeId, processes: int, dependencies: frozenset[NodeId], rules: Rules) -> None:
        self._me = me
        self._rules = rules
        self._dependencies = dependencies
        self.delivered = [0] * processes
        self.depended = [0] * processes
        self.waiting: list[dict[int, Run]] = [{} for _ in range(processes)]
        # Creators whose next message has come, and waits for others.
        self.blocked: set[NodeId] = set()

    def clock(self, begun: int) -> tuple[int, ...]:
        """The clock of the next own message, of which `begun` are before it."""
        return self._rules.attached(self.depended, self._me, begun)

    def receive(self, run: Run) -> list[Run]:
        """The runs that can be delivered now, in an order that keeps all dependencies."""
        creator = run.creator
        self.waiting[creator][run.first] = run
        return self._rules.look(self, creator)

    def head(self, creator: NodeId) -> Run | None:
        """The next run of a creator, if it has come."""
        return self.waiting[creator].get(self.delivered[creator] + 1)

    def is_ready(self, run: Run) -> bool:
        return self._rules.ready(run.clock, self.delivered)

    def lacking(self, run: Run) -> list[NodeId]:
        return [k for k, needed in enumerate(run.clock) if needed > self.delivered[k]]

    def deliver(self, run: Run) -> Run:
        """Count a run whose turn it is as delivered."""
        creator = run.creator
        del self.waiting[creator][run.first]
        self.delivered[creator] = run.last
        if self._rules.counts_as_dependency(creator, self._dependencies):
            self.depended[creator] = run.last
        return run
