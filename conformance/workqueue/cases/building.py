"""Calls for cases and drawn runs of the queue. Each function is also a step of a case, such as `sends a "b c"` or
`cleans senders=all`. Times are ns of true time.

Node 0 is the store; clients count from 1. A client makes one call at a time: a call that is due waits until the one
before has returned.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from scatterproof.conformance.case_files import CaseStep, CaseWords
from scatterproof.conformance.network.topologies import served
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import Call, Delay
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import ABSENT
from scatterproof.spec.workqueue.messages import CallName

HOP_NS = 100
RETRY_NS = 1_000
LONG_NS = 50_000  # of a lease
PAUSE_NS = 250  # from one call of a client to the next; it takes two hops
STORE: NodeId = 0
# Limits of `clean`: whom it takes for dead.
NOBODY, ALL = 0, (1 << 63) - 1


def call(time_ns: int, client: NodeId, name: CallName, payload: bytes = b"", **arguments: Parameter) -> Call:
    return Call(time_ns, client, name, arguments, payload)


def begins(
    time_ns: int, client: NodeId, *, correlation: int = 1, priority: int = 1, server: int = 1, last: int = ABSENT
) -> Call:
    given: dict[str, Parameter] = {"type": 7, "priority": priority, "correlation": correlation, "server": server}
    return Call(time_ns, client, CallName.OPEN_GROUP, given if last == ABSENT else {**given, "last": last})


def sends(time_ns: int, client: NodeId, *bodies: bytes) -> tuple[Call, ...]:
    return tuple(call(time_ns, client, CallName.SEND_MESSAGE, body) for body in bodies)


def closes(time_ns: int, client: NodeId) -> Call:
    return call(time_ns, client, CallName.CLOSE_GROUP)


def flushes(time_ns: int, client: NodeId) -> Call:
    return call(time_ns, client, CallName.FLUSH_GROUP)


def group(time_ns: int, client: NodeId, *bodies: bytes, **begun_as: int) -> tuple[Call, ...]:
    """Begins a group, as `begins` does, sends messages to it, and closes it."""
    begun = begins(time_ns, client, **begun_as)
    return (begun, *sends(time_ns, client, *bodies), closes(time_ns, client))


def takes(time_ns: int, client: NodeId, server: int = 9) -> Call:
    """Asks for the next group."""
    return call(time_ns, client, CallName.NEXT_GROUP, server=server)


def reads(time_ns: int, client: NodeId, **about: Parameter) -> Call:
    """Reads from the group in hand, or from the one with this id and token."""
    return Call(time_ns, client, CallName.READ_MESSAGE, about)


def pops(time_ns: int, client: NodeId, message: int = 0) -> Call:
    """Pops the message in hand, or the one with this id."""
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


def puts(time_ns: int, client: NodeId, group: int = 1, dedup: int = 0, most: int = 1) -> Call:
    """Puts a message, or a batch of `most`. Bodies differ by time and client."""
    body = b"%d of %d" % (time_ns, client)
    made = call(time_ns, client, CallName.PUT_MESSAGE, body, group=group, dedup=dedup)
    return made if most == 1 else _as_batch(made, most)


def receives(time_ns: int, client: NodeId, most: int = 1, lease_ns: int = LONG_NS) -> Call:
    return call(time_ns, client, CallName.RECEIVE, most=most, lease_ns=lease_ns)


def receives_aside(time_ns: int, client: NodeId, most: int = 1, lease_ns: int = LONG_NS) -> Call:
    """Receives messages that were set aside."""
    return call(time_ns, client, CallName.RECEIVE_ASIDE, most=most, lease_ns=lease_ns)


def deletes(time_ns: int, client: NodeId, newest: int = 0, most: int = 1) -> Call:
    made = call(time_ns, client, CallName.DELETE, newest=newest)
    return made if most == 1 else _as_batch(made, most)


def _as_batch(made: Call, most: int) -> Call:
    return replace(made, arguments={**made.arguments, "most": most})


def cancels(time_ns: int, client: NodeId) -> Call:
    return call(time_ns, client, CallName.CANCEL)


def extends(time_ns: int, client: NodeId, lease_ns: int, newest: int = 0) -> Call:
    return call(time_ns, client, CallName.EXTEND, lease_ns=lease_ns, newest=newest)


def gives_back(time_ns: int, client: NodeId, newest: int = 0) -> Call:
    return call(time_ns, client, CallName.GIVE_BACK, newest=newest)


def _step(make: Callable[..., Call | tuple[Call, ...]], step: CaseStep) -> tuple[Call, ...]:
    words = [int(word) if make is works else word.encode() for word in step.words]
    named = {key: ALL if value == "all" else int(value) for key, value in step.named.items()}
    made: Call | tuple[Call, ...] = step.given(make, *words, **named)
    return (made,) if isinstance(made, Call) else made


_OF_GROUPS = (begins, sends, closes, flushes, group, takes, reads, pops, finishes, works, boots, cleans)
_OF_LEASES = (puts, receives, receives_aside, deletes, cancels, extends, gives_back)
CASE_WORDS = CaseWords(
    protocol="workqueue",
    steps={make.__name__: partial(_step, make) for make in (*_OF_GROUPS, *_OF_LEASES)},
    networks={"served": served},
    delay=lambda _: Delay(HOP_NS),
    parameters=lambda written, _: {"retry_ns": RETRY_NS, "tries": 3, **written.set},
    at_stake=lambda written: () if written.set.get("leased") else ("Q-CALL-ONCE",),
    pause_ns=PAUSE_NS,
)
