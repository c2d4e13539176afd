"""The reference with one damaged rule, as a process with real sockets: `python mutants_udp.py NAME`."""

from __future__ import annotations

import dataclasses
import sys
from functools import partial

from scatterproof.impl import totalorder
from scatterproof.impl.drivers import udp
from scatterproof.impl.totalorder import RULES, Rules

MUTANTS: dict[str, Rules] = {
    "max-for-min": dataclasses.replace(RULES, aggregate=max),
    "loss-ignored": dataclasses.replace(
        RULES, deliverable_under_loss=lambda timestamp, barrier, ack, record: timestamp < barrier
    ),
    "resent-with-its-old-barrier": dataclasses.replace(RULES, resent_barrier=lambda timestamp, current: timestamp),
    "speaks-at-once": dataclasses.replace(RULES, may_tell=lambda restarted, value: True),
}


def main() -> int:
    damaged = partial(totalorder.make_core, rules=MUTANTS[sys.argv.pop(1)])
    vars(totalorder)["make_core"] = damaged  # which is what the driver asks for
    return udp.main()


if __name__ == "__main__":
    sys.exit(main())
