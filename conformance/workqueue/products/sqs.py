"""FIFO queues with the interface of Amazon SQS, driven by boto3: calls at one queue, recorded, and drawn runs.

Each run has a queue of its own and three clients that call one after the other. Leases are in whole seconds, as the
interface has them, and a run waits for some to end. The servers are in `emulators`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from scatterproof.conformance.adapters.products import CLIENTS
from scatterproof.conformance.workqueue.cases.building import deletes, extends, gives_back, puts, receives
from scatterproof.conformance.workqueue.products.history import SECOND_NS, History
from scatterproof.spec.core import Outcome
from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Trace
from scatterproof.spec.workqueue.messages import CallName, Handed


class Driver:
    """Carries out calls at one queue, and records them."""

    def __init__(self, client: Any, name: str, clock: Callable[[], int] = time.monotonic_ns) -> None:
        made = client.create_queue(QueueName=f"{name}.fifo", Attributes={"FifoQueue": "true"})
        self._client, self._url, self.history = client, made["QueueUrl"], History(clock)
        self._receipts: dict[str, int] = {}
        self._hands: dict[NodeId, list[tuple[Handed, str]]] = {}

    def make(self, call: Call) -> None:
        body, about, outcome = self.history.called(call), None, Outcome.OK
        try:
            about = self._carry_out(call, body.decode())
        except self._client.exceptions.ClientError:
            outcome = Outcome.REFUSED
        except LookupError:  # there is nothing in hand
            outcome = Outcome.REFUSED
        self.history.returned(call.node, outcome, about)

    def _carry_out(self, call: Call, body: str) -> Handed | None:
        given, hand = call.arguments, self._hands.setdefault(call.node, [])
        if call.call == CallName.PUT_MESSAGE:
            self._client.send_message(
                QueueUrl=self._url,
                MessageBody=body,
                MessageGroupId=str(given["group"]),
                MessageDeduplicationId=str(given["dedup"]) if given["dedup"] else f"own-{body}",
            )
            return None
        if call.call == CallName.RECEIVE:
            self._receive(call)
            return None
        at = -1 if given.get("newest") == 1 else 0
        one, handle = hand[at]
        if call.call != CallName.EXTEND:
            del hand[at]
        about: dict[str, Any] = {"QueueUrl": self._url, "ReceiptHandle": handle}
        if call.call == CallName.DELETE:
            self._client.delete_message(**about)
        else:
            self._client.change_message_visibility(**about, VisibilityTimeout=_seconds(call))
        return one

    def _receive(self, call: Call) -> None:
        seconds = _seconds(call)
        got = self._client.receive_message(
            QueueUrl=self._url,
            MaxNumberOfMessages=call.arguments["most"],
            VisibilityTimeout=seconds,
            WaitTimeSeconds=0,
            AttributeNames=["MessageGroupId"],
        )
        for message in got.get("Messages", ()):
            receipt = self._receipts.setdefault(message["ReceiptHandle"], len(self._receipts) + 1)
            group = int(message["Attributes"]["MessageGroupId"])
            handed = self.history.handed(call.node, message["Body"].encode(), receipt, group)
            self._hands[call.node].append((handed, message["ReceiptHandle"]))


def _seconds(call: Call) -> int:
    """Of the lease. A part of a second would be cut off, and the queue be held to what nobody asked of it."""
    seconds, rest = divmod(int(call.arguments.get("lease_ns", 0)), SECOND_NS)
    if rest:
        raise BadInput(
            f"a lease of {call.arguments['lease_ns']} ns: SQS has whole seconds alone; give a multiple of 1 s"
        )
    return seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What is drawn. The default is all there is; less keeps a run clear of a mistake that is known.

    apart: each message has a group of its own. ends: leases end while the run lasts. deletes: messages are deleted.
    ids: some messages have a deduplication id.
    """

    apart: bool = False
    ends: bool = True
    deletes: bool = True
    ids: bool = True


def drawn(seed: int, shape: Shape = Shape(), steps: int = 24) -> list[Call | float]:
    """Calls, and seconds to wait between them."""
    draw = Random(seed)
    found: list[Call | float] = [puts(0, 1, 1), puts(0, 1, 2 if shape.apart else 1)]
    for number in range(steps):
        client, group, newest = draw.randint(1, CLIENTS), draw.randint(1, 2), draw.randint(0, 1)
        lease_ns = draw.choice((1, 30) if shape.ends else (30, 30)) * SECOND_NS
        kind = draw.randrange(12)
        if kind < 3:
            dedup = draw.choice((0, 0, 1, 2))
            found.append(puts(0, client, 3 + number if shape.apart else group, dedup if shape.ids else 0))
        elif kind < 7:
            found.append(receives(0, client, draw.randint(1, 3), lease_ns))
        elif kind == 7 and shape.deletes:
            found.append(deletes(0, client, newest))
        elif kind == 8:
            found.append(extends(0, client, lease_ns, newest))
        elif kind < 11:
            found.append(gives_back(0, client, newest))
        elif shape.ends:
            found.append(1.3)
    return found


def play(client: Any, name: str, iut: str, steps: Sequence[Call | float], seed: int = 0) -> Trace:
    """Carry the steps out at a queue of this name, that is new. iut: what is under test, with its version."""
    driver = Driver(client, name)
    for step in steps:
        if isinstance(step, float):
            time.sleep(step)
        else:
            driver.make(step)
    return driver.history.trace(seed, iut)
