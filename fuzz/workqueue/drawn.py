"""Small histories of both kinds of queue, by number, of which judges have to say the same, whatever it is: as
`histories`, also with leases that end amid the calls. Of three, one is of a store with a mistake, and one of a store
that says anything; half are damaged."""

from __future__ import annotations

from random import Random

from scatterproof.conformance.network.run import MakeNode
from scatterproof.conformance.network.topologies import served
from scatterproof.conformance.workqueue.lease_episodes import KINDS, step
from scatterproof.fuzz.damages import damaged, draw_edit
from scatterproof.fuzz.workqueue import leases, mutants
from scatterproof.fuzz.workqueue.anything import Anything
from scatterproof.fuzz.workqueue.histories import CALLS, Client, GroupRun, Run, traced
from scatterproof.impl.workqueue import make_core
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Trace
from scatterproof.spec.workqueue.messages import Packet

_LEASES_NS = (1, 6, 40)
_NODES = (2, 3, 3, 4, 16)  # with many, numbers of nodes are no less than times and rows


class _LeaseRun(Run):
    def as_new(self, asked: Packet) -> Packet:
        """Messages are named by the numbers of their puts, so that the store forgets what it answered instead."""
        self.store.kept.answered.clear()  # type: ignore[attr-defined]
        return asked

    def drawn(self, client: Client, node: NodeId) -> Call:
        if not client.next:
            kind, more = self.draw.randrange(KINDS), self.draw.getrandbits(8)
            client.next = list(step(kind, self.now, node, more, _LEASES_NS))
        return client.next.pop(0)


def drawn_history(number: int) -> Trace:
    draw = Random(number)
    leased = number % 2 == 1
    parameters: dict[str, Parameter] = {"most_tries": draw.choice((0, 0, 1, 2))}
    if leased:
        parameters |= {
            "leased": 1,
            "window_ns": draw.choice((3, 10, 400)),
            "by_group": draw.randint(0, 1),
            "back_order": draw.choice((0, 0, 1, 2)),
            "one_consumer": draw.randint(0, 1),
            "batches": draw.randint(0, 2),
            "margin_ns": draw.choice((0, 0, 1, 3)),
        }
    wrong = leases.MUTANTS if leased else mutants.MUTANTS
    make_store: MakeNode = draw.choice((make_core, draw.choice(wrong).make_node, lambda config: Anything(draw)))
    network, count = served(draw.choice(_NODES)), draw.randint(*CALLS) + draw.choice((0, 6))
    run = (_LeaseRun if leased else GroupRun)(
        draw, network, parameters, make_store, count, min(3, len(network.clients()))
    )
    run.marks = draw.random() < 0.3
    trace = traced(network, run.run(), parameters)
    for _ in range(draw.choice((0, 0, 1, 2))):
        trace = damaged(trace, draw_edit(trace, draw))
    return trace
