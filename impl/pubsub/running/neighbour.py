"""A connection to a neighbour. The side that dialled says who it is, then the other one does; each may refuse the
other. At each tick both send a sign of life. A neighbour that is silent for some ticks is taken as dead: one that
hangs, or is behind a broken wire, would keep its connection open.

Clauses: PS-NEIGHBOUR, PS-ROUTE.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from scatterproof.impl.pubsub.running.core import Core
from scatterproof.impl.pubsub.running.link import Link
from scatterproof.impl.pubsub.running.messages import Alive, Echo, Frames, Hello, Probe, Refused, encode
from scatterproof.impl.pubsub.running.outbox import Outbox
from scatterproof.impl.pubsub.ways import Way, Ways
from scatterproof.spec.errors import BadInput

Say: TypeAlias = Callable[[str], None]


class _Refusal(Exception):
    """The neighbour has refused this appliance, and said why."""


class Neighbour:
    """One connection.

    known: the neighbours' names, by the address that was dialled.
    say: prints a line.
    dialled: the address that this side dialled; None where the neighbour dialled.
    patience: for how many ticks the neighbour may be silent; None for ever.
    of: all ways to the neighbour, and the one that this connection is; None where it has a single way.
    link: None until both have said who they are.
    refused: whether one side has refused the other.
    """

    def __init__(
        self,
        core: Core,
        outbox: Outbox,
        known: dict[object, str],
        say: Say,
        dialled: tuple[str, int] | None = None,
        patience: int | None = None,
        of: tuple[Ways, Way] | None = None,
    ) -> None:
        self._core, self._outbox, self._known, self._say, self._dialled = core, outbox, known, say, dialled
        self._frames, self._patience, self._silent, self._of = Frames(), patience, 0, of
        self.link: Link | None = None
        self.refused = False
        if of is not None:
            of[0].opened(of[1], self._greet)
            self._probe(of[1])
        elif dialled is not None:
            self._greet()

    def _greet(self) -> None:
        if self.link is not None and self.link.outbox is self._outbox:
            return  # another way was tried, and broke at once: this connection is linked still
        self._core.greeting.add(self)
        peer = self._of[0].peer if self._of is not None else ""
        self._outbox.write(self._core.hello(peer or self._known.get(self._dialled, "")))

    def _probe(self, way: Way) -> None:
        way.asked(self._core.steady_ns)
        self._outbox.write(encode(Probe(self._core.steady_ns)))

    def receive(self, data: bytes) -> None:
        self._silent = 0
        try:
            for frame in self._frames.feed(data):
                if self._outbox.closing is not None:
                    return
                if isinstance(frame, Refused):
                    raise _Refusal(frame.reason)
                if isinstance(frame, Alive):
                    continue
                if isinstance(frame, Probe):
                    self._outbox.write(encode(Echo(frame.sent_ns)))
                elif isinstance(frame, Echo):
                    if self._of is not None:
                        self._of[0].answered(self._of[1], frame.sent_ns, self._core.steady_ns)
                elif self.link is not None:
                    self._core.take(self.link, frame)
                elif isinstance(frame, Hello):
                    self._meet(frame)
                else:
                    raise BadInput("it does not say who it is; is this the port for neighbours of an appliance?")
        except BadInput as error:
            self._outbox.write(encode(Refused(str(error))))
            self._end(str(error))
        except _Refusal as error:
            self._end(str(error))

    def _meet(self, hello: Hello) -> None:
        if self._dialled is None:
            self._outbox.write(self._core.hello(hello.name))
        else:
            self._known[self._dialled] = hello.name
            if self._of is not None:
                ways = self._of[0]
                ways.peer = ways.peer or hello.name
                if ways.peer != hello.name:
                    raise BadInput(f"{ways.peer} and {hello.name} are two; give a --neighbour for each")
        self.link = self._core.meet(self._outbox, hello, dialled=self._dialled is not None)
        self._core.greeted(self)
        self._say(f"linked to {hello.name}" + (f" by {self._of[1].name}" if self._of is not None else ""))

    def _end(self, reason: str) -> None:
        self.refused = True
        self._outbox.close(reason)
        where = "a neighbour" if self._dialled is None else "the neighbour at {}:{}".format(*self._dialled)
        self._say(f"{where} is not linked: {reason}")

    def tick(self) -> None:
        """Send a sign of life, or give the neighbour up. The driver calls it at each tick."""
        if self._patience is None or self._outbox.closing is not None:
            return
        self._silent += 1
        if self._silent > self._patience:
            who = self.link.peer if self.link is not None else "a neighbour"
            self._say(f"{who} is silent, and taken as dead")
            self._outbox.abandon("the neighbour is silent")
        elif self._of is not None:
            self._probe(self._of[1])
        else:
            self._outbox.write(encode(Alive()))

    def lost(self) -> None:
        self._core.greeted(self)
        if self._of is not None:
            self._of[0].broke(self._of[1], self._core.steady_ns)
        link, self.link = self.link, None
        if link is not None and link.outbox is self._outbox:
            self._core.part(link)
            self._say(f"lost {link.peer}")
