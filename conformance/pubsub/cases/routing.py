"""Cases of routing: who gets what, over several appliances, while subscriptions come and go."""

from __future__ import annotations

from scatterproof.conformance.case_building import between, delay, duplicate, lose
from scatterproof.conformance.protocol import Case
from scatterproof.conformance.pubsub.cases.building import WORDS, case, publishes, row_of, subscribes, unsubscribes

ONE = (1, (0, 0))
"""A publisher and a subscriber at one appliance: nodes 1 and 2."""
THREE = (3, (0, 2, 2))
"""Three appliances in a row; node 3 at one end, nodes 4 and 5 at the other."""
_ONE, _THREE = row_of(*ONE), row_of(*THREE)


def _of_grammar(grammar: str) -> Case:
    """Every filter alone, by a client each, and every topic."""
    topics, filters = WORDS[grammar]
    clients = range(2, 2 + len(filters))
    return case(
        f"PS-ROUTE/filters-of-{grammar}",
        f"clients subscribe to one filter of {grammar} each, and a message is published on each of some topics",
        "delivers to each what its filter matches, and nothing else",
        (1, (0,) * (1 + len(filters))),
        *(subscribes(0, client, filter_, 2, grammar) for client, filter_ in zip(clients, filters, strict=True)),
        *(publishes(5_000 + 1_000 * number, 1, topic, 2, grammar) for number, topic in enumerate(topics)),
        grammar=grammar,
    )


CASES = (
    *(_of_grammar(grammar) for grammar in ("document", "mqtt", "nats", "amqp")),
    case(
        "PS-ROUTE/overlapping-subscriptions",
        "three subscriptions of each of some clients match one message, at levels in each order",
        "delivers one copy, at the highest level",
        (1, (0, 0, 0, 0)),
        *(
            subscribes(1_000 * number, client, filter_, (client + number) % 3)
            for client in (2, 3, 4)
            for number, filter_ in enumerate(("T1.*", "T1.T2", "T1.>"))
        ),
        publishes(4_000, 1, "T1.T2", 2),
        publishes(5_000, 1, "T1.T3", 2),
        also=("PS-QOS-LEVEL",),
    ),
    case(
        "PS-ROUTE/over-three-appliances",
        "publishers and subscribers are at both ends of a row of appliances",
        "delivers one copy to each, at its own end, too",
        THREE,
        subscribes(0, 3, "T1.*"),
        subscribes(0, 4, "T1.>"),
        subscribes(0, 5, "T4"),
        publishes(5_000, 3, "T1.T2"),
        publishes(5_000, 4, "T1.T3"),
        publishes(5_000, 5, "T1.T2.T3"),
        publishes(7_000, 5, "T4"),
    ),
    case(
        "PS-ROUTE/in-force-when-it-returns",
        "a client subscribes, what its appliance tells the others is late, and another client publishes at once when "
        "the subscribe has returned",
        "returns from the subscribe when the last appliance knows",
        (3, (0, 2)),
        subscribes(0, 3, "T1.*"),
        *(publishes(time_ns, 4, "T1.T2") for time_ns in range(200, 4_000, 300)),
        faults=delay(between(_THREE, 1, 2), 1_500, 0),
        tries=9,
    ),
    case(
        "PS-ROUTE/unsubscribed",
        "a client unsubscribes from one of two filters that match, then from the other",
        "delivers until the second is gone, and nothing after it",
        THREE,
        subscribes(0, 4, "T1.*", 2),
        subscribes(2_000, 4, "T1.>", 2),
        publishes(5_000, 3, "T1.T2", 2),
        unsubscribes(7_000, 4, "T1.*"),
        publishes(10_000, 3, "T1.T2", 2),
        unsubscribes(13_000, 4, "T1.>"),
        publishes(16_000, 3, "T1.T2", 2),
        subscribes(19_000, 4, "T1.*", 2),
        publishes(22_000, 3, "T1.T2", 2),
    ),
    case(
        "PS-ROUTE/lost-on-the-way",
        "a guaranteed message is lost between appliances, and another one on its way to the subscriber",
        "sends them again",
        THREE,
        subscribes(0, 4, "T1.*", 2),
        publishes(6_000, 3, "T1.T2", 2),
        publishes(7_000, 3, "T1.T3", 2),
        faults=(*lose(between(_THREE, 0, 1), 1), *lose(between(_THREE, 2, 4), 2)),
    ),
    case(
        "PS-ROUTE/repeated-on-the-way",
        "the network repeats each packet between two appliances, and each to the subscriber",
        "delivers one copy of each",
        THREE,
        subscribes(0, 4, "T1.*", 2),
        *(publishes(6_000 + 500 * number, 3, "T1.T2", number % 3) for number in range(6)),
        faults=tuple(
            fault
            for ends in ((0, 1), (1, 2), (2, 4))
            for number in range(6)
            for fault in duplicate(between(_THREE, *ends), 150 * number, number)
        ),
    ),
    case(
        "PS-ORDER/overtaken",
        "the first of some messages is late on two links, at each level",
        "delivers the others behind it, or best-effort ones without it",
        THREE,
        subscribes(0, 4, "T1.*", 2),
        *(publishes(6_000 + 300 * number, 3, "T1.T2", number // 3) for number in range(9)),
        faults=tuple(
            fault
            for ends, first in (((0, 1), 0), ((2, 4), 1))
            for fault in delay(between(_THREE, *ends), 1_000, first, first + 3, first + 6)
        ),
    ),
    case(
        "PS-ORDER/two-publishers",
        "two clients publish on one topic in turn",
        "delivers those of each in their order",
        THREE,
        subscribes(0, 4, "T1.>", 1),
        *(publishes(5_000 + 400 * number, (3, 5)[number % 2], "T1.T2", 1) for number in range(8)),
        faults=(*lose(between(_THREE, 0, 1), 2), *lose(between(_THREE, 2, 4), 3)),
    ),
    case(
        "PS-QOS-LEVEL/lower-of-both",
        "messages of each level are published, and clients subscribe at each level",
        "delivers each at the lower of both",
        (1, (0, 0, 0, 0)),
        *(subscribes(0, 2 + level, "T1.*", level) for level in range(3)),
        *(publishes(3_000 + 1_000 * level, 1, "T1.T2", level) for level in range(3)),
    ),
    case(
        "PS-QOS-LEVEL/another-level",
        "a client subscribes to one filter again, at a higher level, then at a lower one",
        "delivers at the level that it asked for last",
        ONE,
        subscribes(0, 2, "T1.*", 0),
        publishes(2_000, 1, "T1.T2", 2),
        subscribes(4_000, 2, "T1.*", 2),
        publishes(6_000, 1, "T1.T2", 2),
        subscribes(8_000, 2, "T1.*", 1),
        publishes(10_000, 1, "T1.T2", 2),
        faults=lose(between(_ONE, 0, 2), 5),
    ),
    case(
        "PS-COVER/stays-at-home",
        "one client subscribes to a wide filter, others to narrower ones",
        "tells its neighbour of the wide one alone",
        (2, (0, 0, 1)),
        subscribes(0, 2, "T1.>"),
        subscribes(2_000, 3, "T1.T2"),
        subscribes(4_000, 3, "T1.*"),
        subscribes(6_000, 2, "T4"),
        publishes(9_000, 4, "T1.T2"),
        publishes(10_000, 4, "T4"),
        also=("PS-ROUTE",),
    ),
    case(
        "PS-COVER/comes-out-again",
        "a wide subscription is withdrawn, which covers narrower ones and a still narrower one, and comes back",
        "delivers what the narrower ones match at every moment, and takes them back",
        (3, (0, 0, 2)),
        subscribes(0, 3, "T4", 2),
        subscribes(1_000, 3, "T1.>", 2),
        subscribes(2_000, 4, "T1.*", 2),
        subscribes(4_000, 4, "T1.T2", 2),
        subscribes(4_500, 4, "T1.T3*", 2),
        subscribes(5_000, 4, "T1.T2.[*]", 2),
        unsubscribes(8_000, 3, "T1.>"),
        *(publishes(7_500 + 300 * number, 5, ("T1.T2", "T1.T3")[number % 2], 2) for number in range(6)),
        unsubscribes(12_000, 4, "T1.*"),
        *(publishes(11_500 + 300 * number, 5, "T1.T2", 2) for number in range(6)),
        subscribes(15_000, 4, "T1.*", 2),
        subscribes(17_000, 3, "T1.>", 2),
        unsubscribes(19_000, 3, "T4"),
        also=("PS-ROUTE",),
    ),
    case(
        "PS-COVER/written-in-two-ways",
        "one filter is subscribed to in two ways of writing it, and the first is withdrawn",
        "tells its neighbour of one of them at a time",
        (2, (0, 0, 1)),
        *(subscribes(0, 2, "T4", 2), subscribes(1_000, 2, "T1.>", 2), subscribes(2_000, 3, "T1>", 2)),
        *(publishes(4_000, 4, "T1.T2", 2), unsubscribes(5_000, 2, "T1.>"), publishes(7_000, 4, "T1.T2", 2)),
        *(subscribes(9_000, 2, "T1.>", 2), unsubscribes(11_000, 2, "T4"), publishes(13_000, 4, "T1.T2", 2)),
        also=("PS-ROUTE",),
    ),
    case(
        "PS-ROUTE/late-at-a-withdrawal",
        "a wide subscription is withdrawn, and the second packet that says so is late, while messages are published",
        "delivers what the narrower one matches at every moment",
        (2, (0, 0, 1)),
        subscribes(0, 2, "T1.>", 2),
        subscribes(2_000, 3, "T1.T2", 2),
        unsubscribes(4_000, 2, "T1.>"),
        *(publishes(4_100 + 300 * number, 4, "T1.T2", 2) for number in range(8)),
        faults=delay(between(row_of(2, (0, 0, 1)), 0, 1), 1_500, 3),
    ),
    case(
        "PS-COVER/beginnings-of-tokens",
        "one client subscribes to what begins with a text, then another to whatever there is, at the far end",
        "takes the second for the wider",
        (2, (0, 0, 1)),
        subscribes(0, 2, "T4", 2),
        subscribes(1_000, 2, "T1.T3*", 2),
        subscribes(2_000, 3, "T1.*", 2),
        publishes(5_000, 4, "T1.T2", 2),
        publishes(6_000, 4, "T1.T3", 2),
        unsubscribes(8_000, 2, "T4"),
        also=("PS-ROUTE",),
    ),
    case(
        "PS-COVER/hidden-topics",
        "one client subscribes to a wildcard of MQTT, which no topic with a mark matches, and another to such a topic",
        "tells its neighbour of both",
        (2, (0, 0, 1)),
        subscribes(0, 2, "+/#", 2, "mqtt"),
        subscribes(2_000, 3, "$a/#", 2, "mqtt"),
        publishes(5_000, 4, "$a/b", 2, "mqtt"),
        publishes(6_000, 4, "a/b", 2, "mqtt"),
        grammar="mqtt",
        also=("PS-ROUTE",),
    ),
    case(
        "PS-ANSWER/asked-again",
        "the answer to a publish is lost, and the request of another one",
        "answers when it is asked again, and carries out each once",
        ONE,
        subscribes(0, 2, "T1.*", 2),
        publishes(1_000, 1, "T1.T2", 2),
        publishes(5_000, 1, "T1.T2", 2),
        faults=(*lose(between(_ONE, 0, 1), 0), *lose(between(_ONE, 1, 0), 2)),
        also=("PS-ROUTE",),
    ),
)
