"""The kinds of runs that corpora of the queue have: of groups, and of leases; each without faults, over links that
lose, delay and repeat packets, and with crashes and pauses of clients and the store. Fuzzing draws the same kinds, with
fewer clients and shorter runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from scatterproof.conformance.case_files import spread
from scatterproof.conformance.network.topologies import served
from scatterproof.conformance.workqueue import episodes, lease_episodes
from scatterproof.conformance.workqueue.cases.building import STORE
from scatterproof.spark.configurations import MAX_DRIFT_PPB
from scatterproof.spark.kinds import RunKind, Setting, nothing_fails
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import Call, Failure, FailureKind, FaultKind
from scatterproof.spec.topology import Topology

Calls = Callable[[Random, Setting], tuple[Call, ...]]
Fails = Callable[[Random, Setting], tuple[Failure, ...]]

_MOST = 24  # episodes, or steps, of a client
_WELL = 14  # kinds of episodes strictly below it clean nothing
_LONG = 20  # spans that calls go on for
_FAULTS = (FaultKind.LOSE, FaultKind.DELAY, FaultKind.DUPLICATE)
_LEASES_HOPS = (10, 25, 100)
_WINDOWS_HOPS = (25, 100, 2_500)


def _clients(draw: Random) -> Topology:
    return served(draw.randint(2, 6))


_NETWORKS: Mapping[str, Callable[[Random], Topology]] = {"served": _clients}


def _patience(draw: Random, setting: Setting) -> dict[str, Parameter]:
    return {"retry_ns": 4 * setting.hop_ns, "tries": draw.randint(1, 4), "most_tries": draw.choice((0, 0, 1, 2))}


def _leased(draw: Random, setting: Setting) -> dict[str, Parameter]:
    """The store's clock may drift, and a lease or a window be longer or shorter by as much."""
    window_ns = setting.hop_ns * draw.choice(_WINDOWS_HOPS)
    longest_ns = max(window_ns, setting.hop_ns * max(_LEASES_HOPS))
    return {
        **_patience(draw, setting),
        "leased": 1,
        "window_ns": window_ns,
        "by_group": draw.randint(0, 1),
        "margin_ns": longest_ns * MAX_DRIFT_PPB // 1_000_000_000 + 2,
        "back_order": draw.choice((0, 0, 1, 2)),
        "one_consumer": draw.choice((0, 0, 1)),
        "batches": draw.randint(0, 2),
    }


def _times(draw: Random, setting: Setting) -> list[int]:
    return sorted(draw.randrange(_LONG * setting.span_ns) for _ in range(draw.randint(2, _MOST)))


def _in_turn(draw: Random, setting: Setting, made: list[Call]) -> tuple[Call, ...]:
    return spread(sorted(made, key=lambda call: call.time_ns), draw.choice((0, 3 * setting.hop_ns)))


def _episodes(kinds: int) -> Calls:
    """The first client begins with a group; then each has episodes of any kind strictly below `kinds`."""

    def calls(draw: Random, setting: Setting) -> tuple[Call, ...]:
        clients = setting.topology.clients()
        made = [*episodes.episode(0, 0, clients[0], draw.randrange(256), setting.hop_ns)]
        for client in clients:
            for time_ns in _times(draw, setting):
                kind, more = draw.randrange(kinds), draw.randrange(256)
                made += episodes.episode(kind, time_ns, client, more, setting.hop_ns)
        return _in_turn(draw, setting, made)

    return calls


def _steps(draw: Random, setting: Setting) -> tuple[Call, ...]:
    """Within a few leases' time, so that clients meet; the first client begins with two messages."""
    clients = setting.topology.clients()
    leases_ns = [hops * setting.hop_ns for hops in _LEASES_HOPS]
    made = [one for _ in range(2) for one in lease_episodes.step(0, 0, clients[0], draw.randrange(256), leases_ns)]
    for client in clients:
        for _ in range(draw.randint(2, _MOST)):
            kind, time_ns = draw.randrange(lease_episodes.KINDS), draw.randrange(8 * max(leases_ns))
            made += lease_episodes.step(kind, time_ns, client, draw.randrange(256), leases_ns)
    return _in_turn(draw, setting, made)


def _fails_within(spans: int) -> Fails:
    """The store and up to two clients crash, and most begin anew, or stand still."""

    def fails(draw: Random, setting: Setting) -> tuple[Failure, ...]:
        found: list[Failure] = []
        nodes = [STORE, *draw.sample(setting.topology.clients(), 2)]
        for node in draw.sample(nodes, draw.randint(1, 3)):
            from_ns = draw.randrange(spans * setting.span_ns)
            pauses = draw.random() < 0.2
            found.append(Failure(from_ns, FailureKind.PAUSE if pauses else FailureKind.CRASH, node=node))
            if pauses or draw.random() < 0.8:
                again = from_ns + 1 + draw.randrange(spans * setting.span_ns // 5)
                found.append(Failure(again, FailureKind.RESUME if pauses else FailureKind.RESTART, node=node))
        return tuple(sorted(found, key=lambda failure: failure.time_ns))

    return fails


def _kind(
    name: str,
    calls: Calls,
    *,
    faults: tuple[FaultKind, ...] = _FAULTS,
    often_faulty: bool = False,
    leased: bool = False,
    fails: Fails = nothing_fails,
) -> RunKind:
    return RunKind(
        name=name,
        parameters=_leased if leased else _patience,
        calls=calls,
        faults=faults,
        often_faulty=often_faulty,
        faults_a_link=2 if often_faulty else 0,
        networks=_NETWORKS,
        fails=fails,
    )


KINDS = (
    _kind("quiet", _episodes(_WELL), faults=()),
    _kind("lossy", _episodes(episodes.KINDS), often_faulty=True),
    _kind("crashing", _episodes(episodes.KINDS), fails=_fails_within(_LONG)),
    _kind("leases", _steps, faults=(), leased=True),
    _kind("leases, lossy", _steps, often_faulty=True, leased=True),
    _kind("leases, crashing", _steps, leased=True, fails=_fails_within(8)),
)
