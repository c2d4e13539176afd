"""What every row of a trace must be before a check may look at it: nodes and links of packets are in range, so that no
step can reach outside its arrays, compiled or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from spec.errors import BadInput
from spec.topology import Topology
from spec.trace import Kind, Row

Columns: TypeAlias = Mapping[str, npt.NDArray[np.int64]]


def columns_of_rows(
    rows: Sequence[Row], names: Sequence[str], place: str = "trace"
) -> dict[str, npt.NDArray[np.int64]]:
    """The rows as one contiguous int64 array a column. BadInput for a row that is no row of integers of 64 bits."""
    for position, row in enumerate(rows):
        if len(row) != len(names):
            raise BadInput(f"{place}: row {position} has {len(row)} columns; give the {len(names)} of the schema")
    try:
        table = np.array(rows, dtype=np.int64).reshape(len(rows), len(names))
    except OverflowError:
        at = next(n for n, row in enumerate(rows) if any(not -(1 << 63) <= value < 1 << 63 for value in row))
        raise BadInput(f"{place}: row {at} has a number of more than 64 bits; times are ns in signed 64 bits") from None
    return {name: np.ascontiguousarray(table[:, at]) for at, name in enumerate(names)}


def refuse_bad_rows(columns: Columns, topology: Topology, *, base: int = 0, place: str = "trace") -> None:
    """Raise BadInput for the first row, counted from `base`, whose kind, node or link cannot be."""
    kind, node, link = columns["kind"], columns["node"], columns["link"]
    nodes, links = len(topology.nodes), len(topology.links)
    source = np.array([end.source for end in topology.links], dtype=np.int64)
    target = np.array([end.target for end in topology.links], dtype=np.int64)

    def refuse(bad: npt.NDArray[np.bool_], column: npt.NDArray[np.int64], duty: str) -> None:
        if bad.any():
            at = int(bad.argmax())
            raise BadInput(f"{place}: row {base + at} has {duty.format(found=int(column[at]))}")

    kinds = f"kind {{found}}; the kinds are {', '.join(f'{k.value} {k.name.lower()}' for k in Kind)}"
    refuse((kind < min(Kind)) | (kind > max(Kind)), kind, kinds)
    ended = kind == Kind.ENDED
    refuse(((node < 0) | (node >= nodes)) & ~ended, node, f"node {{found}}; nodes are 0 to {nodes - 1}")
    sent = (kind == Kind.SENT) | (kind == Kind.LOST)
    arrived = kind == Kind.ARRIVED
    refuse((sent | arrived) & ((link < 0) | (link >= links)), link, f"link {{found}}; links are 0 to {links - 1}")
    if links:
        near = np.where(sent | arrived, link, 0)
        refuse(sent & (source[near] != node), link, "link {found}, which is no egress link of its node")
        refuse(arrived & (target[near] != node), link, "link {found}, which is no ingress link of its node")


def refuse_rows_after_end(columns: Columns, *, ended: bool, place: str = "trace") -> bool:
    """Whether the run ended in these rows, or before them (`ended`); BadInput when rows follow the end."""
    ends = np.flatnonzero(columns["kind"] == Kind.ENDED)
    count = len(columns["kind"])
    if (ended and count) or (len(ends) and int(ends[0]) != count - 1):
        raise BadInput(f"{place}: rows follow the row 'ended'; put it last, and one run into a trace")
    return ended or len(ends) > 0
