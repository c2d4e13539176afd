"""Publish and subscribe, as the shared machinery sees it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from scatterproof.conformance.checks.surroundings import Surroundings
from scatterproof.conformance.protocol import Case, Judges, Plugin
from scatterproof.conformance.pubsub import vocabulary
from scatterproof.conformance.pubsub.labels import label
from scatterproof.conformance.pubsub.recording import Recorder
from scatterproof.spec.core import Parameter
from scatterproof.spec.errors import BadInput
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.schedule import FailureKind, Schedule
from scatterproof.spec.topology import NodeId, Topology
from scatterproof.spec.trace import Header

if TYPE_CHECKING:
    from scatterproof.conformance.adapters.products import Product
    from scatterproof.conformance.pubsub.view import View

OF_SESSIONS = ("PS-SESSION", "PS-QOS-GD", "PS-PERSISTED", "PS-RETAIN", "PS-EXPIRE", "PS-SHARED")


def horizon_ns(schedule: Schedule) -> int:
    """When a run has surely settled, in ns: after the last call or failure, all tries of all calls in turn, a wait for
    each fault and for each hop of the longest way there and back, and all delays. Clocks may be slow by half."""
    given = Parameters("pubsub", schedule.parameters)
    retry_ns, hops = given.number("retry_ns"), given.number("appliances") + 1
    delay = max((delay.base_ns + delay.jitter_ns for delay in schedule.delays), default=0)
    waits = len(schedule.calls) * given.number("tries") + len(schedule.faults) + 2 * hops
    late = sum(fault.delay_ns for fault in schedule.faults)
    return schedule.last_ns + 2 * waits * retry_ns + 4 * hops * delay + late + 1


def parameters(given: Mapping[str, Parameter]) -> dict[str, int]:
    """The parameters that checks read, as numbers. Raises BadInput for an invalid one."""
    chosen = Parameters("pubsub", given)
    for name in ("appliances", "retry_ns", "tries", "resends", "sessions"):
        chosen.number(name)
    return {
        **vocabulary.counts(given),
        "appliances": chosen.number("appliances"),
        "takes_all_paths": int(chosen["paths"] == "all"),
        "takes_the_best": int(chosen["paths"] == "best"),
    }


def not_applicable(clause: str, given: Mapping[str, Parameter]) -> str | None:
    if clause in OF_SESSIONS and Parameters("pubsub", given).number("sessions") == 0:
        return "clients are connected all the while, and nothing is retained"
    paths = Parameters("pubsub", given)["paths"]
    takes_all_paths = paths == "all"
    if clause == "PS-NEIGHBOUR" and paths != "best":
        return "there is one link to each neighbour"
    if clause == "PS-MULTIPATH" and not takes_all_paths:
        return "each message takes one way"
    if clause == "PS-COVER" and takes_all_paths:
        return "messages go everywhere, and nobody is told what is wanted"
    return None


def _tables(topology: Topology, given: Mapping[str, Parameter]) -> Surroundings:
    """The arrays that checks read. Raises BadInput for a ring where messages take one way, since subscriptions would
    circle in it for ever, and for several links between two appliances where messages do not take the best."""
    hosts, paths = len(topology.hosts()), Parameters("pubsub", given)["paths"]
    links = [(link.source, link.target) for link in topology.links if link.source < link.target < hosts]
    between = len(set(links))
    if between > hosts - 1 and paths != "all":
        raise BadInput(
            f"topology: {hosts} appliances are joined by {between} pairs of links, and messages take one way; join "
            'them as a tree, or give parameter paths = "all"'
        )
    if len(links) > between and paths != "best":
        raise BadInput(
            'topology: two appliances are joined more than once; join them once, or give parameter paths = "best"'
        )
    return vocabulary.arrays(given)


def _without_node(given: Mapping[str, Parameter], node: NodeId) -> dict[str, Parameter]:
    """The parameters without this node: one appliance less, if it is one."""
    appliances = Parameters("pubsub", given).number("appliances")
    return {**given, "appliances": appliances - (node < appliances)}


@cache
def _judges() -> Judges:
    from scatterproof.conformance.checks.premises import with_common
    from scatterproof.conformance.pubsub import (
        answer_checks,
        answer_oracles,
        checks,
        keeping_checks,
        keeping_oracles,
        neighbour_checks,
        neighbour_oracles,
        oracles,
        path_checks,
        path_oracles,
        session_checks,
        session_oracles,
        shared_checks,
        shared_oracles,
    )

    checking = (checks, session_checks, keeping_checks, shared_checks, path_checks, neighbour_checks, answer_checks)
    others = (path_oracles, neighbour_oracles, answer_oracles)
    written = (oracles, session_oracles, keeping_oracles, shared_oracles, *others)
    found = tuple(one for module in checking for one in module.HERE)
    judging = {name: oracle for module in written for name, oracle in module.ORACLES.items()}
    return Judges(checks=found, oracles=judging, premises=with_common("pubsub"))


def _cases() -> tuple[Case, ...]:
    from scatterproof.conformance.pubsub.cases import CASES

    return CASES


def _products() -> tuple[Product, ...]:
    from scatterproof.conformance.pubsub.products.every import PRODUCTS

    return PRODUCTS


def _view(header: Header) -> View:
    # It reads the tables of the checks, which lists do not need.
    from scatterproof.conformance.pubsub.view import View

    return View(header)


PLUGIN = Plugin(
    name="pubsub",
    judges=_judges,
    products=_products,
    cases=_cases,
    recorder=Recorder,
    horizon_ns=horizon_ns,
    label=label,
    parameters=parameters,
    not_applicable=not_applicable,
    tables=_tables,
    without_node=_without_node,
    view=_view,
    # Packets may be lost, late, reordered and duplicated, links cut; nodes may pause, and lose nothing.
    allowed_failures=frozenset({FailureKind.PAUSE, FailureKind.RESUME, FailureKind.CUT, FailureKind.MEND}),
    fifo_links=False,
)
