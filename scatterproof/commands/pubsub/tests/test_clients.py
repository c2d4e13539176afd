"""Real appliances, and clients that others have made: each test starts processes, and ends them."""

from __future__ import annotations

import asyncio
import importlib
import threading
from pathlib import Path
from typing import Any

from scatterproof.commands.pubsub.tests.appliances import (
    LIMIT_S,
    Appliance,
    Paho,
    appliance,
    pair,
    until,
)

MQTT = ("--listen-mqtt", "127.0.0.1:0")


def test_ps_translate_paho_gets_each_level_across_two_appliances_and_what_is_retained_once() -> None:
    with pair() as (one, other):
        subscriber, publisher = Paho(other.ports["mqtt"], "subscriber"), Paho(one.ports["mqtt"], "publisher")
        assert subscriber.subscribe(("x/+", 2), ("$share//x", 1), ("x/#", 1)) == [2, 0x80, 1]
        for level in (0, 1, 2):
            publisher.publish("x/y", str(level), level)
        publisher.publish("y", "not wanted", 1)
        publisher.publish("x/kept", "kept", 1, retain=True)
        subscriber.wait(lambda: len(subscriber.got) >= 4)
        late = Paho(other.ports["mqtt"], "late")
        late.subscribe(("x/#", 1))
        late.wait(lambda: late.got)
        publisher.publish("x/kept", "", 1, retain=True)
        late.wait(lambda: len(late.got) == 2)
        latest = Paho(one.ports["mqtt"], "latest")
        latest.subscribe(("#", 0))
        publisher.publish("x/end", "end")
        latest.wait(lambda: latest.got)
        for client in (subscriber, publisher, late, latest):
            client.end()
        assert other.end() == one.end() == 0

    expected = [("x/y", str(level).encode(), level, False, False) for level in (0, 1, 2)]
    assert sorted(subscriber.got[:4]) == [("x/kept", b"kept", 1, False, False), *expected]
    assert late.got[:2] == [("x/kept", b"kept", 1, True, False), ("x/kept", b"", 1, False, False)]
    assert latest.got == [("x/end", b"end", 0, False, False)]


def test_ps_session_a_durable_session_gets_what_it_missed_in_order_ahead_of_what_is_live() -> None:
    with appliance(*MQTT) as one:
        publisher, durable = Paho(one.ports["mqtt"], "publisher"), Paho(one.ports["mqtt"], "durable", clean=False)
        durable.subscribe(("x", 2))
        durable.end()
        for number in range(300):  # more than are on their way to one client at once
            publisher.publish("x", str(number), number % 3)
        back = Paho(one.ports["mqtt"], "durable", clean=False)
        publisher.publish("x", "live", 2)
        back.wait(lambda: len(back.got) == 201)
        back.end()
        anew = Paho(one.ports["mqtt"], "durable", clean=True)
        publisher.end()
        anew.end()

    assert durable.present == [False]
    assert back.present == [True]
    assert anew.present == [False]
    # Best effort is not stored; order is promised within a level.
    for level in (1, 2):
        got = [payload for _, payload, its_level, *_ in back.got if its_level == level]
        assert got == [str(n).encode() for n in range(level, 300, 3)] + [b"live"] * (level == 2)


def test_a_will_is_published_when_its_client_goes_without_a_word_and_not_when_it_says_so() -> None:
    with appliance(*MQTT) as one:
        watcher = Paho(one.ports["mqtt"], "watcher")
        watcher.subscribe(("will/#", 1))
        for name, goes in (("polite", Paho.end), ("sudden", Paho.vanish)):
            goes(Paho(one.ports["mqtt"], name, topic=f"will/{name}", payload="gone", qos=1))
        watcher.wait(lambda: watcher.got)
        watcher.end()

    assert [topic for topic, *_ in watcher.got] == ["will/sudden"]


def test_ps_shared_members_of_a_shared_subscription_get_each_message_once_and_what_a_leaver_left() -> None:
    with appliance(*MQTT) as one:
        members = [Paho(one.ports["mqtt"], f"member{number}") for number in range(3)]
        for member in members:
            member.subscribe(("$share/g/x/#", 1))
        publisher = Paho(one.ports["mqtt"], "publisher")
        for number in range(30):
            publisher.publish("x/y", str(number), 1)
        publisher.wait(lambda: sum(len(member.got) for member in members) == 30)
        members[0].vanish()
        for number in range(30, 60):
            publisher.publish("x/y", str(number), 1)
        publisher.wait(lambda: {int(it[1]) for member in members for it in member.got} == set(range(60)))
        for client in (publisher, *members[1:]):
            client.end()

    assert all(len(member.got) >= 10 for member in members)


def test_ps_persisted_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    """The publisher is acknowledged a message ahead of the kill or not; what was is there, in order and once."""
    store = ("--store", str(tmp_path / "store.sqlite"), "--id", "one")
    acknowledged: list[int] = []
    with appliance(*MQTT, *store) as first:
        durable = Paho(first.ports["mqtt"], "durable", clean=False)
        durable.subscribe(("x/#", 2))
        publisher = Paho(first.ports["mqtt"], "publisher")
        publisher.publish("kept", "kept", 1, retain=True)
        publisher.publish("x/0", "0", 2)
        durable.wait(lambda: durable.got)
        durable.end()
        # The thread that kills it does not wait for anything that the loop does.
        killer = threading.Timer(0.05, first.kill)
        for number in range(1, 100_000):
            if number == 20:
                killer.start()
            sent = publisher.client.publish(f"x/{number}", str(number), 1 + number % 2)
            if sent.rc:  # it knows already that its connection is gone
                break
            until(lambda sent=sent: sent.is_published() or first.process.poll() is not None)  # type: ignore[misc]
            if not sent.is_published():
                break
            acknowledged.append(number)
        killer.join()
        publisher.vanish()
    with appliance(*MQTT, *store) as second:
        back = Paho(second.ports["mqtt"], "durable", clean=False)
        back.subscribe(("kept", 1))
        back.wait(lambda: len(back.got) >= len(acknowledged) + 1)
        back.end()
        assert second.end() == 0

    assert len(acknowledged) >= 19
    assert back.present == [True]
    assert ("kept", b"kept", 1, True, False) in back.got
    got = [(level, int(payload)) for topic, payload, level, *_ in back.got if topic != "kept"]
    for level in (1, 2):
        of_it = [number for its_level, number in got if its_level == level]
        due = [number for number in acknowledged if 1 + number % 2 == level]
        # One more may have been stored whose acknowledgement was on its way.
        assert of_it[: len(due)] == due
        assert len(of_it) <= len(due) + 1


def test_ps_translate_clients_of_nats_and_of_mqtt_get_each_others_messages_across_two_appliances() -> None:
    async def run(one: Appliance, other: Appliance) -> None:
        nats = importlib.import_module("nats")
        here, there = [await nats.connect(f"nats://127.0.0.1:{each.ports['nats']}") for each in (one, other)]
        got: list[tuple[str, bytes]] = []

        all_came = asyncio.Event()

        async def take(message: Any) -> None:
            got.append((message.subject, message.data))
            if len(got) == 3:
                all_came.set()

        async def answer(message: Any) -> None:
            await message.respond(b"to " + message.data)

        await there.subscribe("x.>", cb=take)
        await there.subscribe("x.*", cb=take)
        await there.subscribe("service", "workers", cb=answer)
        await here.subscribe("service", "workers", cb=answer)
        for client in 2 * (there, here):  # Twice: docs/reports/nats-py-flush.md.
            await client.flush()
        await here.publish("x.nats", b"from nats")
        await here.publish("y", b"not wanted")
        await here.flush()
        await asyncio.to_thread(publisher.publish, "x/mqtt/deep", "from mqtt", 1)
        assert (await here.request("service", b"me", timeout=LIMIT_S)).data == b"to me"
        await all_came.wait()
        assert sorted(got) == [("x.mqtt.deep", b"from mqtt"), ("x.nats", b"from nats"), ("x.nats", b"from nats")]
        await there.drain()
        await here.close()

    with pair() as (one, other):
        publisher, subscriber = Paho(one.ports["mqtt"], "publisher"), Paho(other.ports["mqtt"], "subscriber")
        subscriber.subscribe(("x/#", 2))
        asyncio.run(asyncio.wait_for(run(one, other), LIMIT_S))
        subscriber.wait(lambda: len(subscriber.got) == 2)
        publisher.end()
        subscriber.end()
    assert subscriber.got == [("x/nats", b"from nats", 0, False, False), ("x/mqtt/deep", b"from mqtt", 1, False, False)]
