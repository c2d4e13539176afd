"""What a total-order node is set to: the parameters of its configuration, checked. Their bounds and defaults are in
spec/totalorder/parameters.toml."""

from __future__ import annotations

from dataclasses import dataclass

from scatterproof.spec.core import NodeConfig
from scatterproof.spec.errors import BadInput
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.totalorder.messages import Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Times in ns.

    beacon_interval_ns: how long a link may go without a barrier before a beacon is due.
    retransmit_timeout_ns: how long a host waits for an acknowledgement the first time.
    retransmit_doublings: how often that doubles, with every resending, while a message stays unacknowledged.
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
    retransmit_doublings: int
    host_flags: bool
    fill_barrier: bool
    every_beacon: bool
    adjustment_interval_ns: int
    causal: bool
    failure_timeout_ns: int
    incarnation: int

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
        return bool(self.failure_timeout_ns)


def settings(config: NodeConfig) -> Settings:
    """The settings of one node; BadInput for a missing or wrong parameter."""
    given = Parameters("totalorder", config.parameters, f"node {config.node}")
    environment = Environment(str(given["environment"]))
    failure_timeout = given.number("failure_timeout_ns")
    if failure_timeout and not any(with_ack for _, with_ack in environment.beacons):
        raise BadInput(
            f"node {config.node}: parameter failure_timeout_ns is {failure_timeout}, but no beacon of environment "
            f"{environment} carries an ack barrier; choose D6, D7, D8 or D9, or leave failures out"
        )
    return Settings(
        environment=environment,
        beacon_interval_ns=given.number("beacon_interval_ns"),
        retransmit_timeout_ns=given.number("retransmit_timeout_ns"),
        retransmit_doublings=given.number("retransmit_doublings"),
        host_flags=bool(given["host_flags"]),
        fill_barrier=bool(given["fill_barrier"]),
        every_beacon=bool(given["every_beacon"]) or failure_timeout > 0,
        adjustment_interval_ns=given.number("adjustment_interval_ns"),
        causal=bool(given["causal"]),
        failure_timeout_ns=failure_timeout,
        incarnation=given.number("incarnation"),
    )
