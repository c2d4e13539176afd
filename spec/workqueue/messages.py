"""What clients and the store put on links, and what calls are named (clauses.toml and trace.toml say what they do)."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from scatterproof.spec.core import Outcome
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import ABSENT

NONE = 0  # next_group: no group is ready; read_message: no message is left


class CallName(StrEnum):
    """The calls of the access interface, as [calls] of trace.toml has them."""

    OPEN_GROUP = "open_group"
    SEND_MESSAGE = "send_message"
    CLOSE_GROUP = "close_group"
    FLUSH_GROUP = "flush_group"
    NEXT_GROUP = "next_group"
    READ_MESSAGE = "read_message"
    POP_MESSAGE = "pop_message"
    POP_GROUP = "pop_group"
    UNLOCK_SERVER_GROUPS = "unlock_server_groups"
    CLEAN = "clean"
    PUT_MESSAGE = "put_message"
    RECEIVE = "receive"
    DELETE = "delete"
    EXTEND = "extend"
    GIVE_BACK = "give_back"
    CANCEL = "cancel"
    RECEIVE_ASIDE = "receive_aside"


class Handed(msgspec.Struct, frozen=True, gc=False):
    """A message as it is handed out under a lease, in answers and to an application.

    sender, number: the client that put it, and the number of that call. entry: which of the call's messages, from 1.
    """

    sender: NodeId
    number: int
    group: int
    receipt: int
    payload: bytes
    entry: int = 1


class Packet(msgspec.Struct, frozen=True, gc=False):
    """A request of a client, or the answer to it, which repeats what was asked.

    client, operation: whose call it is, and its number among the client's; a request that is sent again keeps it.
    outcome: 0 in a request; in an answer ok or refused. The rest: columns of trace.toml, -1 where the call has none.
    payload: the body of a message.
    sender, number: of extend and give_back: the message, which is also in `about`; of delete: the first of them.
    about: of delete, extend and give_back: the messages with their receipts. handed: what a receive is given.
    """

    client: NodeId
    operation: int
    call: str
    outcome: int = 0
    group: int = ABSENT
    message: int = ABSENT
    token: int = ABSENT
    type: int = ABSENT
    priority: int = ABSENT
    correlation: int = ABSENT
    server: int = ABSENT
    retries: int = ABSENT
    removed: int = ABSENT
    released: int = ABSENT
    senders_before: int = ABSENT
    receivers_before: int = ABSENT
    receipt: int = ABSENT
    dedup: int = ABSENT
    most: int = ABSENT
    newest: int = ABSENT
    lease_ns: int = ABSENT
    carried: int = ABSENT
    last: int = ABSENT
    sender: int = ABSENT
    number: int = ABSENT
    about: tuple[Handed, ...] = ()
    handed: tuple[Handed, ...] = ()
    payload: bytes = b""

    @property
    def is_answer(self) -> bool:
        return self.outcome in (Outcome.OK, Outcome.REFUSED)


COLUMNS = (
    *("group", "message", "token", "type", "priority", "correlation", "server", "retries", "removed", "released"),
    *("senders_before", "receivers_before", "receipt", "dedup", "most", "carried", "newest", "lease_ns", "last"),
)
"""The fields of a packet that are columns of the same names, in the order of trace.toml."""

GIVEN: dict[str, dict[str, int]] = {
    CallName.OPEN_GROUP: {"type": 0, "priority": 1, "correlation": 0, "server": 0, "last": ABSENT},
    CallName.NEXT_GROUP: {"server": 0},
    CallName.UNLOCK_SERVER_GROUPS: {"server": 0},
    CallName.CLEAN: {"senders_before": 0, "receivers_before": 0},
}
"""The arguments of the calls that are not about a group, and what they are where the application does not give them."""
LEASED: dict[str, dict[str, int]] = {
    CallName.PUT_MESSAGE: {"group": 1, "dedup": 0, "most": 1},
    CallName.RECEIVE: {"most": 1, "lease_ns": 1_000},
    CallName.DELETE: {"newest": 0, "most": 1},
    CallName.EXTEND: {"newest": 0, "lease_ns": 1_000},
    CallName.GIVE_BACK: {"newest": 0},
    CallName.CANCEL: {},
    CallName.RECEIVE_ASIDE: {"most": 1, "lease_ns": 1_000},
}
"""The arguments of the calls of a queue with leases, and what they are where the application does not give them."""
MOST_ENTRIES = 10
"""How many messages a batch has at the most."""
ABOUT_GROUPS = frozenset(CallName) - frozenset(GIVEN) - frozenset(LEASED)
"""The calls about a group: that in hand, or the one that the arguments group and token name; `pop_message` also
about a message: that in hand, or the one that the argument message names."""
