"""Emulators of Amazon SQS as products: for each a record of how to start it on loopback, and one driver (`sqs`)."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scatterproof.conformance.adapters.needs import Needs
from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.adapters.versions import Client, Package
from scatterproof.conformance.serving import LOOPBACK, Served, free_ports, program
from scatterproof.conformance.workqueue.products.history import vocabulary
from scatterproof.conformance.workqueue.products.sqs import Shape, drawn, play
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.schedule import Call
from scatterproof.spec.trace import Trace

PROFILE = Path(__file__).with_name("sqs-fifo.toml")
NODE_MODULE = Path(sys.prefix) / "node_modules" / "local-aws-sqs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Emulator:
    """A server with the interface of Amazon SQS.

    name, text: as of a product.
    lacks: returns what is not installed here, or an empty text.
    needs: what installs it, and its client.
    command: returns the command that starts it at this port of loopback, and at no other address.
    version: returns the version that is installed.
    quiet: runs of these shapes avoid the reported mistakes, and break nothing; seeds take them in turn.
    profile: the file of what it promises.
    package, of_version: as of a product.
    """

    name: str
    text: str
    lacks: Callable[[], str]
    needs: Needs
    command: Callable[[int], Sequence[str]]
    version: Callable[[], str]
    quiet: tuple[Shape, ...]
    profile: Path = PROFILE
    package: Package | None = None
    of_version: Callable[[str], Emulator] | None = None

    def why_not(self) -> str | None:
        """Why it cannot be driven here; None where it can."""
        lacking = self.lacks() or ("boto3" if importlib.util.find_spec("boto3") is None else "")
        return self.needs.why_not([lacking] if lacking else [])

    def steps(self, seed: int, quiet: bool) -> list[Call | float]:
        return drawn(seed, self.quiet[seed % len(self.quiet)] if quiet else Shape())


def _lacks_module() -> str:
    missing = [] if NODE_MODULE.is_dir() else ["local-aws-sqs"]
    return " and no ".join(missing if program("node") else ["node", *missing])


_MOTO = Package(Client.PIP, "moto", "moto")


def _moto(version: str) -> Emulator:
    """moto of this version, with the dependencies of the installed one."""
    ahead = ("env", f"PYTHONPATH={_MOTO.folder(version)}", sys.executable, "-m", "moto.server")
    return replace(
        MOTO,
        name=f"moto-{version}",
        lacks=lambda: MOTO.lacks() or ("" if _MOTO.has(version) else f"moto {version}"),
        needs=MOTO.needs + Needs(beside=((_MOTO, version),)),
        command=lambda port: (*ahead, "-H", LOOPBACK, "-p", str(port)),
        version=lambda: version,
    )


MOTO = Emulator(
    name="moto",
    text="FIFO queues of moto's SQS, by boto3",
    lacks=lambda: "" if program("moto_server") else "moto_server",
    needs=Needs(pypi=("boto3", "moto[server]")),
    command=lambda port: (program("moto_server") or "", "-H", LOOPBACK, "-p", str(port)),
    version=lambda: importlib.metadata.version("moto"),
    # Its leases are wrong once a time-out has ended; and it forgets the id of a deleted message.
    quiet=(
        Shape(ends=False, deletes=False),
        Shape(ends=False, ids=False),
        Shape(ends=False, deletes=False, aside=True),
    ),
    package=_MOTO,
    of_version=_moto,
)
LOCAL_AWS_SQS = Emulator(
    name="local-aws-sqs",
    text="FIFO queues of local-aws-sqs, by boto3",
    lacks=_lacks_module,
    needs=Needs(pypi=("boto3",), npm=("local-aws-sqs@2.0.2",)),
    command=lambda port: (
        *(program("node") or "", "-e"),
        f"require({json.dumps(str(NODE_MODULE))}).createSqsServer({{port: {port}, hostname: '{LOOPBACK}'}})",
    ),
    version=lambda: str(json.loads((NODE_MODULE / "package.json").read_text())["version"]),
    # It knows no groups, forgets the id of a deleted message, and takes a change of a time-out for a receive.
    quiet=(Shape(apart=True, deletes=False), Shape(apart=True, ids=False)),
)
EMULATORS = (MOTO, LOCAL_AWS_SQS)


class Server:
    """A running emulator, on a free port of loopback. folder: of its output. Raises CannotRun where it cannot run."""

    def __init__(self, emulator: Emulator, folder: Path) -> None:
        reason = emulator.why_not()
        if reason is not None:
            raise CannotRun(reason)
        self.iut = f"{emulator.name} {emulator.version()}"
        (port,) = free_ports(1)
        self._served = Served(emulator.name, emulator.command(port), port, folder)

    def play(self, queue: str, steps: Sequence[Call | float], seed: int = 0) -> Trace:
        return play(self._client(), queue, self.iut, steps, seed)

    def _client(self) -> Any:
        boto3 = importlib.import_module("boto3")
        return boto3.client(
            "sqs",
            endpoint_url=f"http://{LOOPBACK}:{self._served.port}",
            region_name="us-east-1",
            aws_access_key_id="none",
            aws_secret_access_key="none",
        )

    def end(self) -> None:
        self._served.end()


def product(emulator: Emulator) -> Product:
    made = emulator.of_version

    @contextmanager
    def serve(folder: Path) -> Iterator[Play]:
        server = Server(emulator, folder)
        try:
            yield server.play
        finally:
            server.end()

    return Product(
        name=emulator.name,
        text=emulator.text,
        profile=emulator.profile,
        why_not=emulator.why_not,
        needs=emulator.needs,
        serve=serve,
        steps=emulator.steps,
        errors=("botocore.exceptions.BotoCoreError", "botocore.exceptions.ClientError"),
        vocabulary=vocabulary(),
        package=emulator.package,
        of_version=None if made is None else lambda version: product(made(version)),
    )


PRODUCTS = tuple(map(product, EMULATORS))
