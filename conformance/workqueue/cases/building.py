"""How cases of the queue are put together. Times are ns of true time.

Node 0 is the store; clients count from 1. A client makes its calls one after the other: those that are due wait
until the
one before has returned.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from scatterproof.conformance.case_building import case_of
from scatterproof.conformance.network.topologies import served
from scatterproof.conformance.protocol import Case
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import Call, Delay, Failure, FailureKind, Fault, Schedule
from scatterproof.spec.topology import LinkId, NodeId
from scatterproof.spec.workqueue.messages import CallName

HOP_NS = 100
RETRY_NS = 1_000
PAUSE_NS = 250  # from one call of a client to the next; it takes two hops
STORE: NodeId = 0
# What `clean` takes for dead.
NOBODY, ALL = 0, (1 << 63) - 1


def asks(client: NodeId) -> LinkId:
    """The link over which a client asks the store."""
    return 2 * (client - 1)


def answers(client: NodeId) -> LinkId:
    return 2 * (client - 1) + 1


def call(time_ns: int, client: NodeId, name: CallName, payload: bytes = b"", **arguments: Parameter) -> Call:
    return Call(time_ns, client, name, arguments, payload)


def begins(time_ns: int, client: NodeId, *, correlation: int = 1, priority: int = 1, server: int = 1) -> Call:
    given: dict[str, Parameter] = {"type": 7, "priority": priority, "correlation": correlation, "server": server}
    return Call(time_ns, client, CallName.OPEN_GROUP, given)


def sends(time_ns: int, client: NodeId, *bodies: bytes) -> tuple[Call, ...]:
    return tuple(call(time_ns, client, CallName.SEND_MESSAGE, body) for body in bodies)


def closes(time_ns: int, client: NodeId) -> Call:
    return call(time_ns, client, CallName.CLOSE_GROUP)


def group(
    time_ns: int, client: NodeId, *bodies: bytes, correlation: int = 1, priority: int = 1, server: int = 1
) -> tuple[Call, ...]:
    """A whole group."""
    begun = begins(time_ns, client, correlation=correlation, priority=priority, server=server)
    return (begun, *sends(time_ns, client, *bodies), closes(time_ns, client))


def takes(time_ns: int, client: NodeId, server: int = 9) -> Call:
    """Asks for the next group."""
    return call(time_ns, client, CallName.NEXT_GROUP, server=server)


def reads(time_ns: int, client: NodeId) -> Call:
    return call(time_ns, client, CallName.READ_MESSAGE)


def pops(time_ns: int, client: NodeId, message: int = 0) -> Call:
    """The message in hand, or the one with this id."""
    return Call(time_ns, client, CallName.POP_MESSAGE, {"message": message} if message else {})


def finishes(time_ns: int, client: NodeId) -> Call:
    return call(time_ns, client, CallName.POP_GROUP)


def works(time_ns: int, client: NodeId, messages: int) -> tuple[Call, ...]:
    """Reads and pops this many messages, sees that none is left, and removes the group in hand."""
    each = (reads(time_ns, client), pops(time_ns, client))
    return (*each * messages, reads(time_ns, client), finishes(time_ns, client))


def boots(time_ns: int, client: NodeId, server: int = 9) -> Call:
    return call(time_ns, client, CallName.UNLOCK_SERVER_GROUPS, server=server)


def cleans(time_ns: int, client: NodeId, senders: int = NOBODY, receivers: int = NOBODY) -> Call:
    return call(time_ns, client, CallName.CLEAN, senders_before=senders, receivers_before=receivers)


def down_and_up(node: NodeId, from_ns: int, to_ns: int) -> tuple[Failure, ...]:
    return (Failure(from_ns, FailureKind.CRASH, node=node), Failure(to_ns, FailureKind.RESTART, node=node))


def case(
    name: str,
    stimulus: str,
    duty: str,
    *calls: Call | tuple[Call, ...],
    faults: tuple[Fault, ...] = (),
    failures: tuple[Failure, ...] = (),
    also: Iterable[str] = (),
    **parameters: Parameter,
) -> Case:
    """A case named CLAUSE/what, with as many clients as call."""
    made = spread([one for some in calls for one in (some if isinstance(some, tuple) else (some,))], PAUSE_NS)
    network = served(max(one.node for one in made))
    schedule = Schedule(
        protocol="workqueue",
        topology=network,
        delays=(Delay(HOP_NS),) * len(network.links),
        submissions=(),
        calls=made,
        parameters={"retry_ns": RETRY_NS, "tries": 3, **parameters},
        faults=faults,
        failures=failures,
        seed=1,
    )
    return case_of(name, stimulus, duty, schedule, (*also, "Q-CALL-ONCE"))


def spread(calls: Iterable[Call], pause_ns: int) -> tuple[Call, ...]:
    """The calls in the order of their times, each at least so long after the one before it of its client."""
    free: dict[NodeId, int] = {}
    found: list[Call] = []
    for one in calls:
        time_ns = max(one.time_ns, free.get(one.node, 0))
        free[one.node] = time_ns + pause_ns
        found.append(replace(one, time_ns=time_ns))
    return tuple(sorted(found, key=lambda one: one.time_ns))
