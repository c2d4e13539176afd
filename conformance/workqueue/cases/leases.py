"""Cases of a queue with leases: what is handed out while messages are held, and what receipts and ids do."""

from __future__ import annotations

from msgspec.structs import replace

from scatterproof.conformance.case_building import case_of, lose
from scatterproof.conformance.network.topologies import served
from scatterproof.conformance.protocol import Case
from scatterproof.conformance.workqueue.cases.building import (
    HOP_NS,
    PAUSE_NS,
    RETRY_NS,
    STORE,
    asks,
    call,
    down_and_up,
    spread,
)
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import Call, Delay, Failure, Fault, Schedule
from scatterproof.spec.topology import NodeId
from scatterproof.spec.workqueue.messages import CallName

LONG_NS = 50_000


def puts(time_ns: int, client: NodeId, group: int = 1, dedup: int = 0, most: int = 1) -> Call:
    """Bodies differ, as the time and the client do. most: of a batch."""
    body = b"%d of %d" % (time_ns, client)
    made = call(time_ns, client, CallName.PUT_MESSAGE, body, group=group, dedup=dedup)
    return made if most == 1 else _as_batch(made, most)


def receives(time_ns: int, client: NodeId, most: int = 1, lease_ns: int = LONG_NS) -> Call:
    return call(time_ns, client, CallName.RECEIVE, most=most, lease_ns=lease_ns)


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


def leased(
    name: str,
    stimulus: str,
    duty: str,
    *calls: Call,
    faults: tuple[Fault, ...] = (),
    failures: tuple[Failure, ...] = (),
    **parameters: Parameter,
) -> Case:
    made = spread(sorted(calls, key=lambda one: one.time_ns), PAUSE_NS)
    network = served(max(one.node for one in made))
    schedule = Schedule(
        protocol="workqueue",
        topology=network,
        delays=(Delay(HOP_NS),) * len(network.links),
        submissions=(),
        calls=made,
        parameters={"retry_ns": RETRY_NS, "tries": 3, "leased": 1, **parameters},
        faults=faults,
        failures=failures,
        seed=1,
    )
    return case_of(name, stimulus, duty, schedule, ())


CASES = (
    leased(
        "Q-LEASE/a-batch-comes-back-in-parts",
        "a consumer receives two messages of a group, and gives the first back, then the second",
        "hands out none of the group until both are back, then both in their order",
        puts(0, 1),
        puts(1_000, 1),
        receives(2_000, 2, most=2),
        gives_back(3_000, 2),
        receives(4_000, 3, most=2),
        gives_back(5_000, 2),
        receives(6_000, 3, most=2),
    ),
    leased(
        "Q-LEASE/the-second-comes-back-first",
        "a consumer receives two messages of a group, and gives the second back, then the first",
        "hands out none of the group until both are back, then both in their order",
        puts(0, 1),
        puts(1_000, 1),
        receives(2_000, 2, most=2),
        gives_back(3_000, 2, newest=1),
        receives(4_000, 3, most=2),
        gives_back(5_000, 2),
        receives(6_000, 3, most=2),
    ),
    leased(
        "Q-LEASE/one-comes-while-one-is-held",
        "a message of a group is put while another consumer holds the first, and its lease ends",
        "hands out nothing at first, then the first message",
        puts(0, 1),
        receives(1_000, 2, lease_ns=5_000),
        puts(2_000, 1),
        receives(3_000, 3),
        receives(8_000, 3),
        deletes(9_000, 3),
        receives(10_000, 3),
    ),
    leased(
        "Q-LEASE/given-back-at-its-place",
        "a consumer gives back the first of three messages of a group, twice",
        "hands it out first again",
        *(puts(1_000 * number, 1) for number in range(3)),
        receives(4_000, 2),
        gives_back(5_000, 2),
        receives(6_000, 2),
        gives_back(7_000, 2),
        receives(8_000, 3, most=3),
    ),
    leased(
        "Q-LEASE/extended",
        "a consumer extends its lease, and lets it end; another asks meanwhile, and after that",
        "hands the message to nobody until the lease ends as it was extended",
        puts(20_000, 1),
        receives(21_000, 2, lease_ns=3_000),
        extends(22_000, 2, 10_000),
        receives(26_000, 3),
        receives(29_000, 3),
        receives(33_000, 3),
    ),
    leased(
        "Q-LEASE/the-store-begins-anew",
        "the store crashes and begins anew while a consumer holds a message, and another asks for one",
        "hands it to nobody until the lease ends",
        puts(0, 1),
        receives(1_000, 2, lease_ns=8_000),
        receives(4_000, 3),
        receives(11_000, 3),
        failures=down_and_up(STORE, 2_000, 3_000),
    ),
    leased(
        "Q-LEASE-ALL/of-another-group",
        "the first message of one group is held, and one of another group is there",
        "hands out the other, then nothing",
        puts(0, 1, group=1),
        puts(1_000, 1, group=1),
        puts(2_000, 1, group=2),
        receives(3_000, 2),
        receives(4_000, 3),
        receives(5_000, 4),
    ),
    leased(
        "Q-LEASE-ALL/what-comes-next",
        "a consumer deletes each message that it receives, and another lets a lease end",
        "hands out one after the other, and what comes back",
        *(puts(1_000 * number, 1) for number in range(3)),
        receives(4_000, 2),
        deletes(5_000, 2),
        receives(6_000, 3, lease_ns=2_000),
        receives(9_000, 2, most=2),
        deletes(10_000, 2),
        deletes(11_000, 2),
        receives(12_000, 2),
    ),
    leased(
        "Q-LEASE-ALL/nothing-comes-through",
        "all requests of a consumer are lost, and those of another come through",
        "hands the message to the second",
        puts(0, 1),
        receives(1_000, 2),
        receives(6_000, 3),
        deletes(7_000, 3),
        receives(8_000, 3),
        faults=lose(asks(2), 0, 1, 2),
    ),
    leased(
        "Q-RECEIPT/one-of-two",
        "a consumer receives two messages, deletes the first or the last of them, and lets the other lease end",
        "hands out the other alone, again",
        *(puts(1_000 * number, 1, group=1 + number // 2) for number in range(4)),
        receives(5_000, 2, most=2, lease_ns=4_000),
        receives(6_000, 3, most=2, lease_ns=4_000),
        deletes(7_000, 2),
        deletes(7_000, 3, newest=1),
        receives(12_000, 4, most=4),
    ),
    leased(
        "Q-RECEIPT/deletes-too-late",
        "a consumer deletes a message when its lease has ended and another has it, who gives it back",
        "hands the message out again",
        puts(0, 1),
        receives(1_000, 2, lease_ns=1_000),
        receives(3_000, 3),
        deletes(4_000, 2),
        gives_back(5_000, 3),
        receives(6_000, 2),
        deletes(7_000, 2),
    ),
    leased(
        "Q-RECEIPT/gives-back-too-late",
        "a consumer gives back a message when another has it, and one of its own again, that asked after it",
        "leaves it with the other, who deletes it",
        puts(0, 1),
        receives(1_000, 2, lease_ns=1_000),
        receives(3_000, 3),
        gives_back(4_000, 2),
        receives(5_000, 2),
        deletes(6_000, 3),
        receives(7_000, 2),
    ),
    leased(
        "Q-RECEIPT/extends-too-late",
        "a consumer extends a lease that has ended, to one that is over at once, while another has the message",
        "leaves it with the other, who extends it and deletes it",
        puts(0, 1),
        receives(1_000, 2, lease_ns=1_000),
        receives(3_000, 3),
        extends(4_000, 2, 1),
        receives(5_000, 2),
        extends(6_000, 3, LONG_NS),
        deletes(7_000, 3),
    ),
    leased(
        "Q-ANSWER/of-leases",
        "consumers delete, extend and give back messages that are theirs, are gone, and are others'",
        "answers each one's last call",
        *(puts(1_000 * number, 1, group=1 + number) for number in range(5)),
        *(receives(6_000 + 500 * number, 2 + number, lease_ns=1_000 if number > 2 else LONG_NS) for number in range(5)),
        deletes(9_000, 2),
        extends(9_000, 3, LONG_NS),
        gives_back(9_000, 4),
        *(receives(10_000 + 500 * number, 7) for number in range(3)),
        *(deletes(12_000, 7) for _ in range(2)),
        deletes(13_000, 5),
        deletes(13_000, 6),
    ),
    leased(
        "Q-DEDUP/put-again",
        "two clients put a message with one id, and one of them again when the first was deleted",
        "takes all, and hands out the first alone",
        puts(0, 1, dedup=5),
        puts(1_000, 2, dedup=5, group=2),
        receives(2_000, 3, most=5),
        deletes(3_000, 3),
        puts(4_000, 2, dedup=5),
        puts(5_000, 2, dedup=6),
        receives(6_000, 3, most=5),
        receives(7_000, 3, most=5),
    ),
    leased(
        "Q-DEDUP/when-the-window-is-over",
        "an id comes again within its window, and when it is over",
        "takes what comes later for a new message",
        puts(0, 1, dedup=5),
        receives(1_000, 2),
        deletes(2_000, 2),
        puts(4_000, 1, dedup=5),
        receives(5_000, 2),
        puts(20_000, 1, dedup=5),
        receives(21_000, 2),
        deletes(21_500, 2),
        puts(22_000, 1, dedup=5),
        receives(23_000, 2),
        window_ns=10_000,
    ),
    leased(
        "Q-DEDUP/each-group-for-itself",
        "messages of two groups have one id, which is known by group",
        "hands out one of each group",
        *(puts(1_000 * number, 1, group=1 + number % 2, dedup=5) for number in range(4)),
        receives(5_000, 2, most=5),
        receives(6_000, 2, most=5),
        by_group=1,
    ),
)
