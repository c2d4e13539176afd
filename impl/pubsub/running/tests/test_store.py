"""The cache engine: an appliance begun anew from its file goes on where it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from scatterproof.impl.pubsub.running.core import Core
from scatterproof.impl.pubsub.running.mqtt_connection import Clients, Connection
from scatterproof.impl.pubsub.running.store import Store
from scatterproof.impl.pubsub.running.tests.joined import Joined, Taker
from scatterproof.impl.pubsub.running.tests.test_mqtt_session import connect, publish, said, subscribe
from scatterproof.impl.pubsub.translation import mqtt_codec as codec
from scatterproof.impl.pubsub.translation.messages import Message
from scatterproof.impl.pubsub.translation.mqtt_codec import Kind
from scatterproof.spec.errors import BadInput, CannotRun


class Kept:
    """An appliance on a file, and what its driver does with it."""

    def __init__(self, name: str, folder: Path) -> None:
        self.store = Store(folder / f"{name}.sqlite")
        kept = self.store.load()
        self.core = Core(name, kept, kept.incarnation)
        self.clients = Clients(self.core, kept)

    def keep(self) -> None:
        self.core.end_turn()
        self.store.apply(self.core.ledger.changes)
        self.core.ledger.changes.clear()

    def connection(self, *first: bytes) -> Connection:
        made = Connection(self.clients, self.core.outbox())
        for data in first:
            made.receive(data)
        return made

    def number_of_messages(self) -> int:
        return len(self.store.load().messages)


def test_ps_persisted_sessions_with_all_that_is_in_them_and_what_is_retained_are_there_again(tmp_path: Path) -> None:
    first = Kept("one", tmp_path)
    durable = first.connection(connect("d", clean=False), subscribe(1, ("x/#", 2), ("$share/g/y", 1)))
    publisher = first.connection(connect("p"), publish("z", b"old", 1, 1), publish("z", b"kept", 1, 2))
    for number in range(4):
        publisher.receive(publish("x/1", str(number).encode(), 1 + number % 2, 10 + number))
    durable.receive(codec.answer(Kind.PUBACK, 1) + codec.answer(Kind.PUBREC, 2) + publish("x/2", b"in", 2, 77))
    durable.lost()
    publisher.receive(publish("x/1", b"away", 1, 50) + publish("x/1", b"lost", 0))
    first.core.publish(Message("z", b"retained", 1, True))
    first.keep()
    first.store.close()

    second = Kept("one", tmp_path)
    back = second.connection(connect("d", clean=False))
    assert said(back) == [
        (Kind.CONNACK, 0, b"\1\0"),
        (Kind.PUBREL, 2, b"\0\2"),
        (Kind.PUBLISH, 8 | 2, b"\0\3x/1\0\0032"),
        (Kind.PUBLISH, 8 | 4, b"\0\3x/1\0\0043"),
        (Kind.PUBLISH, 8 | 4, b"\0\3x/2\0\5in"),
        (Kind.PUBLISH, 2, b"\0\3x/1\0\6away"),
    ]
    back.receive(publish("x/2", b"in", 2, 77, again=True))  # it came ahead of the end: no second time
    assert [kind for kind, _, _ in said(back)] == [Kind.PUBREC]
    back.receive(subscribe(2, ("z", 1)))
    assert said(back)[-1] == (Kind.PUBLISH, 3, b"\0\1z\0\7retained")
    for kind, number in ((Kind.PUBCOMP, 2), (Kind.PUBACK, 3), (Kind.PUBACK, 6), (Kind.PUBACK, 7)):
        back.receive(codec.answer(kind, number))
    second.keep()
    assert second.number_of_messages() == 2
    second.connection(connect("d", clean=True))
    second.keep()
    assert second.number_of_messages() == 0
    assert second.store.load().sessions == {}


@pytest.mark.parametrize("ends", ["a", "b", "both"])
def test_ps_persisted_what_is_on_its_way_to_a_neighbour_comes_once_whichever_is_killed(
    ends: str, tmp_path: Path
) -> None:
    row, kept = Joined("a", "b"), {name: Kept(name, tmp_path) for name in "ab"}
    for name, one in kept.items():
        row.begin_anew(name, one.core)
    row.join("a", "b")
    kept["b"].connection(connect("d", clean=False), subscribe(1, ("x", 2))).lost()
    row.run()
    publisher = kept["a"].connection(connect("p"))
    for number in range(9):
        publisher.receive(publish("x", str(number).encode(), 1 + number % 2, number + 1))
        if number == 2:
            row.run()
        elif number == 4:
            row.carry("a", "b")  # and the acknowledgement is lost
        elif number == 6:
            row.cut("a", "b")
            for name in "ab" if ends == "both" else ends:
                kept[name].keep()
                kept[name].store.close()
                kept[name] = Kept(name, tmp_path)
                row.begin_anew(name, kept[name].core)
            publisher = kept["a"].connection(connect("p"))
    row.join("b", "a")
    back = kept["b"].connection(connect("d", clean=False))
    assert [body[-1:] for kind, _, body in said(back) if kind == Kind.PUBLISH] == [str(n).encode() for n in range(9)]


def test_ps_neighbour_one_in_the_middle_that_was_killed_tells_again_what_is_wanted_behind_it(tmp_path: Path) -> None:
    row, middle = Joined("a", "b", "c"), Kept("b", tmp_path)
    row.begin_anew("b", middle.core)
    row.join("a", "b")
    row.join("b", "c")
    taker = Taker(row.cores["c"])
    taker.subscribe("t")
    row.run()
    middle.keep()
    middle.store.close()
    row.begin_anew("b", Kept("b", tmp_path).core)
    row.join("a", "b")
    row.join("b", "c")
    row.cores["a"].publish(Message("t", b"x", 2))
    row.run()

    assert taker.got == [(b"x", 2)]


def test_a_file_of_something_else_or_that_is_open_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database at all, but long enough to be one " * 50)
    with pytest.raises(BadInput, match="is no database of an appliance"):
        Store(tmp_path / "text")
    first = Store(tmp_path / "one")
    with pytest.raises(CannotRun, match="another process has it open"):
        Store(tmp_path / "one")
    first.close()
    with pytest.raises(CannotRun, match="cannot be written"):
        first.apply([("put_session", ("a", ""))])
