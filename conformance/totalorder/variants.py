"""One schedule over every carrier of barriers and in every form of a switch (TO-SW-1 to TO-SW-6)."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.topology import Topology
from scatterproof.spec.totalorder import proxies
from scatterproof.spec.totalorder.messages import Environment

# No barrier rises there after the last message: what is delivered is a prefix of what is delivered elsewhere.
WITHOUT_BEACONS = frozenset(str(environment) for environment in Environment if not environment.beacons)


def variants(schedule: Schedule) -> dict[str, Schedule]:
    """The schedule, by the name of carrier and form. Applications see the same in each. Losses on links are left out
    of environments without loss. A second processor, or a proxy host, takes a beacon interval for a beacon."""
    found: dict[str, Schedule] = {}
    for environment in Environment:
        for form, chosen in _forms(environment, schedule):
            parameters = {**schedule.parameters, "environment": environment.value, **chosen}
            name = f"{environment}, {form}" if form else environment.value
            kept = msgspec.structs.replace(schedule, parameters=parameters)
            found[name] = kept if environment.loses else msgspec.structs.replace(kept, faults=())
    return found


def _forms(environment: Environment, schedule: Schedule) -> Iterator[tuple[str, dict[str, Parameter]]]:
    """Name and parameters of each form of a switch that this environment has."""
    yield "", {}
    if environment.data_carry_barriers:
        return
    interval = schedule.parameters["beacon_interval_ns"]
    yield "slow beacons", {"switch": "two", "processor_delay_ns": interval}
    yield "slow data", {"switch": "two", "forwarding_delay_ns": interval}
    for form, hosts in _proxies(schedule.topology):
        if hosts:
            text = proxies.parameter(schedule.topology, hosts)
            yield form, {"switch": "proxy", "proxies": text, "processor_delay_ns": interval}


def _proxies(topology: Topology) -> Iterator[tuple[str, dict[int, int]]]:
    choices = {switch: hosts for switch, hosts in proxies.choices(topology).items() if hosts}
    yield "near proxies", {switch: hosts[0] for switch, hosts in choices.items()}
    yield "far proxies", {switch: hosts[-1] for switch, hosts in choices.items()}
