"""Runs of the queue: several senders and workers, lost and late packets, crashes, and cleaning at any time."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from scatterproof.conformance.network.topologies import served
from scatterproof.conformance.workqueue.cases.building import STORE
from scatterproof.conformance.workqueue.episodes import KINDS, episode
from scatterproof.fuzz.strategies import clocks, delays, faults
from scatterproof.spec.schedule import Call, Failure, FailureKind, FaultKind, Schedule

MAX_CLIENTS = 4
MAX_EPISODES = 10
MAX_GAP_NS = 80
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
    calls = tuple(sorted(made, key=lambda call: call.time_ns))
    return Schedule(
        protocol="workqueue",
        topology=network,
        delays=draw(delays(network)),
        submissions=(),
        calls=calls,
        clocks=draw(clocks(network)),
        parameters={"retry_ns": draw(st.sampled_from([20, 50])), "tries": draw(st.integers(1, 4))},
        faults=draw(faults(network, tuple(FaultKind))),
        failures=draw(_failures(clients, max(call.time_ns for call in calls))),
        seed=draw(st.integers(0, 255)),
    )


@st.composite
def _failures(draw: DrawFn, clients: tuple[int, ...], last_ns: int) -> tuple[Failure, ...]:
    """On half of the draws a client or the store crashes, for good or to begin anew, or stands still, or two of
    them."""
    numbers = draw(st.binary(min_size=1 + 2 * _FAILURE, max_size=1 + 2 * _FAILURE))
    found: list[Failure] = []
    for number in range(max(0, numbers[0] % 4 - 1)):
        who, early, long, how = numbers[1 + _FAILURE * number :][:_FAILURE]
        node = STORE if who >= 192 else clients[who % len(clients)]
        from_ns = early * (last_ns + 20) // 255
        if any(failure.node == node for failure in found):
            continue
        down, up = FailureKind.CRASH, FailureKind.RESTART
        if how >= 192:
            down, up = FailureKind.PAUSE, FailureKind.RESUME
        found.append(Failure(from_ns, down, node=node))
        if how % 4 or how >= 192:
            found.append(Failure(from_ns + 1 + long, up, node=node))
    return tuple(sorted(found, key=lambda failure: failure.time_ns))


def drawn() -> SearchStrategy[Schedule]:
    return _runs()
