"""The queue with correlated message groups, as `spark` sees it."""

from __future__ import annotations

from random import Random

from scatterproof.conformance.network.topologies import served
from scatterproof.conformance.workqueue.cases.building import STORE
from scatterproof.conformance.workqueue.episodes import KINDS, episode
from scatterproof.spark.kinds import RunKind, Setting
from scatterproof.spark.protocol import SparkPlugin
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import Call, Failure, FailureKind, FaultKind
from scatterproof.spec.topology import Topology

_MOST = 24  # episodes a client
_WELL = 14  # the kinds of episodes below it release and clean nothing


def _patience(draw: Random, setting: Setting) -> dict[str, Parameter]:
    return {"retry_ns": 4 * setting.hop_ns, "tries": draw.randint(1, 4)}


def _clients(draw: Random) -> Topology:
    return served(draw.randint(2, 6))


def _episodes(draw: Random, setting: Setting, kinds: int) -> tuple[Call, ...]:
    """The first client begins with a group; then each does this and that."""
    clients = setting.topology.clients()
    made = [*episode(0, 0, clients[0], draw.randrange(256), setting.hop_ns)]
    for client in clients:
        for time_ns in sorted(draw.randrange(20 * setting.span_ns) for _ in range(draw.randint(2, _MOST))):
            made += episode(draw.randrange(kinds), time_ns, client, draw.randrange(256), setting.hop_ns)
    return tuple(sorted(made, key=lambda call: call.time_ns))


def _all_goes_well(draw: Random, setting: Setting) -> tuple[Call, ...]:
    return _episodes(draw, setting, _WELL)


def _cleaned(draw: Random, setting: Setting) -> tuple[Call, ...]:
    return _episodes(draw, setting, KINDS)


def _fails(draw: Random, setting: Setting) -> tuple[Failure, ...]:
    """The store and up to two clients crash, and most begin anew, or stand still."""
    found: list[Failure] = []
    nodes = [STORE, *draw.sample(setting.topology.clients(), 2)]
    for node in draw.sample(nodes, draw.randint(1, 3)):
        from_ns = draw.randrange(20 * setting.span_ns)
        pauses = draw.random() < 0.2
        found.append(Failure(from_ns, FailureKind.PAUSE if pauses else FailureKind.CRASH, node=node))
        if pauses or draw.random() < 0.8:
            again = from_ns + 1 + draw.randrange(4 * setting.span_ns)
            found.append(Failure(again, FailureKind.RESUME if pauses else FailureKind.RESTART, node=node))
    return tuple(sorted(found, key=lambda failure: failure.time_ns))


_FAULTS = (FaultKind.LOSE, FaultKind.DELAY, FaultKind.DUPLICATE)

PLUGIN = SparkPlugin(
    kinds=(
        RunKind(name="quiet", parameters=_patience, calls=_all_goes_well, networks={"served": _clients}),
        RunKind(
            name="lossy",
            parameters=_patience,
            calls=_cleaned,
            faults=_FAULTS,
            often_faulty=True,
            networks={"served": _clients},
        ),
        RunKind(
            name="crashing",
            parameters=_patience,
            calls=_cleaned,
            faults=_FAULTS,
            networks={"served": _clients},
            fails=_fails,
        ),
    )
)
