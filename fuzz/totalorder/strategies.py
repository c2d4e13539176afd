"""What a schedule of total order has beside the shared parts: its environment, intervals, and variants."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec.structs import replace

from scatterproof.conformance.network.incidents import outages
from scatterproof.fuzz.strategies import schedules
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import FaultKind, Schedule
from scatterproof.spec.totalorder import proxies
from scatterproof.spec.totalorder.messages import WITHOUT_LOSS, Environment

MIN_INTERVAL_NS, MAX_INTERVAL_NS = 3, 20
# Longer where runs are longer: otherwise most of a run would be beacons.
LONG_INTERVALS_NS = (8, 30)
# A beacon on its way to a proxy host and back makes packets on every link between.
PROXIED_INTERVALS_NS = (30, 90)
# Links are FIFO and may lose messages; they never repeat one.
FAULT_KINDS = (FaultKind.DELAY, FaultKind.LOSE)
LOSES = (FaultKind.LOSE, FaultKind.LOSE, FaultKind.DELAY)


def beyond(schedule: Schedule) -> str | None:
    """Loss in an environment where no packet reports it: a node may refuse all that arrives behind a gap."""
    environment = schedule.parameters["environment"]
    if environment in WITHOUT_LOSS and any(fault.kind is FaultKind.LOSE for fault in schedule.faults):
        return f"it loses a packet in environment {environment}, which is without loss"
    return None


def environments() -> SearchStrategy[str]:
    """A, B and C; shrinks towards C, in which both carriers are used."""
    return st.sampled_from([environment.value for environment in reversed(WITHOUT_LOSS)])


def lossy_environments() -> SearchStrategy[str]:
    """D5 to D9; shrinks towards D9, in which everything carries both barriers."""
    return st.sampled_from([environment.value for environment in reversed(Environment) if environment.loses])


def beacon_intervals() -> SearchStrategy[int]:
    """3 to 20 ns: about the delays and the gaps between submissions, so that beacons and data meet. Shorter ones would
    make a run out of little but beacons."""
    return st.integers(MIN_INTERVAL_NS, MAX_INTERVAL_NS)


def parameters() -> SearchStrategy[dict[str, Parameter]]:
    """Without loss: `environment` and `beacon_interval_ns`; on some draws variants, or rounds of adjustment."""
    variants = _variants("fill_barrier", "every_beacon", "causal")
    more = st.one_of(variants, variants, _rounds_on_some())
    return _set_to(environments(), beacon_intervals(), more)


def lossy_parameters() -> SearchStrategy[dict[str, Parameter]]:
    """Under loss; on some draws variants. The time-out is short: some expire in vain, and runs end sooner."""
    variants = _variants("host_flags", "fill_barrier", "every_beacon", "causal")
    return _set_to(lossy_environments(), _long_intervals(), variants, _timeouts())


def adjusting_parameters() -> SearchStrategy[dict[str, Parameter]]:
    """With rounds of timestamp adjustment, where something is at hand to tell the time: data, or beacons."""
    environment = st.sampled_from(["C", "B", "D9", "D6", "A"])
    return _set_to(environment, _long_intervals(), _variants("causal"), _rounds(), _timeouts())


def split_parameters(
    environments: tuple[str, ...] = ("D8", "D7", "B"), intervals: tuple[int, int] = LONG_INTERVALS_NS
) -> SearchStrategy[dict[str, Parameter]]:
    """With switches of two processors, where data carry no barriers; both processors take their time."""
    times = st.builds(
        lambda forwarding, processor: {
            "switch": "two",
            "forwarding_delay_ns": forwarding,
            "processor_delay_ns": processor,
        },
        st.integers(0, 12),
        st.integers(0, 30),
    )
    return _set_to(st.sampled_from(environments), st.integers(*intervals), times, _rounds_on_some(), _timeouts())


def proxied() -> SearchStrategy[Schedule]:
    """With a proxy host for every switch that can have one, near or far (TO-SW-6); links lose packets, and on half of
    the draws nodes begin anew."""
    lasting = _split(split_parameters(intervals=PROXIED_INTERVALS_NS))
    restarting = _split(split_parameters(("D8", "D7"), PROXIED_INTERVALS_NS), failures=outages, faulty=64)
    return st.builds(_with_proxies, st.one_of(lasting, restarting), st.integers(0, 2))


def _split(chosen: SearchStrategy[dict[str, Parameter]], **more: Any) -> SearchStrategy[Schedule]:
    return schedules("totalorder", parameters=chosen, fault_kinds=LOSES, answered=True, **more)


def _with_proxies(schedule: Schedule, far: int) -> Schedule:
    """far: which of a switch's choices is its proxy, the farthest where there are fewer."""
    choices = proxies.choices(schedule.topology).items()
    hosts = {switch: found[min(far, len(found) - 1)] for switch, found in choices if found}
    if not hosts:
        return schedule
    text = proxies.parameter(schedule.topology, hosts)
    return replace(schedule, parameters={**schedule.parameters, "switch": "proxy", proxies.PARAMETER: text})


def slow_parameters() -> SearchStrategy[dict[str, Parameter]]:
    """For runs in which submissions go on for long: what needs a delivery, some rounds of adjustment, or many beacons
    first. Switches that may withhold beacons are held to it (TO-BEACON-MIN)."""
    withheld = st.just(dict[str, Parameter](every_beacon=0))
    environment = st.sampled_from(["C", "B", "D9", "D8"])
    causal = st.just(dict[str, Parameter](causal=1))
    more = st.one_of(causal, withheld, _rounds())
    return _set_to(environment, _long_intervals(), more, _timeouts())


def failing_parameters() -> SearchStrategy[dict[str, Parameter]]:
    """Links are given up after some intervals of silence."""

    def detected(interval: int, silent: int, again: int) -> dict[str, Parameter]:
        return {
            "beacon_interval_ns": interval,
            "failure_timeout_ns": silent * interval,
            "retransmit_timeout_ns": again * interval,
        }

    times = st.builds(detected, st.integers(*LONG_INTERVALS_NS), st.integers(6, 10), st.integers(2, 4))
    variants = _variants("host_flags", "fill_barrier", "causal")
    environment = st.sampled_from(["D9", "D8", "D7", "D6"])
    return _set_to(environment, _long_intervals(), times, variants, _rounds_on_some())


def _rounds() -> SearchStrategy[dict[str, Parameter]]:
    return st.builds(lambda ns: {"adjustment_interval_ns": ns}, st.integers(30, 80))


def _rounds_on_some() -> SearchStrategy[dict[str, Parameter]]:
    return st.one_of(st.just({}), st.just({}), st.just({}), _rounds())


def _timeouts() -> SearchStrategy[dict[str, Parameter]]:
    return st.builds(lambda ns: {"retransmit_timeout_ns": ns}, st.integers(8, 60))


def _long_intervals() -> SearchStrategy[int]:
    return st.integers(*LONG_INTERVALS_NS)


def _set_to(
    environment: SearchStrategy[str], intervals: SearchStrategy[int], *more: SearchStrategy[dict[str, Parameter]]
) -> SearchStrategy[dict[str, Parameter]]:
    """A run's parameters, all together."""

    def together(named: str, interval: int, *others: dict[str, Parameter]) -> dict[str, Parameter]:
        chosen: dict[str, Parameter] = {"environment": named, "beacon_interval_ns": interval}
        for other in others:
            chosen |= other
        return chosen

    return st.builds(together, environment, intervals, *more)


def _variants(*names: str) -> SearchStrategy[dict[str, Parameter]]:
    """None of these switched on, mostly; else one or two."""
    chosen = st.lists(st.sampled_from(names), max_size=2, unique=True)
    on = chosen.map(lambda some: dict.fromkeys(some, 1))
    return st.one_of(st.just({}), st.just({}), on)
