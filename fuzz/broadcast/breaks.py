"""For each clause a mutant that breaks it in one of the cases that are about it: no clause is checked in vain."""

from __future__ import annotations

BREAKS = {
    "BC-PL-RELIABLE": "uniform/drops",
    "BC-PL-ONCE": "link/delivers-copies",
    "BC-PL-REAL": "begun/not-said",
    "BC-PL-PSEQ": "link/other-contents-when-resent",
    "BC-PL-RESEND": "link/never-acknowledges",
    "BC-PL-MEMORY": "literal/BC-PL-MEMORY-lit-1",
    "BC-URB-VALID": "forwards_to/nobody",
    "BC-URB-ONCE": "link/delivers-copies",
    "BC-URB-REAL": "uniform/other-contents",
    "BC-URB-AGREE": "heard_first/own-alone",
    "BC-URB-SELF": "heard_first/own-alone",
    "BC-URB-MAJ": "forwards_to/not-to-the-creator",
    "BC-URB-GC": "begun/not-said",
    "BC-URB-MINORITY": "uniform/delivers-own-at-once",
    "BC-FIFO-ORDER": "in_turn/always",
    "BC-FIFO-FLOW": "literal/BC-FIFO-FLOW-lit-1",
    "BC-LCB-CAUSAL": "order/swaps",
    "BC-LCB-LOCAL": "literal/BC-LCB-LOCAL-lit-1",
    "BC-LCB-FIFO": "order/swaps",
    "BC-LCB-CLOCKS": "attached/own-unset",
    "BC-LCB-CHECK": "literal/BC-LCB-CHECK-lit-1",
}
