"""Senders and receivers as processes, killed in the middle of their work again and again, and what must hold after it.

    python -m scatterproof.impl.workqueue.tests.crashing STORE KILLS [SEED]

STORE is an address, or `postgresql` for a server of its own.
Each process appends to a log of its own what it does, a line a step, which the end of the process does not take back.
Exit codes: 0 all held, 1 something did not.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from random import Random
from threading import Event

from scatterproof.impl.workqueue.cleaning import Cleaning
from scatterproof.impl.workqueue.handling import Context
from scatterproof.impl.workqueue.receiver import Receiver
from scatterproof.impl.workqueue.sender import Sender
from scatterproof.impl.workqueue.stores.access import GroupMessage, LockedGroup, Refused
from scatterproof.impl.workqueue.stores.opening import factory
from scatterproof.impl.workqueue.stores.tests.cluster import cluster
from scatterproof.impl.workqueue.worker import Policy

CORRELATIONS, MOST_MESSAGES, MOST_WAITING = 4, 4, 60
SENDERS, RECEIVERS, WORKERS = 2, 3, 2
# A dead sender's group blocks its correlation until it is cleaned away; a dead receiver is followed by another one.
CLEANING = Cleaning(senders_ms=300, receivers_ms=15_000, every_ms=50)
LIMIT_S = 120.0


@dataclass(frozen=True, slots=True)
class Handed:
    """A message that was given to a handler. of: how many messages its group has."""

    time_ns: int
    correlation: str
    group: int
    message: int
    of: int
    token: int


class Log:
    """Whole lines, which stay whatever becomes of the process."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def __call__(self, *words: object) -> None:
        os.write(self._file, (" ".join(map(str, words)) + "\n").encode())


class Logging:
    """A handler that logs what it is handed, and has nothing to do beside."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def start_group(self, group: LockedGroup, context: Context) -> None: ...

    def process(self, message: GroupMessage, group: LockedGroup, context: Context) -> bool:
        of = int(message.body)
        self._log("handed", time.monotonic_ns(), group.correlation, group.group, message.message, of, group.token)
        return True

    def end_group(self, group: LockedGroup) -> None: ...


def send(address: str, log_path: Path, name: str, seed: int) -> None:
    """Send groups without end."""
    log, draw = Log(log_path), Random(seed)
    make = factory(address)
    sender, watching = Sender(make, name), make()
    while True:
        found = watching.contents()
        if found.ready + found.waiting > MOST_WAITING:
            os.sched_yield()
            continue
        messages = draw.randint(1, MOST_MESSAGES)
        try:
            group = sender.begin_group(1, draw.randint(1, 3), f"c{draw.randrange(CORRELATIONS)}")
            for _ in range(messages):
                sender.send(str(messages).encode())
            log("ending", group, messages)
            sender.end_group()
            log("ended", group, messages)
        except Refused:
            log("refused")


def receive(address: str, log_path: Path, name: str) -> None:
    """Receive without end."""
    log = Log(log_path)
    receiver = _receiver(address, log, name)
    receiver.start(background=False)


def _receiver(address: str, log: Log, name: str) -> Receiver:
    return Receiver(
        factory(address),
        lambda: Logging(log),
        name,
        service_limit=WORKERS,
        poll_interval_ms=5,
        policy=Policy(retry_ms=5),
        cleaning=CLEANING,
    )


def campaign(address: str, folder: Path, kills: int, seed: int = 1) -> list[str]:
    """Kill processes so often, each followed by another of the same name; then let all that is left be processed. What
    did not hold."""
    context = multiprocessing.get_context("forkserver")
    # Both kinds of stores are imported once, and not anew by each process, which would be killed while it imports.
    stores = [f"scatterproof.impl.workqueue.stores.{kind}" for kind in ("sqlite", "postgresql")]
    context.set_forkserver_preload(["scatterproof.impl.workqueue.tests.crashing", *stores])
    draw = Random(seed)
    access = factory(address)()
    names = [f"sender-{n}" for n in range(SENDERS)] + [f"receiver-{n}" for n in range(RECEIVERS)]
    begun = 0

    def start(name: str) -> ForkServerProcess:
        nonlocal begun
        begun += 1
        path = folder / f"{name}.{begun}"
        if name.startswith("sender"):
            process = context.Process(target=send, args=(address, path, name, seed * 100_003 + begun), daemon=True)
        else:
            process = context.Process(target=receive, args=(address, path, name), daemon=True)
        process.start()
        return process

    running = {name: start(name) for name in names}
    try:
        for _ in range(kills):
            name = draw.choice(names)
            process = running[name]
            # Not to wait for anything: so long it works before it is killed.
            process.join(draw.uniform(0.0, 0.06))
            process.kill()
            process.join()
            running[name] = start(name)
    finally:
        for process in running.values():
            process.kill()
            process.join()
    left = _finish(address, folder)
    access.close()
    return [*left, *judge(folder)]


def _finish(address: str, folder: Path) -> list[str]:
    """Process all that is left; what stays nevertheless."""
    access = factory(address)()
    # What a killed process had asked for last may have been done after another one began under its name: a start alone
    # does not release that. Cleaning does.
    access.clean(1 << 62, 1 << 62)
    receiver = _receiver(address, Log(folder / "receiver-last"), "receiver-0")
    receiver.start()
    waiting, until = Event(), time.monotonic() + LIMIT_S
    while (found := access.contents()).messages and time.monotonic() < until:
        waiting.wait(0.01)
        access.clean(1 << 62, 0)
    receiver.stop()
    receiver.wait()
    access.close()
    return [f"in the end there still is {found}"] if found.messages or found.sending else []


def judge(folder: Path) -> list[str]:
    """What the logs show that must not be."""
    handed: list[Handed] = []
    ending: dict[int, int] = {}
    ended: dict[int, int] = {}
    for path in sorted(folder.iterdir()):
        for line in path.read_text().splitlines():
            kind, *words = line.split()
            if kind == "handed":
                moment, correlation, *numbers = words
                handed.append(Handed(int(moment), correlation, *map(int, numbers)))
            elif kind in ("ending", "ended"):
                (ending if kind == "ending" else ended)[int(words[0])] = int(words[1])
    return list(wrongs(sorted(handed, key=lambda one: one.time_ns), ending, ended))


def wrongs(handed: Sequence[Handed], ending: dict[int, int], ended: dict[int, int]) -> Iterable[str]:
    """handed: in the order of time. ending: by group, how many messages it has, where its sender called end_group;
    ended: where that returned."""
    if not handed or not ended:
        yield "nothing happened"
    seen: dict[int, set[int]] = defaultdict(set)
    last: dict[str, Handed] = {}
    for one in handed:
        if one.group not in ending:
            yield f"Q-LOCK-SEND: group {one.group} was handed out, and never ended"
        before = last.get(one.correlation)
        if before is not None and (before.group, before.message) > (one.group, one.message):
            yield f"Q-ORDER-CORR, Q-ORDER-MSG: {one} after {before}"
        if before is not None and before.group == one.group and before.token > one.token:
            yield f"Q-ONCE: {one} by an earlier holder after {before}"
        if before is not None and (before.group, before.message, before.token) == (one.group, one.message, one.token):
            yield f"Q-ONCE: {one} twice by one holder"
        if one.message != 1 and one.message - 1 not in seen[one.group]:
            yield f"Q-ORDER-MSG: {one} with none before it"
        last[one.correlation] = one
        seen[one.group].add(one.message)
        if len(seen[one.group]) > one.of or one.of != ending.get(one.group, one.of):
            yield f"Q-ATOMIC: {one} is one message too many"
    for group, of in ended.items():
        if len(seen[group]) != of:
            yield f"Q-DURABLE: of group {group} came {len(seen[group])} of {of} messages"
    for group in seen:
        if group in ending and len(seen[group]) != ending[group]:
            yield f"Q-ATOMIC: of group {group} came {len(seen[group])} of {ending[group]} messages"


def main(arguments: Sequence[str]) -> int:
    address, kills, *rest = arguments
    begun = time.monotonic()
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        if address == "postgresql":
            address = opened.enter_context(cluster()).queue()
        wrong = campaign(address, folder, int(kills), int(rest[0]) if rest else 1)
        text = [path.read_text() for path in folder.iterdir()]
    count = {word: sum(each.count(f"{word} ") for each in text) for word in ("handed", "ending", "ended")}
    refused = sum(each.count("refused\n") for each in text)
    print(f"{kills} processes killed in {time.monotonic() - begun:.0f} s: {count['handed']} messages handed out of"
          f" {count['ended']} groups that ended ({count['ending']} began to), {refused} senders refused")  # fmt: skip
    for each in wrong[:20]:
        print(each)
    print(f"{len(wrong)} things that must not be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
