"""Benchmarks of topics and filters in one process: lookups, and updates to a neighbour, by number of subscriptions."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from scatterproof.impl.pubsub.filters import GRAMMARS
from scatterproof.impl.pubsub.running.propagation import Propagation
from scatterproof.impl.pubsub.topic_tree import TopicTree

LOOKUPS = 300
_PAGE = os.sysconf("SC_PAGE_SIZE")


def matching(subscriptions: tuple[int, ...]) -> Iterator[tuple[str, str]]:
    """Time of a lookup that ten filters match, whatever the number of filters."""
    native, spent, used = GRAMMARS["document"], [], 0.0
    for number in subscriptions:
        before = resident(os.getpid())
        tree: TopicTree[int, int] = TopicTree()
        for one in range(number):
            text = f"site.r{one % 1000}.s{one}.*" if one % 2 else f"site.*.s{one}.heat"
            tree.put(native.filter(text), one, 1)
        for one in range(10):
            tree.put(native.filter(f"site.r7.{'*' if one % 2 else 's'}.heat"), -1 - one, 1)
        used = (resident(os.getpid()) - before) / number
        topic = native.topic("site.r7.s.heat")
        took = []
        for _ in range(LOOKUPS):
            start = time.perf_counter()
            found = tree.find(topic)
            took.append((time.perf_counter() - start) * 1e6)
        assert len(found) == 10
        spent.append(median(took))
    yield (
        f"publish and subscribe, lookup among {', '.join(f'{one:,}' for one in subscriptions)} subscriptions",
        ", ".join(f"{one:.1f}" for one in spent) + f" us (median); {used:.0f} bytes each in the largest",
    )


def telling(numbers: tuple[int, ...]) -> Iterator[tuple[str, str]]:
    """Time to add filters with wildcards to what a neighbour is told, and to remove them again."""
    spent = []
    for number in numbers:
        kept, start = Propagation(), time.perf_counter()
        wants = [(f"site.r{one % 100}.s{one}.*", "") for one in range(number)]
        for want in wants:
            kept.add(want)
        for want in wants:
            kept.remove(want)
        spent.append((time.perf_counter() - start) * 1e6 / number)
    yield (
        f"publish and subscribe, telling a neighbour of {', '.join(f'{one:,}' for one in numbers)} filters",
        ", ".join(f"{one:.1f}" for one in spent) + " us each, and that they are wanted no more",
    )


def resident(pid: int) -> int:
    """Resident memory of a process, in bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
