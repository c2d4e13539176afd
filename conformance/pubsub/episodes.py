"""What clients do in drawn runs, from small numbers. Fuzzing and corpora draw the numbers."""

from __future__ import annotations

from scatterproof.conformance.pubsub.cases.building import WORDS
from scatterproof.spec.pubsub.messages import LEVELS, CallName
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId

KINDS = 16


def episode(kind: int, time_ns: int, client: NodeId, more: int, grammar: str, most: int) -> tuple[Call, ...]:
    """The calls of one episode.

    kind: strictly below KINDS; half of the kinds publish.
    more: a number that determines topic, filter and level.
    most: how many topics and filters are used at most; few, so that they match.
    """
    topics, filters = (min(most, len(some)) for some in WORDS[grammar])
    topic, filter_, level = 1 + more % topics, 1 + more % filters, more // 8 % len(LEVELS)
    published = Call(time_ns, client, CallName.PUBLISH, {"topic": topic, "level": level}, b"%d.%d" % (time_ns, more))
    if kind < 6:
        return (published,)
    if kind < 8:
        return (published,) * (2 + more // 32 % 3)
    if kind < 13:
        return (Call(time_ns, client, CallName.SUBSCRIBE, {"filter": filter_, "level": level}),)
    return (Call(time_ns, client, CallName.UNSUBSCRIBE, {"filter": filter_}),)
