"""`scatterproof appliance key` and `provision`: the management node of appliances."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from scatterproof.console import out
from scatterproof.impl.pubsub.running.management import read
from scatterproof.impl.pubsub.running.provisioning import Node, Provided, image_id
from scatterproof.spec.errors import BadInput, CannotRun

Say = Callable[[str], None]


def key(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Where the key that signs is put; FILE.pub verifies.")],
) -> None:
    """Make the keys with which a management node signs, and appliances verify.

    Exit codes: 0 made; 2 one of the files is there already; 3 they cannot be written.
    """
    from scatterproof.impl.pubsub.running.signing import make_keys  # of an extra

    public = make_keys(path)
    out.print(f"{path} signs: keep it on the management node. {public} verifies: give it to appliances.", markup=False)


def contents(configuration: Path, image: Path | None) -> dict[str, tuple[str, bytes]]:
    """What a node gives out, by kind: its id, and its bytes. Raises BadInput for what cannot be given."""
    try:
        text = configuration.read_bytes()
        found = {str(Provided.CONFIGURATION): (read(text.decode(), str(configuration)).id, text)}
        if image is not None:
            bytes_ = image.read_bytes()
            found[str(Provided.IMAGE)] = image_id(bytes_), bytes_
    except OSError as error:
        raise BadInput(f"{error.filename}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{configuration}: is no text") from None
    return found


async def serve(node: Node, address: tuple[str, int], again: Callable[[], None], say: Say) -> None:
    """Serve until SIGTERM or SIGINT. again: called at SIGHUP. Raises CannotRun where the port is taken."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, again)
    try:
        server = await asyncio.start_server(node.connected, *address)
    except OSError as error:
        why = error.strerror or str(error)
        raise CannotRun("port {}:{} cannot be listened at: {}; choose another".format(*address, why)) from None
    say("listens for appliances at {}:{}".format(*server.sockets[0].getsockname()[:2]))
    say("ready")
    await stop.wait()
    server.close()
    await node.close()


def provision(address: tuple[str, int], key_file: Path, configuration: Path, image: Path | None, say: Say) -> None:
    """Run a management node."""
    from scatterproof.impl.pubsub.running.signing import Signer  # of an extra

    node = Node(Signer(key_file), say)
    node.give(contents(configuration, image))

    def again() -> None:
        try:
            node.give(contents(configuration, image))
        except BadInput as error:
            say(str(error))

    asyncio.run(serve(node, address, again, say))
