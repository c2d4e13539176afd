"""What must be known beside its logs of a run that somebody else has made."""

from __future__ import annotations

import msgspec

from scatterproof.spec.core import Parameter
from scatterproof.spec.topology import NodeId, Topology
from scatterproof.spec.trace import Order

VERSION = 1


class RecordedRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What must be known to judge the logs of a folder.

    clean: the run ended as planned: nobody was stopped while something was still to happen.
    order: `link` when each log has a clock of its own, `global` when time_ns of all logs is of one clock.
    complete: for each kind of event the nodes that have logged every one of them; when it is left out, every kind and
        every node that has a log, if the run is clean, and else none: what a log that breaks off has left out, nobody
        knows.
    notes: what else there is to say of the run.
    """

    protocol: str
    topology: Topology
    parameters: dict[str, Parameter]
    clean: bool = False
    order: Order = Order.LINK
    complete: dict[str, tuple[NodeId, ...]] | None = None
    seed: int = 0
    notes: tuple[str, ...] = ()
    format: int = VERSION
