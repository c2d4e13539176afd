"""Fields of the tables of messages, subscriptions, clients and deliveries; calls, packets and outcomes as numbers."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from scatterproof.conformance.checks.step import Ints, TableState
from scatterproof.spec.core import Outcome
from scatterproof.spec.trace import schema

CALLS, PACKETS = schema("pubsub").calls, schema("pubsub").packets
PUBLISH, SUBSCRIBE, UNSUBSCRIBE = (CALLS[name] for name in ("publish", "subscribe", "unsubscribe"))
CONNECT, DISCONNECT, ACKNOWLEDGE = (CALLS[name] for name in ("connect", "disconnect", "acknowledge"))
REQUEST, ANSWER, WANT, DROP, MESSAGE = (PACKETS[name] for name in ("request", "answer", "want", "drop", "message"))
OK, REFUSED, UNKNOWN = map(int, Outcome)
NEVER, FOREVER = -(1 << 63), (1 << 63) - 1
KEPT = 1  # in column retain

# Judging takes nothing out of these tables: their slots are all used, and in the order in which they were entered.
#
# A message, by publisher and number: this key; topic, level and digest; when the publish was called, in ns; its outcome
# (0 while it is open) and its row; column retain, and the expiry in ns; when it returned (FOREVER while it is open).
OF_SENDER, OF_NUMBER, TOPIC, LEVEL, DIGEST, CALLED_NS, OUTCOME, AT, RETAIN, EXPIRY_NS, RETURNED_NS = range(11)
MESSAGE_FIELDS = 11

# A subscription, by client and filter: this key; since when it surely is in force (NEVER: it is not sure); until when
# it may be (FOREVER: it still may), and the same before its last subscribe; since when it was sure before an open
# unsubscribe; its level, and since when it surely has that one (FOREVER: it may have another); the lowest and highest
# level ever asked for (NEVER: it was only unsubscribed yet). LOOSE_IN, LOOSE_OUT: 1 where a subscribe, or an
# unsubscribe, had an unknown outcome and may take effect at any later time. GROUP: of a shared one, else 0; SEVERAL:
# its subscribes named more than one, and nobody can tell which of them a copy is of.
CLIENT, FILTER, SURE_FROM, MAY_UNTIL, MAY_BEFORE, SURE_BEFORE, HAS, SETTLED_NS, LOWEST, HIGHEST = range(10)
LOOSE_IN, LOOSE_OUT, GROUP = range(10, 13)
SEVERAL = FOREVER
SUBSCRIPTION_FIELDS = 13

# A client, by node: its open call (0: none), the filter of that, or for a connect whether the session is to last, its
# level and its number; whether it surely is connected; the number of its last connection, from 1 (0: it never connects,
# and is always connected); when its last connect returned ok; whether its session outlives the connection (2: perhaps);
# since when it surely has no connection (FOREVER: it may have one), the same before its last connect, and when that was
# called; and the first delivery on this connection, in the order of the table, that is not surely acknowledged, or one
# ahead of it.
IN_CALL, ABOUT, ABOUT_LEVEL, OPERATION, PRESENT, CONNECTION, BACK_NS, LASTS, AWAY_NS, AWAY_BEFORE = range(10)
CONNECT_NS, OPEN_FROM = 10, 11
CLIENT_FIELDS = 12
FRESH_CLIENT = (1, 0, NEVER, 1, NEVER, NEVER, NEVER, 0)  # from PRESENT on

# The deliveries of a message to a client, by client, publisher and number: this key; the row of the first one; the row
# of the last one, its connection and level, and whether it surely was (2), may be (1) or is not (0) acknowledged; and
# how many came on that connection, without those behind the first that are marked as repeats.
TO, FROM, NUMBERED, FIRST_AT, LAST_AT, LAST_CONNECTION, LEVEL_GOT, ACKNOWLEDGED, COPIES = range(9)
DELIVERY_FIELDS = 9
# The latest, by client, publisher, topic and level: the highest number delivered, and the row of its first delivery.
HIGHEST_NUMBER, HIGHEST_AT = range(2)

# messages, subscriptions, clients, deliveries, latest.
Book: TypeAlias = tuple[TableState, TableState, TableState, TableState, TableState]
# The last row `delivered` or `returned`, until it is entered into the tables: its kind, then its columns.
LAST_KIND, LAST_NODE, LAST_NS, LAST_POSITION, LAST_SENDER, LAST_NUMBER, LAST_TOPIC, LAST_LEVEL, LAST_OUTCOME = range(9)
LAST_RETAIN, LAST_AGAIN = 9, 10
LAST_FIELDS = 11


class Known(NamedTuple):
    """What checks read.

    filter_matches: of the vocabulary (`vocabulary.arrays`).
    filter_count, topic_count: how many there are.
    messages, subscriptions, clients, deliveries: the tables.
    """

    filter_matches: Ints
    filter_count: int
    topic_count: int
    messages: TableState
    subscriptions: TableState
    clients: TableState
    deliveries: TableState


class DeliveredRow(NamedTuple):
    """The columns of a row `delivered`."""

    position: int
    node: int
    time_ns: int
    sender: int
    number: int
    topic: int
    level: int
    again: int
    retain: int
