"""What is kept of messages, subscriptions, sessions and deliveries, as fields of tables; and calls as numbers."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from scatterproof.conformance.checks.step import Ints, State, TableState
from scatterproof.spec.core import Outcome
from scatterproof.spec.trace import schema

CALLS, PACKETS = schema("pubsub").calls, schema("pubsub").packets
PUBLISH, SUBSCRIBE, UNSUBSCRIBE = (CALLS[name] for name in ("publish", "subscribe", "unsubscribe"))
CONNECT, DISCONNECT, ACKNOWLEDGE = (CALLS[name] for name in ("connect", "disconnect", "acknowledge"))
REQUEST, ANSWER, WANT, DROP, MESSAGE = (PACKETS[name] for name in ("request", "answer", "want", "drop", "message"))
OK, REFUSED, UNKNOWN = map(int, Outcome)
NEVER, FOREVER = -(1 << 63), (1 << 63) - 1
KEPT = 1  # in column retain

# Of a message, by its publisher and number: its own key, then what was published, when, in which row, how the call
# ended (0 while it goes on) and when (FOREVER while it goes on).
OF_SENDER, OF_NUMBER, TOPIC, LEVEL, DIGEST, CALLED_NS, OUTCOME, AT, RETAIN, EXPIRY_NS, RETURNED_NS = range(11)
MESSAGE_FIELDS = 11

# Of a subscription, by its client and filter: its own key; since when it surely is in force (NEVER: it is not sure);
# until when it may be (FOREVER: it may be still), and until when it might have been before its last subscribe; its
# level, since when that alone is its level (FOREVER: another one may be), and the lowest and highest that were ever
# asked for. LOOSE_IN, LOOSE_OUT: a subscribe, or an unsubscribe, of it came to an unknown end, and may take effect at
# any later moment. GROUP: of a shared one, or 0.
CLIENT, FILTER, SURE_FROM, MAY_UNTIL, MAY_BEFORE, HAS, SETTLED_NS, LOWEST, HIGHEST, LOOSE_IN, LOOSE_OUT, GROUP = range(
    12
)
SUBSCRIPTION_FIELDS = 12

# Of a client, by its node: the call that it is in, 0 for none, what that is about (of a connect, whether the session is
# to last), and its number; whether it surely is connected; which of its connections, from 1, is the last one, 0 where
# it never connects and always is connected; when the last one that it surely has, or had, began; whether its session
# outlives it (2: perhaps); since when it surely has none (FOREVER: it may have one), the same as it was before its last
# connect, and when that was called.
IN_CALL, ABOUT, ABOUT_LEVEL, OPERATION, PRESENT, CONNECTION, BACK_NS, LASTS, AWAY_NS, AWAY_BEFORE, CONNECT_NS = range(
    11
)
CLIENT_FIELDS = 11
FRESH_CLIENT = (1, 0, NEVER, 1, NEVER, NEVER, NEVER)  # from PRESENT on

# Of a delivery, by client, publisher and number: these; the row of the first one; the row of the last one, its
# connection and level, and whether it may have been (1), or surely was (2), acknowledged.
TO, FROM, NUMBERED, FIRST_AT, LAST_AT, LAST_CONNECTION, LEVEL_GOT, ACKNOWLEDGED = range(8)
DELIVERY_FIELDS = 8
# Of those of a client on a topic of a publisher at a level: the highest number that was delivered first, and its row.
HIGHEST_NUMBER, HIGHEST_AT = range(2)

# messages, subscriptions, clients, deliveries, latest.
Book: TypeAlias = tuple[TableState, TableState, TableState, TableState, TableState]
# The last row `delivered` or `returned`, where it is still to be learnt: its kind, then its columns.
LAST_KIND, LAST_NODE, LAST_NS, LAST_POSITION, LAST_SENDER, LAST_NUMBER, LAST_TOPIC, LAST_LEVEL, LAST_OUTCOME = range(9)
LAST_RETAIN = 9
LAST_FIELDS = 10
Last: TypeAlias = State


class Known(NamedTuple):
    """What steps ask of what is known."""

    filter_matches: Ints
    filter_count: int
    topic_count: int
    messages: TableState
    subscriptions: TableState
    clients: TableState
    deliveries: TableState


class DeliveredRow(NamedTuple):
    """A row `delivered`."""

    position: int
    node: int
    time_ns: int
    sender: int
    number: int
    topic: int
    level: int
    again: int
    retain: int
