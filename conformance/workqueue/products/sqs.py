"""FIFO queues with the interface of Amazon SQS, driven by boto3 at random and judged: moto's server, on loopback.

Each run has a queue of its own and three clients that call one after the other. Leases are in whole seconds, as the
interface has them, and a run waits for some to end.
"""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from scatterproof.conformance.network.topologies import served
from scatterproof.conformance.supervisor import LIMITS, Child, stop
from scatterproof.conformance.workqueue.cases.leases import deletes, extends, gives_back, puts, receives
from scatterproof.conformance.workqueue.products.product import Play, Product
from scatterproof.conformance.workqueue.recording import Recorder
from scatterproof.spec.core import Outcome, Parameter, Return
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.schedule import Call
from scatterproof.spec.trace import ABSENT, CLEAN, QUIESCENT, Header, Kind, Order, Row, Trace
from scatterproof.spec.workqueue.messages import CallName, Handed

LOOPBACK, START_S = "127.0.0.1", 30.0
SECOND_NS = 1_000_000_000
CLIENTS = 3
PARAMETERS: dict[str, Parameter] = {"leased": 1, "window_ns": 300 * SECOND_NS, "margin_ns": SECOND_NS // 10}
MEND = "install boto3 and moto[server] of PyPI into this environment"


def _program() -> str | None:
    beside = Path(sys.executable).with_name("moto_server")
    return shutil.which("moto_server") or (str(beside) if beside.is_file() else None)


def why_not() -> str | None:
    """Why the server cannot be driven here; None where it can."""
    if _program() is None or importlib.util.find_spec("boto3") is None:
        return f"there is no moto_server, or no boto3; {MEND}"
    return None


class Server:
    """moto_server on a free port of loopback; what it writes is in the folder."""

    def __init__(self, folder: Path) -> None:
        found, reason = _program(), why_not()
        if found is None or reason is not None:
            raise CannotRun(str(reason))
        with socket.socket() as opened:
            opened.bind((LOOPBACK, 0))
            self._port: int = opened.getsockname()[1]
        self._child = Child("moto", [found, "-H", LOOPBACK, "-p", str(self._port)], folder, LIMITS)
        deadline = time.monotonic() + START_S
        while True:
            try:
                socket.create_connection((LOOPBACK, self._port), timeout=1).close()
            except OSError:
                if time.monotonic() > deadline or not self._child.is_running():
                    self.end()
                    raise CannotRun(f"moto_server took no connection; see {folder}/moto.stderr") from None
                time.sleep(0.02)
            else:
                return

    def client(self) -> Any:
        boto3 = importlib.import_module("boto3")
        return boto3.client(
            "sqs",
            endpoint_url=f"http://{LOOPBACK}:{self._port}",
            region_name="us-east-1",
            aws_access_key_id="none",
            aws_secret_access_key="none",
        )

    def end(self) -> None:
        self._child.terminate()
        stop([self._child])


class Driver:
    """Carries out calls at one queue, and records them. The body of a message names it: its sender and number."""

    def __init__(self, client: Any, name: str, clock: Callable[[], int] = time.monotonic_ns) -> None:
        made = client.create_queue(QueueName=f"{name}.fifo", Attributes={"FifoQueue": "true"})
        self._client, self._url, self._clock = client, made["QueueUrl"], clock
        self._recorder, self._begun_ns = Recorder(), clock()
        self._receipts: dict[str, int] = {}
        self._hands: dict[int, list[tuple[Handed, str]]] = {}
        self._operations: dict[int, int] = {}
        self.rows: list[Row] = []

    def make(self, call: Call) -> None:
        number = self._operations[call.node] = self._operations.get(call.node, 0) + 1
        call = Call(call.time_ns, call.node, call.call, call.arguments, _body(call.node, number))
        self._note(Kind.CALLED, call.node, self._recorder.called(call.node, number, call))
        outcome, results = Outcome.OK, dict[str, Parameter]()
        try:
            results = self._carry_out(call, number)
        except self._client.exceptions.ClientError:
            outcome = Outcome.REFUSED
        except LookupError:  # there is nothing in hand
            outcome = Outcome.REFUSED
        self._note(Kind.RETURNED, call.node, self._recorder.returned(call.node, call, Return(number, outcome, results)))

    def _note(self, kind: Kind, node: int, tail: Row) -> None:
        now = self._clock() - self._begun_ns
        self.rows.append((now, now, node, int(kind), ABSENT, ABSENT, *tail))

    def _carry_out(self, call: Call, number: int) -> dict[str, Parameter]:
        given, hand = call.arguments, self._hands.setdefault(call.node, [])
        if call.call == CallName.PUT_MESSAGE:
            own = f"own-{call.node}-{number}"
            self._client.send_message(
                QueueUrl=self._url,
                MessageBody=call.payload.decode(),
                MessageGroupId=str(given["group"]),
                MessageDeduplicationId=str(given["dedup"]) if given["dedup"] else own,
            )
        elif call.call == CallName.RECEIVE:
            self._receive(call)
        else:
            at = -1 if given.get("newest") == 1 else 0
            one, handle = hand[at]
            if call.call != CallName.EXTEND:
                del hand[at]
            about: dict[str, Any] = {"QueueUrl": self._url, "ReceiptHandle": handle}
            if call.call == CallName.DELETE:
                self._client.delete_message(**about)
            else:
                seconds = int(given.get("lease_ns", 0)) // SECOND_NS
                self._client.change_message_visibility(**about, VisibilityTimeout=seconds)
            return {"sender": one.sender, "number": one.number, "receipt": one.receipt}
        return {}

    def _receive(self, call: Call) -> None:
        given = call.arguments
        seconds = int(given["lease_ns"]) // SECOND_NS
        got = self._client.receive_message(
            QueueUrl=self._url,
            MaxNumberOfMessages=given["most"],
            VisibilityTimeout=seconds,
            WaitTimeSeconds=0,
            AttributeNames=["MessageGroupId"],
        )
        for message in got.get("Messages", ()):
            sender, number = map(int, message["Body"].split("."))
            receipt = self._receipts.setdefault(message["ReceiptHandle"], len(self._receipts) + 1)
            group = int(message["Attributes"]["MessageGroupId"])
            handed = Handed(sender, number, group, receipt, message["Body"].encode())
            self._hands[call.node].append((handed, message["ReceiptHandle"]))
            self._note(Kind.DELIVERED, call.node, self._recorder.delivery(call.node, handed))

    def trace(self, seed: int, iut: str) -> Trace:
        now = self._clock() - self._begun_ns
        topology = served(CLIENTS)
        ended = (now, now, ABSENT, int(Kind.ENDED), ABSENT, ABSENT, *self._recorder.ended(CLEAN | QUIESCENT))
        kinds = (Kind.CALLED, Kind.RETURNED, Kind.DELIVERED, Kind.CRASHED, Kind.RESTARTED)
        complete = {kind.name.lower(): tuple(range(len(topology.nodes))) for kind in kinds}
        header = Header(
            protocol="workqueue",
            topology=topology,
            parameters=PARAMETERS,
            complete=complete,
            order=Order.LINK,
            iut=iut,
            seed=seed,
        )
        return Trace(header, [*self.rows, ended])


def _body(client: int, number: int) -> bytes:
    return b"%d.%d" % (client, number)


def drawn(seed: int, steps: int = 24) -> list[Call | float]:
    """Calls, and seconds to wait between them."""
    draw = Random(seed)
    found: list[Call | float] = [puts(0, 1, 1), puts(0, 1, 1)]
    for _ in range(steps):
        client, group, newest = draw.randint(1, CLIENTS), draw.randint(1, 2), draw.randint(0, 1)
        lease_ns = draw.choice((1, 30)) * SECOND_NS
        kind = draw.randrange(12)
        if kind < 3:
            found.append(puts(0, client, group, draw.choice((0, 0, 1, 2))))
        elif kind < 7:
            found.append(receives(0, client, draw.randint(1, 3), lease_ns))
        elif kind == 7:
            found.append(deletes(0, client, newest))
        elif kind == 8:
            found.append(extends(0, client, lease_ns, newest))
        elif kind < 11:
            found.append(gives_back(0, client, newest))
        else:
            found.append(1.3)
    return found


def play(server: Server, name: str, steps: Sequence[Call | float], seed: int = 0) -> Trace:
    """Carry the steps out at a queue of this name, that is new."""
    return play_at(Driver(server.client(), name), steps, seed)


def play_at(driver: Driver, steps: Sequence[Call | float], seed: int) -> Trace:
    for step in steps:
        if isinstance(step, float):
            time.sleep(step)
        else:
            driver.make(step)
    return driver.trace(seed, "moto")


@contextmanager
def started(folder: Path) -> Iterator[Play]:
    """A server until the context ends, and what plays the run of a seed."""
    server = Server(folder)
    try:
        yield lambda seed: play(server, f"run-{seed}", drawn(seed), seed)
    finally:
        server.end()


PRODUCT = Product(
    name="moto",
    text="FIFO queues of moto's SQS, by boto3",
    profile=Path(__file__).with_name("sqs-fifo.toml"),
    why_not=why_not,
    start=started,
)
