"""A client of a queue with leases: as `client`, with any number of messages in hand (spec/workqueue/trace.toml)."""

from __future__ import annotations

from collections import deque

from msgspec.structs import replace

from scatterproof.impl.workqueue.client import Client, number_of
from scatterproof.spec.core import Called, ClientEffect, Deliver, LocalProtocolError, NodeConfig, Outcome
from scatterproof.spec.workqueue.messages import LEASED, MOST_ENTRIES, CallName, Handed, Packet


class LeaseClient(Client):
    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._hand: deque[Handed] = deque()

    def _call(self, event: Called) -> list[ClientEffect[Packet, Handed]]:
        if event.call not in LEASED:
            raise LocalProtocolError(f"{event.call} is a call of groups; leave the parameter leased at 0 for it")
        given = {name: number_of(event.arguments, name, usual) for name, usual in LEASED[event.call].items()}
        request = replace(Packet(self._me, event.operation, event.call, payload=event.payload), **given)
        self._asking, self._sent = request, 0
        if event.call == CallName.CANCEL:
            self._hand.clear()
        if event.call in (CallName.PUT_MESSAGE, CallName.RECEIVE, CallName.RECEIVE_ASIDE, CallName.CANCEL):
            return self._ask(event.now)
        about = self._taken(given.get("most", 1), given["newest"] == 1, event.call != CallName.EXTEND)
        if not about:  # there is nothing to ask
            return self._return(replace(request, outcome=int(Outcome.REFUSED)))
        one = about[0]
        told = {"group": one.group, "sender": one.sender, "number": one.number, "receipt": one.receipt}
        self._asking = replace(request, **told, about=about, payload=b"")
        return self._ask(event.now)

    def _taken(self, most: int, newest: bool, out: bool) -> tuple[Handed, ...]:
        """So many messages of those in hand, which stay there unless they are taken out."""
        found = []
        for _ in range(min(most, MOST_ENTRIES, len(self._hand))):
            one = self._hand[-1 if newest else 0]
            found.append(replace(one, payload=b""))
            if out:
                _ = self._hand.pop() if newest else self._hand.popleft()
        return tuple(found)

    def _return(self, answer: Packet | None) -> list[ClientEffect[Packet, Handed]]:
        handed = () if answer is None else answer.handed
        self._hand.extend(handed)
        return [*(Deliver(one) for one in handed), *super()._return(answer)]
