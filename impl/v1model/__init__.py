"""An embedded target for P4-16 programs of the v1model architecture: it runs what `p4c-bm2-ss` compiled, in pure
Python.

    program = load(Path("router.json"))                       # BadInput names what is not implemented, and where
    switch = EmbeddedSwitch(program, ports=8, cpu_port=255)   # or ports=[1, 2, 5]; one program serves many switches
    switch.tables["Ingress.ipv4_lpm"].add(
        ControlEntry({"hdr.ipv4.dstAddr": Lpm(0x0A000000, 8)}, "Ingress.forward", {"port": 1}))
    switch.process(0, packet, now_us=17)                      # [(port, bytes), ...], all that leaves, in order

Names are those of the compiled program (`Ingress.ipv4_lpm`, key `hdr.ipv4.dstAddr`, action `Ingress.forward`, parameter
`port`); values are plain ints.

- `P4Program` is immutable: `program.source` is the Python source made from the JSON, `program.tables` says keys,
  widths, actions and sizes of each table. `load(content, place="router.json")` takes bytes, too.
- `EmbeddedSwitch(program, *, ports, cpu_port=None, drop_port=511, priority_queues=1, seed=0)`. What is sent to a port
  outside `ports` (and not `cpu_port`) is lost, as on a switch without that interface. `process(port, data, now_us=0)`
  runs one packet to its end: its copies, clones, resubmissions and recirculations too. `now_us` is what the time
  stamps show. Packets to and from `cpu_port` are plain bytes: a controller header is a header of the program's own.
- `switch.tables[name]`: `add(entry)`, `modify(entry)`, `delete(match, priority=0)`, `default(action, params)`,
  `reset_default()`, `entries()`, `counter(match, priority=0)`, `set_meter(match, config, priority=0)`, `clear()`.
- `ControlEntry(match, action, params, priority=0)`. A match maps key names to values: an int for exact (and for
  optional, which is ternary in BMv2 JSON), `Lpm(value, prefix)`, `Ternary(value, mask)`, `Range(low, high)`. A key
  that is left out matches everything (not allowed for exact). `params` is a mapping by name or a sequence in order.
  The greater priority wins, as in P4Runtime; it must be positive exactly where a table has a ternary, optional or
  range key.
- A table with an action profile has `Member(number)` or `SelectorGroup(number)` in place of the action. They are made
  by `switch.profiles[name]`: `add_member(number, action, params)`, `modify_member`, `delete_member`, and for a selector
  `set_group(number, members)`, `delete_group`.
- Errors of the control plane are `ControlError` with P4Runtime's `code`: ALREADY_EXISTS, NOT_FOUND, INVALID_ARGUMENT,
  OUT_OF_RANGE (a value wider than its field), RESOURCE_EXHAUSTED (table full), PERMISSION_DENIED (const table or
  default).
- `switch.multicast.set(group, [(port, instance), ...])`, `switch.clone_sessions.set(session, [(port, instance), ...])`,
  both with `delete(number)`. Replicas leave by instance, then port.
- `switch.registers[name][index]` to read and write, `switch.counters[name][index] -> CounterValue(packets, bytes)`,
  `switch.meters[name].set(index, MeterConfig(...))`, `switch.value_sets[name].add(value, ...)`,
  `switch.take_digests() -> [Digest(name, fields)]`.

Semantics are those of simple_switch. Where P4 leaves a value undefined, this target is deterministic: a field of a
header that was never valid reads 0, an index outside a header stack reads 0 and writes nothing, division by zero
gives 0. `python -m scatterproof.impl.v1model PROGRAM.json --source` prints the generated source.
"""

from __future__ import annotations

from scatterproof.impl.v1model.control import (
    Code,
    ControlEntry,
    ControlError,
    Lpm,
    Match,
    Member,
    Range,
    SelectorGroup,
    Ternary,
)
from scatterproof.impl.v1model.program import P4Program, load
from scatterproof.impl.v1model.state import CounterValue, Digest, MeterConfig
from scatterproof.impl.v1model.switch import Aborted, EmbeddedSwitch

__all__ = [
    "Aborted",
    "Code",
    "ControlEntry",
    "ControlError",
    "CounterValue",
    "Digest",
    "EmbeddedSwitch",
    "Lpm",
    "Match",
    "Member",
    "MeterConfig",
    "P4Program",
    "Range",
    "SelectorGroup",
    "Ternary",
    "load",
]
