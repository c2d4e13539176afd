"""For each clause a mutant that breaks it in one of the cases that are about it: no clause is checked in vain."""

from __future__ import annotations

BREAKS = {
    "PS-ROUTE": "appliance/copy-for-each-filter",
    "PS-ORDER": "is_next/any",
    "PS-QOS-LEVEL": "delivered_level/published",
    "PS-COVER": "stays_home/never",
    "PS-NEIGHBOUR": "sent_again/nothing",
    "PS-MULTIPATH": "is_first/any",
    "PS-ANSWER": "appliance/mute",
}
