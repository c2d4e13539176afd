"""Small histories of both kinds of queue, by number, of which judges have to say the same, whatever it is: as
`histories`, also with leases that end amid the calls. Of three, one is of a store with a mistake, and one of a store
that says anything; half are damaged."""

from __future__ import annotations

from random import Random

from msgspec.structs import replace

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
from scatterproof.spec.workqueue.messages import ABOUT_GROUPS, CallName, Packet

_LEASES_NS = ((1, 6, 40), (1, 6, 40), (-2, 0, 9))
_STEPS = (range(KINDS), (0, 5, 12, 13, 16, 19, 19, 20), (0, 0, 16, 5))  # also for what is set aside, and for ids
_NODES = (2, 3, 3, 4, 16)  # with many, numbers of nodes are no less than times and rows
_END = 1 << 63


class _GroupRun(GroupRun):
    """Groups of more messages, and calls that name a group that nobody was told of."""

    def drawn(self, client: Client, node: NodeId) -> Call:
        call = super().drawn(client, node)
        if client.last == CallName.SEND_MESSAGE and self._often(30):
            call = replace(call, call=CallName.SEND_MESSAGE, arguments={}, payload=b"%d" % self.now)
        if call.call in ABOUT_GROUPS and self._often(3):
            call = replace(call, arguments={"group": self.draw.choice((-2, 0, 1, 2)), "token": self.draw.randint(0, 3)})
        return call


class _LeaseRun(Run):
    """kinds, leases_ns: of steps. group, id: put in the place of group 2, and ahead of the ids."""

    def begin(self, group: int) -> None:
        draw = self.draw
        self.kinds, self.leases_ns = draw.choice(_STEPS), draw.choice(_LEASES_NS)
        self.group, self.id = draw.choice((2, group)), draw.choice((0, 0, 0, _END - 4))

    def as_new(self, asked: Packet) -> Packet:
        """Messages are named by the numbers of their puts, so that the store forgets what it answered instead."""
        self.store.kept.answered.clear()  # type: ignore[attr-defined]
        return asked

    def drawn(self, client: Client, node: NodeId) -> Call:
        if not client.next:
            kind, more = self.draw.choice(self.kinds), self.draw.getrandbits(8)
            client.next = list(step(kind, self.now, node, more, self.leases_ns))
        call = client.next.pop(0)
        if call.call != CallName.PUT_MESSAGE:
            return call
        group, dedup = call.arguments["group"], call.arguments["dedup"]
        assert isinstance(dedup, int)
        new = {"group": self.group if group == 2 else group, "dedup": dedup and self.id + dedup}
        return replace(call, arguments={**call.arguments, **new})


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
    run = (_LeaseRun if leased else _GroupRun)(
        draw, network, parameters, make_store, count, min(draw.choice((2, 3)), len(network.clients()))
    )
    run.marks = draw.random() < 0.3
    if isinstance(run, _LeaseRun):
        run.begin(len(network.nodes))
    run.stir()
    since_ns = draw.choice((0, 0, 0, -30))
    trace = traced(network, [(since_ns + row[0], *row[1:]) for row in run.run()], parameters)
    for _ in range(draw.choice((0, 0, 1, 2))):
        trace = damaged(trace, draw_edit(trace, draw))
    return trace
