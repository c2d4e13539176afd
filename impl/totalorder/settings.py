"""What a total-order node is set to: the parameters of its configuration, checked."""

from __future__ import annotations

from dataclasses import dataclass

from spec.core import NodeConfig
from spec.errors import BadInput
from spec.totalorder.messages import Environment


@dataclass(frozen=True, slots=True)
class Settings:
    """The environment, and how long a link may go without a barrier before a beacon is due."""

    environment: Environment
    beacon_interval_ns: int

    @property
    def data_carry_barriers(self) -> bool:
        return self.environment is not Environment.B

    @property
    def beacons_exist(self) -> bool:
        return self.environment is not Environment.A


def settings(config: NodeConfig) -> Settings:
    """The settings of one node; BadInput for a missing or wrong parameter."""
    environment = config.parameters.get("environment")
    interval = config.parameters.get("beacon_interval_ns")
    if environment not in list(Environment):
        known = ", ".join(Environment)
        raise BadInput(f"node {config.node}: parameter environment is {environment!r}; give one of {known}")
    if not isinstance(interval, int) or interval < 1:
        raise BadInput(
            f"node {config.node}: parameter beacon_interval_ns is {interval!r}; give a whole number of at least 1"
        )
    return Settings(Environment(str(environment)), interval)
