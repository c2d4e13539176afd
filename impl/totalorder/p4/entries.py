"""What a controller writes into a switch, as data: the same for the embedded target and for P4Runtime."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

INGRESS_LINK = "SwitchIngress.ingress_link.ingress_link"
STRUCTURE = "SwitchIngress.check_link.structure"
HOSTS = "SwitchIngress.take_link.hosts"
ONWARD = "SwitchIngress.onward.onward"
HANDOVER = "SwitchIngress.handover.handover"
RETURNED_TO = "SwitchIngress.handover.returned_to"
RETURNED_STRUCTURE = "SwitchIngress.handover.returned_structure"
PROXY = "SwitchIngress.hand_over.proxy"
EGRESS_LINK = "SwitchEgress.egress_link.egress_link"
TABLES = (
    INGRESS_LINK,
    STRUCTURE,
    HOSTS,
    ONWARD,
    HANDOVER,
    RETURNED_TO,
    RETURNED_STRUCTURE,
    PROXY,
    EGRESS_LINK,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableEntry:
    """One entry, all of its keys exact. action: without the name of its control, which is the table's."""

    table: str
    match: Mapping[str, int]
    action: str
    params: Mapping[str, int]

    @property
    def action_name(self) -> str:
        return f"{self.table.rpartition('.')[0]}.{self.action}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MulticastGroup:
    """A multicast group. replicas: (port, instance), in the order in which they leave: instances rise."""

    number: int
    replicas: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """All that a switch is told. clone_session leads to the CPU port."""

    tables: tuple[TableEntry, ...]
    groups: tuple[MulticastGroup, ...]
    clone_session: int = 1
