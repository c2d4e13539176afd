"""The calls of a recorded run as CallReplay.tla reads them: one tuple a row, in an order that the recorded times allow.

Calls at one moment are not known to be in any order: there, rows `called` come ahead of rows `returned`.
"""

from __future__ import annotations

from scatterproof.models.validation import Reader
from scatterproof.spec.core import Outcome
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.topology import Role
from scatterproof.spec.trace import Kind, Trace, schema

ACTIONS = ("Call", "GiveUp", "Return")
_GONE = (Kind.CRASHED, Kind.RESTARTED)


def reader_of_calls(trace: Trace, module: str, configuration: str) -> Reader:
    """The run in TLA+. CannotRun for one in which clients fail, or a call returns that was not made."""
    names, clients = schema(trace.header.protocol), trace.header.topology.clients()
    number = {client: at for at, client in enumerate(clients, 1)}
    words = {code: name for name, code in names.calls.items()}
    columns = [names.index(name) for name in ("time_ns", "kind", "node", "call", "outcome")]
    found: list[tuple[int, int, int, str]] = []
    in_call: dict[int, int] = {}
    for position, row in enumerate(trace.rows):
        time_ns, kind, node, call, outcome = (row[at] for at in columns)
        if kind in _GONE and trace.header.topology.nodes[node].role is Role.CLIENT:
            raise CannotRun(f"row {position}: a client fails; the module for calls knows of none that does")
        if kind not in (Kind.CALLED, Kind.RETURNED):
            continue
        if (kind == Kind.CALLED) == (node in in_call) or call not in words or in_call.pop(node, call) != call:
            raise CannotRun(f"row {position}: no call of a client, or one that it is not in; record each call once")
        text = f'<<"called", {number[node]}, "{words[call]}">>'
        if kind == Kind.CALLED:
            in_call[node] = call
        elif outcome not in tuple(Outcome):
            raise CannotRun(f"row {position}: a call returns without an outcome")
        else:
            text = f'<<"returned", {number[node]}, "{words[call]}", "{Outcome(outcome).name.lower()}">>'
        found.append((time_ns, kind, position, text))
    found.sort(key=lambda one: one[:2])  # stable: the rows of one client keep their order
    rows = ",\n  ".join(text for *_, text in found)
    return Reader(
        module=module,
        configuration=configuration,
        text=f"[clients |-> {len(clients)},\n  rows |-> <<\n  {rows}>>]",
        times={},
        reasons={},
        rules=(),
        positions=tuple(position for _, _, position, _ in found),
    )
