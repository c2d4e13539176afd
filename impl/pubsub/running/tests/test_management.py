"""Entitlements bind, revoking ends what they allowed, and a configuration that is known is not taken again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scatterproof.impl.pubsub.running.core import Core
from scatterproof.impl.pubsub.running.management import Action, read
from scatterproof.impl.pubsub.running.server import Server, Settings
from scatterproof.impl.pubsub.running.tests import test_mqtt_session, test_nats_session
from scatterproof.impl.pubsub.running.tests.joined import Joined
from scatterproof.impl.pubsub.running.tests.test_mqtt_session import Broker, connect, kinds, publish, said, subscribe
from scatterproof.impl.pubsub.translation import mqtt_codec as codec
from scatterproof.impl.pubsub.translation.messages import Message
from scatterproof.impl.pubsub.translation.mqtt_codec import Kind
from scatterproof.spec.errors import BadInput

FIRST = """id = "1"
[[entitlement]]
user = "ann"
publish = ["a.*"]
subscribe = ["a.>", "b"]
[[entitlement]]
user = "*"
subscribe = ["open.>"]
"""
SECOND = """id = "2"
[[entitlement]]
user = "ann"
publish = ["b"]
subscribe = ["b"]
"""


def connect_as(name: str, user: str, *, clean: bool = True) -> bytes:
    text = test_mqtt_session.text
    body = text("MQTT") + bytes([4, 0x80 | clean << 1]) + b"\0\0" + text(name) + text(user)
    return codec.packet(Kind.CONNECT, body)


def configured(text: str = FIRST) -> Core:
    core = Core("one", None, "life")
    assert core.configure(read(text, "file"))
    return core


def test_ps_auth_all_of_a_filter_must_be_allowed() -> None:
    configuration = read(FIRST, "file")
    for user, action, filter_, expected in (
        ("ann", Action.SUBSCRIBE, "a.x.y", True),
        ("ann", Action.SUBSCRIBE, "*.x", False),
        ("ann", Action.SUBSCRIBE, ">", False),
        ("ann", Action.PUBLISH, "a.x", True),
        ("ann", Action.PUBLISH, "a.x.y", False),
        ("ann", Action.SUBSCRIBE, "open.x", True),
        ("", Action.SUBSCRIBE, "open.x", True),
        ("", Action.PUBLISH, "open.x", False),
        ("bob", Action.SUBSCRIBE, "b", False),
    ):
        assert configuration.allows(user, action, filter_) == expected


def test_ps_auth_clients_of_mqtt_are_refused_what_they_are_not_entitled_to_and_it_takes_no_effect() -> None:
    broker = Broker(configured())
    ann = broker.connection(connect_as("a", "ann"), subscribe(1, ("a/#", 1), ("+/x", 1), ("b", 2)))
    assert said(ann)[-1] == (Kind.SUBACK, 0, b"\0\1" + bytes([1, 0x80, 2]))
    bob = broker.connection(connect_as("b", "bob"))
    bob.receive(publish("a/x", b"forbidden", 1, 1))
    assert bob.outbox.closing is not None
    assert "not entitled" in bob.outbox.closing
    assert said(ann) == []
    ann.receive(publish("a/x", b"allowed", 1, 1))
    assert kinds(ann) == [Kind.PUBLISH, Kind.PUBACK]
    assert kinds(broker.connection(connect_as("a", "bob"))) == [Kind.CONNACK]  # code 5: the session is ann's
    assert ann.outbox.closing is None


def test_ps_auth_clients_of_nats_hear_what_they_are_not_entitled_to() -> None:
    core = configured()
    ann = test_nats_session.connected(core, b'CONNECT {"verbose":false,"user":"ann"}\r\n')
    ann.receive(b"SUB a.> 1\r\nSUB *.x 2\r\nPUB a.x 1\r\ny\r\nPUB c 1\r\nn\r\n")
    assert test_nats_session.said(ann) == (
        b"-ERR 'Permissions Violation for Subscription to \"*.x\"'\r\n"
        b"MSG a.x 1 1\r\ny\r\n"
        b"-ERR 'Permissions Violation for Publish to \"c\"'\r\n"
    )
    assert core.configure(read(SECOND, "file"))
    ann.receive(b"PING\r\n")
    assert test_nats_session.said(ann) == b"-ERR 'Permissions Violation for Subscription to \"a.>\"'\r\nPONG\r\n"


def test_ps_auth_what_is_revoked_ends_here_and_at_neighbours_with_what_waited_for_it() -> None:
    row = Joined("a", "b")
    row.join("a", "b")
    core = row.cores["a"]
    core.configure(read(FIRST, "file"))
    broker = Broker(core)
    broker.connection(connect_as("d", "ann", clean=False), subscribe(1, ("a/#", 1), ("b", 1))).lost()
    row.run()
    for topic in ("a.x", "b"):
        row.cores["b"].publish(Message(topic, topic.encode(), 1))
    row.run()
    core.configure(read(SECOND, "file"))
    row.run()
    for topic in ("a.x", "b"):
        row.cores["b"].publish(Message(topic, b"later", 1))
    row.run()

    assert row.cores["b"].links["a"].wants == {("b", "")}
    back = broker.connection(connect_as("d", "ann", clean=False))
    assert [body[5:] for kind, _, body in said(back) if kind == Kind.PUBLISH] == [b"b", b"later"]


def test_ps_config_the_same_id_is_not_taken_again() -> None:
    core = configured()
    assert not core.configure(read(SECOND.replace('"2"', '"1"'), "file"))
    assert core.allows("ann", Action.PUBLISH, "a.x")


def test_ps_config_the_last_known_holds_where_the_file_is_gone_and_none_at_all_is_refused(tmp_path: Path) -> None:
    file, said_, store = tmp_path / "who.toml", list[str](), tmp_path / "store.sqlite"
    settings = Settings(name="one", store=store, configuration=file)
    with pytest.raises(BadInput, match="none that was known before"):
        Server(settings, said_.append).close()
    file.write_text(FIRST)
    first = Server(settings, said_.append)
    first.close()
    file.unlink()
    again = Server(settings, said_.append)
    assert again.core.allows("ann", Action.PUBLISH, "a.x")
    assert not again.core.allows("bob", Action.PUBLISH, "a.x")
    again.configuring.again()
    assert again.core.configuration is not None
    again.close()
    assert "configuration 1, the last known, holds" in said_


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("id = ", "no configuration"),
        ('id = ""', "the id is empty"),
        ('id = "1"\n[[entitlement]]\nuser = "a"\npublish = ["a..b"]', "empty token"),
        ('id = "1"\n[[entitlement]]\nuser = "a"\npublisch = []', "publisch"),
    ],
)
def test_what_is_no_configuration_is_refused_with_its_place(text: str, told: str) -> None:
    with pytest.raises(BadInput, match=f"who.toml.*{told}"):
        read(text, "who.toml")


@given(st.binary(max_size=200), st.sampled_from([b"", test_nats_session.QUIET, b"CONNECT " + b"[" * 3000 + b"\r\n"]))
def test_no_bytes_make_a_connection_fail(data: bytes, first: bytes) -> None:
    """Each ends it, or is taken."""
    core = Core("one", None, "life")
    test_nats_session.connected(core, first + data)
    broker = Broker(core)
    broker.connection(data)
    broker.connection(connect("c") + data)
    row = Joined("a", "b")
    row.join("a", "b")
    row.ends["a", "b"].neighbour.receive(data)
