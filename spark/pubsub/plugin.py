"""Publish and subscribe, as `spark` sees it."""

from __future__ import annotations

from functools import partial
from random import Random

from scatterproof.conformance.network.topologies import attached
from scatterproof.conformance.pubsub.cases.building import WORDS, between, row_of, words
from scatterproof.conformance.pubsub.episodes import KINDS, episode
from scatterproof.spark.kinds import RunKind, Setting
from scatterproof.spark.protocol import SparkPlugin
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import Call, Failure, FailureKind, FaultKind
from scatterproof.spec.topology import Topology

_MOST = 40  # calls a client
_MOST_ON_RINGS = 8  # each message goes over all links


def _parameters(draw: Random, setting: Setting, **more: Parameter) -> dict[str, Parameter]:
    appliances = len(setting.topology.hosts())
    return {
        **words(_grammar(setting)),
        "appliances": appliances,
        "retry_ns": 6 * setting.hop_ns,
        "tries": draw.randint(2, 4),
        **more,
    }


def _grammar(setting: Setting) -> str:
    """One for each network, so that calls and parameters agree."""
    return sorted(WORDS)[len(setting.topology.nodes) % len(WORDS)]


def _appliances(draw: Random) -> Topology:
    hosts = draw.randint(1, 5)
    joined = [(draw.randrange(one), one) for one in range(1, hosts)]
    return attached(hosts, joined, [draw.randrange(hosts) for _ in range(draw.randint(2, 8))])


def _ring(draw: Random) -> Topology:
    hosts = draw.randint(3, 5)
    joined = [(one, (one + 1) % hosts) for one in range(hosts)]
    return attached(hosts, joined, [draw.randrange(hosts) for _ in range(draw.randint(2, 4))])


def _doubled(draw: Random) -> Topology:
    """Two or three appliances in a row, each two joined twice, with a client at both ends at the least."""
    hosts = draw.randint(2, 3)
    return row_of(hosts, [0, hosts - 1, *(draw.randrange(hosts) for _ in range(draw.randint(0, 4)))], ways=2)


def _links_fail(draw: Random, setting: Setting) -> tuple[Failure, ...]:
    """Of each two links from one appliance to another the first may be cut for a while: the other one is left."""
    found: list[Failure] = []
    links = between(setting.topology)
    for link in draw.sample(links[: len(links) // 2], draw.randint(0, len(links) // 2)):
        from_ns = draw.randrange(10 * setting.span_ns)
        found.append(Failure(from_ns, FailureKind.CUT, link=link))
        found.append(Failure(from_ns + draw.randint(1, 400 * setting.hop_ns), FailureKind.MEND, link=link))
    return tuple(sorted(found, key=lambda failure: failure.time_ns))


def _calls_on_rings(draw: Random, setting: Setting) -> tuple[Call, ...]:
    return _calls(draw, setting, _MOST_ON_RINGS)


def _calls(draw: Random, setting: Setting, most: int = _MOST) -> tuple[Call, ...]:
    """Each client first subscribes, then makes calls of any kind."""
    made: list[Call] = []
    for client in setting.topology.clients():
        times = sorted(draw.randrange(20 * setting.span_ns) for _ in range(draw.randint(2, most)))
        for number, time_ns in enumerate(times):
            kind = draw.randrange(KINDS) if number else KINDS - 4
            made += episode(kind, time_ns, client, draw.randrange(256), _grammar(setting), 8)
    return tuple(sorted(made, key=lambda call: call.time_ns))


_FAULTS = (FaultKind.LOSE, FaultKind.DELAY, FaultKind.DUPLICATE)

PLUGIN = SparkPlugin(
    kinds=(
        RunKind(name="quiet", parameters=_parameters, calls=_calls, networks={"appliances": _appliances}),
        RunKind(
            name="lossy",
            parameters=_parameters,
            calls=_calls,
            faults=_FAULTS,
            often_faulty=True,
            networks={"appliances": _appliances},
        ),
        RunKind(
            name="all-paths",
            parameters=partial(_parameters, paths="all"),
            calls=_calls_on_rings,
            faults=_FAULTS,
            networks={"ring": _ring},
        ),
        RunKind(
            name="several-links",
            parameters=partial(_parameters, paths="best"),
            calls=_calls,
            faults=_FAULTS,
            networks={"doubled": _doubled},
            fails=_links_fail,
        ),
    )
)
