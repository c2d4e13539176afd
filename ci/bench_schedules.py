"""Schedules that several benchmarks run."""

from __future__ import annotations

from random import Random

from scatterproof.spec.schedule import Delay, Message, Schedule, Submission, validate
from scatterproof.spec.topology import Topology

PROTOCOL = "totalorder"


def busy_schedule(topology: Topology, submissions: int, seed: int = 1) -> Schedule:
    """Environment C: every host scatters to three others, many times in a beacon interval."""
    everyone = range(len(topology.hosts()))
    draw, span = Random(seed), 20_000 * submissions // len(everyone)
    return validate(
        Schedule(
            protocol=PROTOCOL,
            topology=topology,
            delays=tuple(Delay(1_000, 500) for _ in topology.links),
            submissions=tuple(
                Submission(
                    draw.randrange(span),
                    draw.randrange(len(everyone)),
                    tuple(Message(receiver, b"message %d" % n) for receiver in draw.sample(everyone, 3)),
                )
                for n in range(submissions)
            ),
            parameters={"environment": "C", "beacon_interval_ns": 50_000},
            seed=seed,
        )
    )
