"""A queue that takes and hands out what it is told to, and a product of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.workqueue.cases.building import puts, receives
from scatterproof.conformance.workqueue.products.emulators import PROFILE
from scatterproof.conformance.workqueue.products.sqs import play
from scatterproof.spec.schedule import Call

LONG_NS = 30_000_000_000


class Sqs:
    """boto3's client, as far as these runs go: two messages, which come back in this order."""

    exceptions = SimpleNamespace(ClientError=ConnectionError)

    def __init__(self, order: tuple[int, int]) -> None:
        self._order, self._bodies = order, list[str]()

    def create_queue(self, **given: str) -> dict[str, str]:
        return {"QueueUrl": given["QueueName"]}

    def send_message(self, **given: str) -> None:
        self._bodies.append(given["MessageBody"])

    def receive_message(self, **given: object) -> dict[str, object]:
        body = self._bodies[self._order[0]]
        return {"Messages": [{"Body": body, "ReceiptHandle": body, "Attributes": {"MessageGroupId": "1"}}]}


def toy(order: tuple[int, int], reason: str | None = None) -> Product:
    @contextmanager
    def serve(folder: Path) -> Iterator[Play]:
        folder.mkdir(parents=True)
        yield lambda name, steps, seed: play(Sqs(order if len(steps) > 2 else (0, 0)), name, "toy 1", steps, seed)

    def steps(seed: int, quiet: bool) -> list[Call]:
        # Of one message there is no order to break.
        return [*[puts(0, 1)] * (1 if quiet else 2), receives(0, 2, 1, LONG_NS)]

    return Product(name="toy", text="a toy", profile=PROFILE, why_not=lambda: reason, serve=serve, steps=steps)
