"""Runs of the queue: several senders and workers, lost and late packets, crashes, and cleaning at any time."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from scatterproof.conformance.case_files import spread
from scatterproof.conformance.network.topologies import served
from scatterproof.conformance.workqueue.cases.building import STORE
from scatterproof.conformance.workqueue.episodes import KINDS, episode
from scatterproof.fuzz.strategies import clocks, delays
from scatterproof.spec.schedule import Call, Failure, FailureKind, Fault, FaultKind, Schedule

MAX_CLIENTS = 4
MAX_EPISODES = 10
MAX_GAP_NS = 80
MAX_FAULTS = 8
_EPISODE = 4  # bytes
_FAILURE = 4
_HOP_NS = 4


@st.composite
def _runs(draw: DrawFn) -> Schedule:
    network = served(draw(st.integers(2, MAX_CLIENTS)))
    clients = network.clients()
    numbers = draw(st.binary(min_size=1 + _EPISODE * MAX_EPISODES, max_size=1 + _EPISODE * MAX_EPISODES))
    made: list[Call] = []
    now = 0
    for number in range(2 + numbers[0] % (MAX_EPISODES - 1)):
        kind, who, gap, more = numbers[1 + _EPISODE * number :][:_EPISODE]
        now += gap % MAX_GAP_NS
        # The first one is a group, so that there is something to do.
        made += episode(kind % KINDS if number else 0, now, clients[who % len(clients)], more, _HOP_NS)
    calls = spread(sorted(made, key=lambda call: call.time_ns), draw(st.sampled_from([0, 6, 30])))
    return Schedule(
        protocol="workqueue",
        topology=network,
        delays=draw(delays(network)),
        submissions=(),
        calls=calls,
        clocks=draw(clocks(network)),
        parameters={
            "retry_ns": draw(st.sampled_from([20, 50])),
            "tries": draw(st.integers(1, 4)),
            "most_tries": (0, 0, 1, 2)[numbers[0] // MAX_EPISODES % 4],
        },
        faults=draw(faults(len(network.links))),
        failures=draw(failures(clients, max(call.time_ns for call in calls))),
        seed=draw(st.integers(0, 255)),
    )


@st.composite
def faults(draw: DrawFn, links: int) -> tuple[Fault, ...]:
    """On half of the draws up to 8, on the first 12 packets of a link, losses most: then a client asks again."""
    numbers = draw(st.binary(min_size=1 + 3 * MAX_FAULTS, max_size=1 + 3 * MAX_FAULTS))
    found: dict[tuple[int, int], Fault] = {}
    for number in range(max(0, numbers[0] % (2 * MAX_FAULTS + 1) - MAX_FAULTS)):
        link, index, how = numbers[1 + 3 * number :][:3]
        kind = FaultKind.LOSE if how < 128 else FaultKind.DELAY if how < 192 else FaultKind.DUPLICATE
        place = (link % links, index % 12)
        found[place] = Fault(*place, kind, 0 if kind is FaultKind.LOSE else how)
    return tuple(found.values())


@st.composite
def failures(draw: DrawFn, clients: tuple[int, ...], last_ns: int) -> tuple[Failure, ...]:
    """On half of the draws a client or the store crashes, for good or to begin anew, or stands still, or two of
    them."""
    numbers = draw(st.binary(min_size=1 + 2 * _FAILURE, max_size=1 + 2 * _FAILURE))
    found: list[Failure] = []
    for number in range(max(0, numbers[0] % 4 - 1)):
        who, early, long, how = numbers[1 + _FAILURE * number :][:_FAILURE]
        node = STORE if who >= 128 else clients[who % len(clients)]
        from_ns = early * (last_ns + 20) // 255
        if any(failure.node == node for failure in found):
            continue
        down, up = FailureKind.CRASH, FailureKind.RESTART
        if how >= 192:
            down, up = FailureKind.PAUSE, FailureKind.RESUME
        found.append(Failure(from_ns, down, node=node))
        if how % 4 or how >= 192:
            # The store is back soon, so that some calls outlast its crash.
            found.append(Failure(from_ns + 1 + (long % 24 if node == STORE else long), up, node=node))
    return tuple(sorted(found, key=lambda failure: failure.time_ns))


def drawn() -> SearchStrategy[Schedule]:
    return _runs()
