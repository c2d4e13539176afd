"""Drives FIFO queues with the interface of Amazon SQS by boto3, in drawn runs.

Each run has its own queue, and three clients that call one after the other. Leases are whole seconds, as in the
interface, and a run waits for some to end. The servers are in `emulators`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from scatterproof.conformance.adapters.products import CLIENTS
from scatterproof.conformance.workqueue.cases.building import (
    deletes,
    extends,
    gives_back,
    puts,
    receives,
    receives_aside,
)
from scatterproof.conformance.workqueue.products.history import SECOND_NS, History
from scatterproof.spec.core import Outcome
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Trace
from scatterproof.spec.workqueue.messages import CallName, Handed

TRIES = 2


class Driver:
    """Carries out calls at one queue, and records them. most_tries: how often a message is received before it goes to
    the dead-letter queue; 0 for no such queue."""

    def __init__(
        self, client: Any, name: str, most_tries: int = 0, clock: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._client, self.history = client, History(clock)
        self._aside, policy = "", {}
        if most_tries:
            self._aside = self._queue(f"{name}-aside")
            about = client.get_queue_attributes(QueueUrl=self._aside, AttributeNames=["QueueArn"])
            told = {"deadLetterTargetArn": about["Attributes"]["QueueArn"], "maxReceiveCount": most_tries}
            policy = {"RedrivePolicy": json.dumps(told)}
        self._url = self._queue(name, **policy)
        self._receipts: dict[str, int] = {}
        self._hands: dict[NodeId, list[tuple[Handed, str, str]]] = {}

    def _queue(self, name: str, **attributes: str) -> str:
        made = self._client.create_queue(QueueName=f"{name}.fifo", Attributes={"FifoQueue": "true", **attributes})
        if "QueueUrl" not in made:
            raise CannotRun("the server has given no queue: it does not know how this client asks")
        return str(made["QueueUrl"])

    def make(self, call: Call) -> None:
        body, about, outcome = self.history.called(call), None, Outcome.OK
        try:
            about = self._carry_out(call, body.decode())
        except self._client.exceptions.ClientError:
            outcome = Outcome.REFUSED
        except LookupError:  # nothing is in hand
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
        if call.call in (CallName.RECEIVE, CallName.RECEIVE_ASIDE):
            self._receive(call, self._url if call.call == CallName.RECEIVE else self._aside)
            return None
        at = -1 if given.get("newest") == 1 else 0
        one, url, handle = hand[at]
        if call.call != CallName.EXTEND:
            del hand[at]
        about: dict[str, Any] = {"QueueUrl": url, "ReceiptHandle": handle}
        if call.call == CallName.DELETE:
            self._client.delete_message(**about)
        else:
            self._client.change_message_visibility(**about, VisibilityTimeout=_seconds(call))
        return one

    def _receive(self, call: Call, url: str) -> None:
        seconds = _seconds(call)
        got = self._client.receive_message(
            QueueUrl=url,
            MaxNumberOfMessages=call.arguments["most"],
            VisibilityTimeout=seconds,
            WaitTimeSeconds=0,
            AttributeNames=["MessageGroupId"],
        )
        for message in got.get("Messages", ()):
            receipt = self._receipts.setdefault(message["ReceiptHandle"], len(self._receipts) + 1)
            group = int(message["Attributes"]["MessageGroupId"])
            handed = self.history.handed(call.node, message["Body"].encode(), receipt, group)
            self._hands[call.node].append((handed, url, message["ReceiptHandle"]))


def _seconds(call: Call) -> int:
    """The lease in s. Raises BadInput for a fraction: the queue would cut it off, and be held to another lease."""
    seconds, rest = divmod(int(call.arguments.get("lease_ns", 0)), SECOND_NS)
    if rest:
        raise BadInput(
            f"a lease of {call.arguments['lease_ns']} ns: SQS has whole seconds alone; give a multiple of 1 s"
        )
    return seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What runs may contain. The default is everything but a dead-letter queue; less avoids known mistakes.

    apart: each message has a group of its own.
    ends: leases end while the run lasts.
    deletes: messages are deleted.
    ids: some messages have a deduplication id.
    aside: there is a dead-letter queue, and clients receive from it, too.
    """

    apart: bool = False
    ends: bool = True
    deletes: bool = True
    ids: bool = True
    aside: bool = False


def drawn(seed: int, shape: Shape = Shape(), steps: int = 24) -> list[Call | float]:
    """The calls of a drawn run, and times to wait between them, in s."""
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
            asks = receives_aside if shape.aside and kind > 4 else receives
            found.append(asks(0, client, draw.randint(1, 3), lease_ns))
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
    """Carry out the steps at a new queue of this name, with a dead-letter queue if a step receives from it; returns the
    trace. iut: what is under test, with its version."""
    asks = any(isinstance(step, Call) and step.call == CallName.RECEIVE_ASIDE for step in steps)
    most_tries = TRIES if asks else 0
    driver = Driver(client, name, most_tries)
    for step in steps:
        if isinstance(step, float):
            time.sleep(step)
        else:
            driver.make(step)
    return driver.history.trace(seed, iut, most_tries=most_tries)
