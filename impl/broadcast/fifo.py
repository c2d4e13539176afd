"""FIFO broadcast (BC-FIFO): each creator's messages in their order, and a bound on one's own undelivered ones."""

from __future__ import annotations

from scatterproof.impl.broadcast.rules import Rules
from scatterproof.impl.broadcast.runs import Run


class Fifo:
    """By creator: delivered, how many; waiting, runs that came before their turn, by their first message."""

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
