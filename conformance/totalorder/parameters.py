"""The parameters of a total-order run as integers for the checks, and which clauses apply under them."""

from __future__ import annotations

from collections.abc import Mapping

from scatterproof.spec.core import Parameter
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.totalorder.messages import Environment

# Environments as the integers that checks compare.
ENVIRONMENT_CODES = {environment: code for code, environment in enumerate(Environment)}
SWITCH_CODES = {"one": 0, "two": 1, "proxy": 2}

_NUMBERS = (
    *("beacon_interval_ns", "retransmit_timeout_ns", "adjustment_interval_ns", "failure_timeout_ns"),
    *("processor_delay_ns", "forwarding_delay_ns", "causal"),
)

# Clauses of environment D and E: they speak of acknowledgements, ack barriers and loss records.
UNDER_LOSS = frozenset(
    f"TO-{name}"
    for name in (
        *("SEQ", "DUPACK", "RETX", "RETX-BAR", "SWLOSS", "LASTHOP", "LOSSCTR", "ACK-MEAN", "ACK-INIT", "ACK-IDLE"),
        *("ACK-MIN", "FLAG-HOST", "FLAG-SW", "FLAG-RX", "FLAG-BEACON", "LOSS-SAFE"),
    )
)
_WITH_FAILURES = frozenset({"TO-FAIL", "TO-ATOMIC"})
# What a switch must put on a packet at that very moment; one with two processors, or a proxy, may say it later.
_AT_ONCE = frozenset({"TO-SWLOSS", "TO-FLAG-SW", "TO-FLAG-BEACON", "TO-BAR-PART"})


def parameters(given: Mapping[str, Parameter]) -> dict[str, int]:
    """The parameters that checks read, under their own names; `environment` and `switch` as codes, `loses` for whether
    links may lose packets, `late` for whether a switch's beacon may be late. Raises BadInput for an invalid one."""
    values = Parameters("totalorder", given)
    environment = Environment(str(values["environment"]))
    switch = str(values["switch"])
    return {
        "environment": ENVIRONMENT_CODES[environment],
        "switch": SWITCH_CODES[switch],
        "loses": int(environment.loses),
        "late": int(switch != "one"),
        "fill_barrier": int(environment.data_carry_barriers) and values.number("fill_barrier"),
        **{name: values.number(name) for name in _NUMBERS},
    }


def not_applicable(clause: str, given: Mapping[str, Parameter]) -> str | None:
    """Why the clause does not apply under these parameters, or None."""
    environment = Environment(str(given["environment"]))
    if clause.startswith("TO-ENV-") and clause != f"TO-ENV-{environment}":
        return f"the run is in environment {environment}"
    if clause.startswith("TO-FMT-") and environment != f"D{clause.removeprefix('TO-FMT-')}":
        return f"the run is in environment {environment}"
    if clause in UNDER_LOSS and not environment.loses:
        return f"the run is in environment {environment}, without loss"
    if clause.startswith("TO-ADJ-") and not given.get("adjustment_interval_ns", 0):
        return "adjustment_interval_ns is 0: timestamps are not adjusted"
    if given.get("failure_timeout_ns", 0) and clause == "TO-BEACON-MIN":
        return "failures are handled: silence means one, so that no beacon may be withheld"
    if given.get("switch", "one") != "one" and clause in _AT_ONCE:
        return "switches may send late what they know: at which packet, nobody can tell from outside"
    return _not_chosen(clause, environment, given)


def _not_chosen(clause: str, environment: Environment, given: Mapping[str, Parameter]) -> str | None:
    """Why a variant's clause does not apply: the run has not chosen it, or its environment leaves no choice."""
    match clause:
        case "TO-FLAG-HOST" if not given.get("host_flags", 0):
            return "host_flags is 0: hosts leave the loss flag to the switches"
        case "TO-CAUSAL" if not given.get("causal", 0):
            return "causal is 0: replies may be ordered at or below what they answer"
        case "TO-BAR-FILL" if not given.get("fill_barrier", 0):
            return "fill_barrier is 0: hosts write their barriers themselves"
        case "TO-BAR-FILL" if not environment.data_carry_barriers:
            return f"data messages carry no barrier in environment {environment}"
        case "TO-BEACON-MIN" if given.get("every_beacon") != 0:
            return "every_beacon is not given as 0: switches are free to withhold no beacon"
        case "TO-BEACON-MIN" | "TO-SW-PATH" | "TO-FLAG-BEACON" | "TO-ACK-IDLE" if not environment.beacons:
            return f"there are no beacons in environment {environment}"
        case "TO-SW-PATH" if not any(with_barrier for with_barrier, _ in environment.beacons):
            return f"beacons carry no barrier in environment {environment}"
        case "TO-RETX-BAR" if not environment.data_carry_barriers:
            return f"data messages carry no barrier in environment {environment}"
        case _ if clause in _WITH_FAILURES and not given.get("failure_timeout_ns", 0):
            return "failure_timeout_ns is 0: nobody is held to notice failures"
        case _:
            return None
