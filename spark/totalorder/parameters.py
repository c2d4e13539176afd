"""The kinds of runs that corpora of total order have: every environment, with its variants; timestamps adjusted;
switches of two processors, and with proxy hosts; a node that fails; several nodes and links that do, detected or not.
Fuzzing draws the same kinds, in shorter runs."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import msgspec

from scatterproof.conformance.network import incidents
from scatterproof.spark.kinds import RunKind, Setting, nothing_fails
from scatterproof.spark.networks import all_answered, in_a_tree
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import Failure, FailureKind, FaultKind
from scatterproof.spec.topology import Topology
from scatterproof.spec.totalorder import proxies
from scatterproof.spec.totalorder.messages import WITHOUT_LOSS, Environment

Parameters = dict[str, Parameter]
Draw = Callable[[Random, Setting], Parameters]

# Links are FIFO and may lose messages; they never repeat one.
_FAULTS = (FaultKind.DELAY, FaultKind.LOSE)
_LOSES = (FaultKind.LOSE, FaultKind.LOSE, FaultKind.DELAY)


def _interval(draw: Random, setting: Setting) -> Parameters:
    """A fifth to a fiftieth of the span: beacons matter, and do not crowd out the data."""
    return {"beacon_interval_ns": setting.span_ns // draw.randint(5, 50)}


def _long_interval(draw: Random, setting: Setting) -> Parameters:
    """A third to a fifteenth: such runs go on for longer after the span."""
    return {"beacon_interval_ns": setting.span_ns // draw.randint(3, 15)}


def _timeout(draw: Random, setting: Setting) -> Parameters:
    """1 to 20 hops: some expire in vain."""
    return {"retransmit_timeout_ns": setting.hop_ns * draw.randint(1, 20)}


def _rounds(draw: Random, setting: Setting) -> Parameters:
    """Some rounds of timestamp adjustment while submissions go on."""
    return {"adjustment_interval_ns": setting.span_ns // draw.randint(2, 6)}


def _two_processors(draw: Random, setting: Setting) -> Parameters:
    """Both take up to a few hops' time."""
    return {
        "switch": "two",
        "forwarding_delay_ns": draw.randint(0, 2 * setting.hop_ns),
        "processor_delay_ns": draw.randint(0, 4 * setting.hop_ns),
    }


def _variants(*names: str) -> Draw:
    """Each on by a coin. Switches that may withhold beacons are now and then held to it (TO-BEACON-MIN)."""

    def drawn(draw: Random, setting: Setting) -> Parameters:
        chosen: Parameters = {name: 1 for name in names if draw.random() < 0.3}
        if "every_beacon" in names and draw.random() < 0.3:
            chosen.setdefault("every_beacon", 0)
        return chosen

    return drawn


def _all_of(environment: Environment, *parts: Draw) -> Draw:
    def drawn(draw: Random, setting: Setting) -> Parameters:
        chosen: Parameters = {"environment": environment.value}
        for part in parts:
            chosen |= part(draw, setting)
        return chosen

    return drawn


def _without_loss(environment: Environment) -> RunKind:
    draws = _all_of(environment, _interval, _variants("fill_barrier", "every_beacon", "causal"))
    return RunKind(name=environment.value, parameters=draws, faults=_FAULTS)


def _lossy(environment: Environment) -> RunKind:
    variants = _variants("fill_barrier", "host_flags", "every_beacon", "causal")
    draws = _all_of(environment, _long_interval, variants, _timeout)
    return RunKind(name=environment.value, parameters=draws, faults=_LOSES, often_faulty=True, suits=all_answered)


def _small(topology: Topology) -> bool:
    """Each round of adjustment has a message for every pair of hosts."""
    return len(topology.hosts()) <= 8 and all_answered(topology)


def _adjusting(environment: Environment) -> RunKind:
    draws = _all_of(environment, _long_interval, _variants("causal"), _rounds, _timeout)
    return RunKind(name=f"{environment}, adjusted", parameters=draws, faults=_FAULTS, suits=_small)


def _split(environment: Environment) -> RunKind:
    draws = _all_of(environment, _long_interval, _two_processors, _timeout)
    return RunKind(name=f"{environment}, two processors", parameters=draws, faults=_LOSES, suits=all_answered)


def _proxy_hosts(draw: Random, setting: Setting) -> Parameters:
    """In place of second processors: every switch that can have a proxy host gets the nearest one, or the farthest."""
    far = -1 if draw.random() < 0.5 else 0
    choices = proxies.choices(setting.topology).items()
    hosts = {switch: found[far] for switch, found in choices if found}
    return {"switch": "proxy", proxies.PARAMETER: proxies.parameter(setting.topology, hosts)} if hosts else {}


def _few_beacons(draw: Random, setting: Setting) -> Parameters:
    return {"beacon_interval_ns": setting.span_ns // draw.randint(2, 4)}


def _few_nodes(topology: Topology) -> bool:
    """Each beacon goes over all links to a proxy host, and what is made of it over all links back."""
    return len(topology.nodes) <= 6 and all_answered(topology)


def _proxied(environment: Environment) -> RunKind:
    draws = _all_of(environment, _few_beacons, _two_processors, _proxy_hosts, _timeout)
    fails = _befalls(_that_end) if environment.loses else nothing_fails
    return RunKind(name=f"{environment}, proxy hosts", parameters=draws, faults=_LOSES, suits=_few_nodes, fails=fails)


def _detected(draw: Random, setting: Setting) -> Parameters:
    """Links are given up after some intervals of silence."""
    interval = setting.span_ns // draw.randint(5, 15)
    return {
        "beacon_interval_ns": interval,
        "failure_timeout_ns": interval * draw.randint(6, 10),
        "retransmit_timeout_ns": interval * draw.randint(2, 4),
    }


def _host_crashes(draw: Random, setting: Setting) -> tuple[Failure, ...]:
    node = draw.choice(setting.topology.hosts())
    return (Failure(draw.randrange(setting.span_ns), FailureKind.CRASH, node=node),)


def _switch_restarts(draw: Random, setting: Setting) -> tuple[Failure, ...]:
    down_ns = draw.randint(1, setting.span_ns // 4)
    node = draw.choice(setting.topology.switches())
    at = draw.randrange(setting.span_ns)
    return (Failure(at, FailureKind.CRASH, node=node), Failure(at + down_ns, FailureKind.RESTART, node=node))


def _crashing(environment: Environment) -> RunKind:
    name = f"{environment}, a host crashes"
    return RunKind(name=name, parameters=_all_of(environment, _detected), suits=in_a_tree, fails=_host_crashes)


def _restarting(environment: Environment) -> RunKind:
    name = f"{environment}, a switch restarts"
    return RunKind(name=name, parameters=_all_of(environment, _detected), suits=in_a_tree, fails=_switch_restarts)


def _befalls(fuzzed: Callable[[bytes, Topology, int], tuple[Failure, ...]]) -> Callable[..., tuple[Failure, ...]]:
    """What fuzzing draws, in the times of this run: there, a hop takes about 8 ns."""

    def fails(draw: Random, setting: Setting) -> tuple[Failure, ...]:
        unit_ns = setting.hop_ns // 8
        found = fuzzed(draw.randbytes(incidents.BYTES), setting.topology, setting.span_ns // unit_ns)
        return tuple(msgspec.structs.replace(failure, time_ns=failure.time_ns * unit_ns) for failure in found)

    return fails


def _stopping(environment: Environment) -> RunKind:
    draws = _all_of(environment, _interval, _variants("fill_barrier", "every_beacon", "causal"))
    name, faults = f"{environment}, some stop", (FaultKind.DELAY,)
    return RunKind(name=name, parameters=draws, faults=faults, fails=_befalls(incidents.stops))


def _that_end(numbers: bytes, topology: Topology, last_ns: int) -> tuple[Failure, ...]:
    """Outages that end: packets to a host that stays out of reach would be resent for ever, also at the end of the
    run."""
    found = incidents.outages(numbers, topology, last_ns)
    last = {(failure.node, failure.link): failure.kind for failure in found}
    for_good = {place for place, kind in last.items() if kind in (FailureKind.CRASH, FailureKind.CUT)}
    return tuple(failure for failure in found if (failure.node, failure.link) not in for_good)


def _undetected(environment: Environment) -> RunKind:
    draws = _all_of(environment, _long_interval, _variants("host_flags", "every_beacon", "causal"), _timeout)
    name, fails = f"{environment}, undetected failures", _befalls(_that_end)
    return RunKind(name=name, parameters=draws, faults=_LOSES, suits=all_answered, fails=fails)


def _failing(environment: Environment) -> RunKind:
    draws = _all_of(environment, _detected, _variants("host_flags", "fill_barrier", "causal"))
    name, fails = f"{environment}, failures", _befalls(incidents.failures)
    return RunKind(name=name, parameters=draws, faults=_LOSES, often_faulty=True, suits=in_a_tree, fails=fails)


# Where data carry no barriers.
_BARE = (Environment.D8, Environment.D7, Environment.B)
# Where failures are handled.
_HANDLED = (Environment.D9, Environment.D8, Environment.D7, Environment.D6)
KINDS = (
    *(_without_loss(environment) for environment in WITHOUT_LOSS),
    *(_lossy(environment) for environment in Environment if environment.loses),
    # Where something is at hand to tell the time: data, or beacons.
    *(_adjusting(environment) for environment in (Environment.C, Environment.B, *_HANDLED, Environment.A)),
    *(_split(environment) for environment in _BARE),
    *(_proxied(environment) for environment in _BARE),
    *(_crashing(environment) for environment in _HANDLED),
    *(_restarting(environment) for environment in _HANDLED),
    *(_stopping(environment) for environment in WITHOUT_LOSS),
    *(_undetected(environment) for environment in Environment if environment.loses),
    *(_failing(environment) for environment in _HANDLED),
)
