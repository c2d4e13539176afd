"""What a total-order node is set to: the parameters of its configuration, checked."""

from __future__ import annotations

from dataclasses import dataclass

from spec.core import NodeConfig
from spec.errors import BadInput
from spec.totalorder.messages import Environment

MAX_DOUBLINGS = 3  # of the time-out, while a message stays unacknowledged


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Times in ns.

    beacon_interval_ns: how long a link may go without a barrier before a beacon is due.
    retransmit_timeout_ns: how long a host waits for an acknowledgement the first time; it doubles with every resending
    until it is eight times as long.
    host_flags: hosts tell what they know to be lost (TO-FLAG-HOST).
    fill_barrier: hosts leave the barrier of a first transmission to the next node (TO-BAR-FILL).
    every_beacon: a beacon leaves every interval, be there news or not (otherwise TO-BEACON-MIN).
    adjustment_interval_ns: between two rounds of timestamp adjustment; 0 for none (TO-ADJ-ROUNDS).
    causal: timestamps are strictly above all that the host has delivered (TO-CAUSAL).
    failure_timeout_ns: how long a link may be silent until it is given up; 0 for ever (TO-FAIL).
    incarnation: how often the node has begun anew (TO-RESTART).
    """

    environment: Environment
    beacon_interval_ns: int
    retransmit_timeout_ns: int
    host_flags: bool = False
    fill_barrier: bool = False
    every_beacon: bool = False
    adjustment_interval_ns: int = 0
    causal: bool = False
    failure_timeout_ns: int = 0
    incarnation: int = 0

    @property
    def data_carry_barriers(self) -> bool:
        return self.environment.data_carry_barriers

    @property
    def beacons_exist(self) -> bool:
        return bool(self.environment.beacons)

    @property
    def plain(self) -> bool:
        """Whether nothing is asked for beyond environments A, B and C as they are."""
        wanted = self.host_flags or self.fill_barrier or self.every_beacon or self.adjustment_interval_ns or self.causal
        return not (self.environment.loses or wanted)

    @property
    def reliable(self) -> bool:
        """Whether receivers deliver only what every receiver has, so that nodes may fail (TO-FAIL, TO-ATOMIC)."""
        return self.failure_timeout_ns > 0


def settings(config: NodeConfig) -> Settings:
    """The settings of one node; BadInput for a missing or wrong parameter."""
    environment = config.parameters.get("environment")
    if environment not in list(Environment):
        known = ", ".join(Environment)
        raise BadInput(f"node {config.node}: parameter environment is {environment!r}; give one of {known}")
    interval = _number(config, "beacon_interval_ns", None, least=1)
    failure_timeout = _number(config, "failure_timeout_ns", 0, least=0)
    if failure_timeout and not any(with_ack for _, with_ack in Environment(environment).beacons):
        raise BadInput(
            f"node {config.node}: parameter failure_timeout_ns is {failure_timeout}, but no beacon of environment "
            f"{environment} carries an ack barrier; choose D6, D7, D8 or D9, or leave failures out"
        )
    return Settings(
        environment=Environment(str(environment)),
        beacon_interval_ns=interval,
        retransmit_timeout_ns=_number(config, "retransmit_timeout_ns", 20 * interval, least=1),
        host_flags=_switch(config, "host_flags"),
        fill_barrier=_switch(config, "fill_barrier"),
        every_beacon=_switch(config, "every_beacon") or failure_timeout > 0,
        adjustment_interval_ns=_number(config, "adjustment_interval_ns", 0, least=0),
        causal=_switch(config, "causal"),
        failure_timeout_ns=failure_timeout,
        incarnation=_number(config, "incarnation", 0, least=0),
    )


def _number(config: NodeConfig, name: str, default: int | None, *, least: int) -> int:
    given = config.parameters.get(name, default)
    if not isinstance(given, int) or given < least:
        raise BadInput(f"node {config.node}: parameter {name} is {given!r}; give a whole number of at least {least}")
    return given


def _switch(config: NodeConfig, name: str) -> bool:
    given = config.parameters.get(name, 0)
    if given not in (0, 1):
        raise BadInput(f"node {config.node}: parameter {name} is {given!r}; give 0 or 1")
    return bool(given)
