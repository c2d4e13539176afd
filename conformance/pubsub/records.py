"""What is kept of messages, subscriptions and deliveries, as fields of tables; and calls as numbers."""

from __future__ import annotations

from typing import TypeAlias

from scatterproof.conformance.checks.step import State, TableState
from scatterproof.spec.core import Outcome
from scatterproof.spec.trace import schema

CALLS, PACKETS = schema("pubsub").calls, schema("pubsub").packets
PUBLISH, SUBSCRIBE, UNSUBSCRIBE = (CALLS[name] for name in ("publish", "subscribe", "unsubscribe"))
REQUEST, ANSWER, WANT, DROP = (PACKETS[name] for name in ("request", "answer", "want", "drop"))
OK, REFUSED, UNKNOWN = map(int, Outcome)
NEVER, FOREVER = -(1 << 63), (1 << 63) - 1

# Of a message, by its publisher and number: its own key, then what was published, when, in which row, and how the call
# ended (0 while it goes on).
OF_SENDER, OF_NUMBER, TOPIC, LEVEL, DIGEST, CALLED_NS, OUTCOME, AT = range(8)
MESSAGE_FIELDS = 8

# Of a subscription, by its client and filter: its own key; since when it surely is in force (NEVER: it is not sure);
# until when it may be (FOREVER: it may be still), and until when it might have been before its last subscribe; its
# level, since when that alone is its level (FOREVER: another one may be), and the lowest and highest that were ever
# asked for. LOOSE_IN, LOOSE_OUT: a subscribe, or an unsubscribe, of it came to an unknown end, and may take effect at
# any later moment.
CLIENT, FILTER, SURE_FROM, MAY_UNTIL, MAY_BEFORE, HAS, SETTLED_NS, LOWEST, HIGHEST, LOOSE_IN, LOOSE_OUT = range(11)
SUBSCRIPTION_FIELDS = 11

# Of a client, by its node: the call that it is in, 0 for none, and what that is about.
IN_CALL, ABOUT, ABOUT_LEVEL, OPERATION = range(4)
CLIENT_FIELDS = 4

# Of a delivery, by client, publisher and number: the row of the first one. Of those of a client on a topic of a
# publisher at a level: the highest number that was delivered first, and its row.
FIRST_AT = 0
HIGHEST_NUMBER, HIGHEST_AT = range(2)

# messages, subscriptions, clients, deliveries, latest.
Book: TypeAlias = tuple[TableState, TableState, TableState, TableState, TableState]
# The last row `delivered` or `returned`, where it is still to be learnt: its kind, then its columns.
LAST_KIND, LAST_NODE, LAST_NS, LAST_POSITION, LAST_SENDER, LAST_NUMBER, LAST_TOPIC, LAST_LEVEL, LAST_OUTCOME = range(9)
LAST_FIELDS = 9
Last: TypeAlias = State
