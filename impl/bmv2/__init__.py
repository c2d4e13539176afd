"""BMv2, the reference software switch for P4, as a target beside the embedded one.

    with Bmv2Switch(Path("router.json"), ports=8, cpu_port=255) as switch:   # CannotRun where BMv2 is not installed
        switch.tables["Ingress.ipv4_lpm"].add(Entry(...))                    # as on scatterproof.impl.v1model.Switch
        switch.process(0, packet)                                           # [(port, bytes), ...]
        switch.paced(packets, rate=8_000)

`simple_switch_grpc` runs in a network namespace of its own with a veth pair for each port. Beside it lives one child
process of ours (`agent`), which holds the far ends of the ports and a P4Runtime session, and takes requests from here.
The namespace has no name: it ends with these two, and each of them is killed by the kernel when its parent ends, so a
crash leaves nothing behind and there is nothing to remove at the next start.

When has a packet been dealt with? Neither a sentinel packet (it would change the program's state, and may be dropped)
nor a quiet period (it depends on the machine's load) decides, but the kernel: all threads of the switch sleep (`rest`),
and as many frames have come to our ends of the veth pairs as the switch's ends have sent.

`python -m scatterproof.impl.bmv2.record` records runs, which are replayed on the embedded target (`recording`).
"""

from __future__ import annotations

from scatterproof.impl.bmv2.session import find, version
from scatterproof.impl.bmv2.switch import Bmv2Switch, Paced

__all__ = ["Bmv2Switch", "Paced", "find", "version"]
