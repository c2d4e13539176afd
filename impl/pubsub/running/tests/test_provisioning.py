"""A management node and appliances on real sockets: what is taken, skipped and refused (PS-CONFIG)."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import pytest

from scatterproof.impl.pubsub.running.management import Action, read
from scatterproof.impl.pubsub.running.provisioning import Follower, Has, Managed, Node, Provided, encode, image_id
from scatterproof.impl.pubsub.running.server import Server, Settings
from scatterproof.impl.pubsub.running.signing import Signer, Verifier, make_keys, signed
from scatterproof.impl.pubsub.running.tests.test_management import FIRST, SECOND
from scatterproof.spec.errors import BadInput

LIMIT_S = 30.0


def conf(text: str) -> dict[str, tuple[str, bytes]]:
    return {str(Provided.CONFIGURATION): (read(text, "file").id, text.encode())}


class Bench:
    """One appliance's follower, and nodes. said: by nodes and the appliance. taken: texts of configurations."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.said, self.taken, self.id = folder, list[str](), list[str](), ""
        self.public = make_keys(folder / "key")
        self._changed = asyncio.Event()

    def say(self, text: str) -> None:
        self.said.append(text)
        self._changed.set()

    def take(self, text: str) -> None:
        self.id = read(text, "it").id
        self.taken.append(text)
        self._changed.set()

    async def until(self, done: Callable[[], object]) -> None:
        async with asyncio.timeout(LIMIT_S):
            while not done():
                self._changed.clear()
                await self._changed.wait()

    def node(self, key: str = "key") -> Node:
        return Node(Signer(self.folder / key), self.say)

    @asynccontextmanager
    async def listening(self, node: Node) -> AsyncIterator[tuple[str, int]]:
        server = await asyncio.start_server(node.connected, "127.0.0.1", 0)
        yield server.sockets[0].getsockname()[:2]
        server.close()
        await node.close()

    @asynccontextmanager
    async def following(self, *addresses: tuple[str, int]) -> AsyncIterator[None]:
        managed = Managed(addresses, self.public, self.folder / "image")
        task = asyncio.create_task(Follower("one", managed, lambda: self.id, self.take, self.say).follow())
        yield
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def play(folder: Path, script: Callable[[Bench, AsyncExitStack], Awaitable[None]]) -> Bench:
    async def run() -> Bench:
        bench = Bench(folder)
        async with AsyncExitStack() as opened:
            await script(bench, opened)
        return bench

    return asyncio.run(run())


def test_ps_config_what_has_another_id_is_given_at_once_and_the_same_id_never_again(tmp_path: Path) -> None:
    async def script(bench: Bench, opened: AsyncExitStack) -> None:
        node = bench.node()
        node.give(conf(FIRST))
        address = await opened.enter_async_context(bench.listening(node))
        async with bench.following(address):
            await bench.until(lambda: bench.taken == [FIRST])
            node.give(conf(FIRST + "# the same id\n"))
            node.give(conf(SECOND))
            await bench.until(lambda: len(bench.taken) == 2)
        async with bench.following(address):
            await bench.until(lambda: "one has configuration 2" in bench.said)
            node.give(conf(FIRST))  # a node goes back
            await bench.until(lambda: len(bench.taken) == 3)

    assert play(tmp_path, script).taken == [FIRST, SECOND, FIRST]


@pytest.mark.parametrize("kind", Provided)
def test_ps_config_what_another_key_signed_is_not_taken_and_the_next_node_is_asked(
    tmp_path: Path, kind: Provided
) -> None:
    image = b"false image"
    given = {**conf(FIRST), str(Provided.IMAGE): (image_id(image), image)}

    async def script(bench: Bench, opened: AsyncExitStack) -> None:
        make_keys(tmp_path / "other")
        false, right = bench.node("other"), bench.node()
        false.give({str(kind): given[kind]})
        right.give(conf(SECOND))
        addresses = [await opened.enter_async_context(bench.listening(node)) for node in (false, right)]
        await opened.enter_async_context(bench.following(*addresses))
        await bench.until(lambda: bench.taken)

    bench = play(tmp_path, script)
    assert bench.taken == [SECOND]
    assert sum("no valid signature" in line for line in bench.said) == 1
    assert not (tmp_path / "image").exists()


def test_ps_config_an_image_is_put_in_its_place_once(tmp_path: Path) -> None:
    content = bytes(range(256)) * 1000

    async def script(bench: Bench, opened: AsyncExitStack) -> None:
        node = bench.node()
        node.give({str(Provided.IMAGE): (image_id(content), content)})
        address = await opened.enter_async_context(bench.listening(node))
        async with bench.following(address):
            await bench.until(lambda: any(line.startswith("image") for line in bench.said))
        async with bench.following(address):
            await bench.until(lambda: f"one has image {image_id(content)}" in bench.said)

    bench = play(tmp_path, script)
    assert (tmp_path / "image").read_bytes() == content
    assert sum(line.startswith("image") for line in bench.said) == 1


def test_ps_config_who_takes_no_images_is_given_none(tmp_path: Path) -> None:
    given = list[bytes]()

    async def script(bench: Bench, opened: AsyncExitStack) -> None:
        node = bench.node()
        node.give({str(Provided.IMAGE): (image_id(b"content"), b"content"), **conf(FIRST)})
        async with bench.listening(node) as address:
            reader, writer = await asyncio.open_connection(*address)
            writer.write(encode(Has("one", {Provided.CONFIGURATION.value: ""})))
            await bench.until(lambda: "one has nothing" in bench.said)
            writer.write_eof()
            given.append(await reader.read())
            writer.close()

    play(tmp_path, script)
    assert FIRST.encode() in given[0]
    assert b"content" not in given[0]


def test_ps_config_an_image_with_the_id_of_another_is_not_taken(tmp_path: Path) -> None:
    async def script(bench: Bench, opened: AsyncExitStack) -> None:
        node = bench.node()
        node.give({str(Provided.IMAGE): (image_id(b"another"), b"content")})
        await opened.enter_async_context(bench.following(await opened.enter_async_context(bench.listening(node))))
        await bench.until(lambda: any(line.endswith("its content has another id") for line in bench.said))

    play(tmp_path, script)
    assert not (tmp_path / "image").exists()


@pytest.mark.parametrize("part", range(4))
def test_a_signature_is_of_kind_id_and_content(tmp_path: Path, part: int) -> None:
    verifier = Verifier(make_keys(tmp_path / "key"))
    signature = Signer(tmp_path / "key").sign("image", "id", b"content")
    given = ["image", "id", b"content", signature]
    assert verifier.is_valid(*given)  # type: ignore[arg-type]
    given[part] = ["configuration", "id2", b"Content", bytes(64)][part]
    assert not verifier.is_valid(*given)  # type: ignore[arg-type]
    assert signed("a", "bc", b"") != signed("ab", "c", b"")


def test_keys_are_their_owners_and_never_overwritten_and_other_files_are_refused(tmp_path: Path) -> None:
    public = make_keys(tmp_path / "key")
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    for name in ("key", "key.pub"):
        kept = (tmp_path / name).read_bytes()
        with pytest.raises(BadInput, match="is there already"):
            make_keys(tmp_path / name)
        assert (tmp_path / name).read_bytes() == kept
    for make, path in (
        (Signer, public),
        (Verifier, tmp_path / "key"),
        (Signer, Path(__file__)),
        (Verifier, tmp_path / "no"),
    ):
        with pytest.raises(BadInput, match="appliance key"):
            make(path)


def test_ps_auth_until_a_management_node_was_reached_nobody_may_do_anything(tmp_path: Path) -> None:
    managed = Managed((), make_keys(tmp_path / "key"))
    server = Server(Settings(name="one", managed=managed), lambda text: None)
    assert not server.core.allows("ann", Action.PUBLISH, "a.x")
    server.close()
