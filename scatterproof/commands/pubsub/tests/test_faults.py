"""Real appliances that are killed, and links that are cut, while messages of each level are published: what each level
promises is kept (PS-FT, PS-NEIGHBOUR, PS-QOS-GD, PS-QOS-LEVEL, PS-ORDER)."""

from __future__ import annotations

import signal
import time
from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest

from scatterproof.commands.pubsub.tests.appliances import LIMIT_S, Appliance, Paho, appliance
from scatterproof.commands.pubsub.tests.cable import Cable
from scatterproof.conformance.serving import free_ports


def _numbers(client: Paho, level: int) -> list[int]:
    return [int(payload) for _, payload, of, *_ in client.got if of == level]


@pytest.mark.slow
def test_three_in_a_row_keep_what_each_level_promises_while_any_is_killed_and_any_link_is_cut(
    tmp_path: Path,
) -> None:
    faults = ["cut b", "cut c", "kill a", "kill b", "kill c"]
    Random(0).shuffle(faults)
    mqtt, native = dict(zip("abc", free_ports(3), strict=True)), dict(zip("abc", free_ports(3), strict=True))
    with ExitStack() as opened:
        cables = {"b": Cable(native["a"]), "c": Cable(native["b"])}  # of who dials
        for cable in cables.values():
            opened.callback(cable.close)
        running: dict[str, Appliance] = {}

        def start(name: str) -> None:
            words = ["--id", name, "--store", str(tmp_path / name), "--listen-mqtt", f"127.0.0.1:{mqtt[name]}"]
            words += ["--listen-neighbours", f"127.0.0.1:{native[name]}"]
            words += ["--neighbour", f"127.0.0.1:{cables[name].port}"] if name in cables else []
            running[name] = opened.enter_context(appliance(*words))

        for name in "abc":
            start(name)
        running["b"].wait_for("linked to a")
        running["c"].wait_for("linked to b")
        taker = Paho(mqtt["c"], "taker", clean=False)
        taker.client.reconnect_delay_set(1, 1)  # it comes again by itself
        assert taker.subscribe(("t", 2)) == [2]
        source = Paho(mqtt["a"], "source", clean=False)
        number = 0
        for fault in faults:
            what, name = fault.split()
            if what == "cut":
                cables[name].cut()
            else:
                running[name].kill()
            if fault == "kill a":
                source.vanish()
                start("a")
                source = Paho(mqtt["a"], "source", clean=False)
            for _ in range(12):
                number += 1
                source.publish("t", str(number), number % 3)
            if what == "cut":
                cables[name].mend()
            elif name != "a":
                start(name)
        owed = {level: [each for each in range(1, number + 1) if each % 3 == level] for level in range(3)}
        taker.wait(lambda: len(set(_numbers(taker, 1))) == len(owed[1]) and len(_numbers(taker, 2)) >= len(owed[2]))
        for client in (taker, source):
            client.end()

    assert _numbers(taker, 2) == owed[2]
    assert list(dict.fromkeys(_numbers(taker, 1))) == owed[1]
    best_effort = _numbers(taker, 0)
    assert best_effort == sorted(set(best_effort))


@pytest.mark.slow
def test_ps_neighbour_one_that_hangs_is_taken_as_dead_and_gets_what_waited_when_it_goes_on() -> None:
    with ExitStack() as opened:
        words = ("--listen-mqtt", "127.0.0.1:0", "--keep-alive", "1")
        a = opened.enter_context(appliance("--id", "a", *words, "--listen-neighbours", "127.0.0.1:0"))
        b = opened.enter_context(appliance("--id", "b", *words, "--neighbour", f"127.0.0.1:{a.ports['neighbours']}"))
        b.wait_for("linked to a")
        taker, source = Paho(b.ports["mqtt"], "taker"), Paho(a.ports["mqtt"], "source")
        assert taker.subscribe(("t", 2)) == [2]
        source.publish("t", "0", 2)
        b.process.send_signal(signal.SIGSTOP)
        source.publish("t", "1", 2)
        a.wait_for("b is silent")
        a.wait_for("lost b")
        source.publish("t", "2", 2)
        b.process.send_signal(signal.SIGCONT)
        taker.wait(lambda: len(_numbers(taker, 2)) == 3)
        for client in (taker, source):
            client.end()

    assert _numbers(taker, 2) == [0, 1, 2]


@pytest.mark.slow
def test_ps_neighbour_messages_take_the_better_of_two_ways_and_a_change_loses_and_repeats_nothing() -> None:
    with ExitStack() as opened:
        listens = ("--listen-mqtt", "127.0.0.1:0")
        a = opened.enter_context(appliance("--id", "a", *listens, "--listen-neighbours", "127.0.0.1:0"))
        cables = Cable(a.ports["neighbours"]), Cable(a.ports["neighbours"])
        for cable in cables:
            opened.callback(cable.close)
        first, second = (f"127.0.0.1:{cable.port}" for cable in cables)
        cables[1].cut()
        b = opened.enter_context(
            appliance("--id", "b", *listens, "--neighbour", f"{first},{second}", "--statistics", "0.1")
        )
        b.wait_for(f"linked to a by {first}")
        taker, source = Paho(b.ports["mqtt"], "taker"), Paho(a.ports["mqtt"], "source")
        assert taker.subscribe(("t", 2)) == [2]
        number = 0

        def publish_until_used(way: str) -> None:
            nonlocal number
            end, least = time.monotonic() + LIMIT_S, number + 12
            while number < least or not [line for line in b.said if "linked to a by" in line][-1].endswith(way):
                assert time.monotonic() < end, b.said
                source.publish("t", str(number), number % 3)
                number += 1

        cables[0].delay_s = 0.2
        cables[1].mend()
        publish_until_used(second)
        cables[0].delay_s = 0.0
        cables[1].cut()
        publish_until_used(first)
        owed = {level: [each for each in range(number) if each % 3 == level] for level in (1, 2)}
        taker.wait(lambda: all(len(_numbers(taker, level)) >= len(owed[level]) for level in owed))
        for client in (taker, source):
            client.end()

    assert {level: _numbers(taker, level) for level in owed} == owed
    best_effort = _numbers(taker, 0)
    assert best_effort == sorted(set(best_effort))


@pytest.mark.slow
def test_ps_multipath_on_a_ring_nobody_waits_for_one_that_is_killed_and_copies_are_dropped(tmp_path: Path) -> None:
    native = dict(zip("abc", free_ports(3), strict=True))
    joined = {"a": "", "b": "a", "c": "ab"}
    with ExitStack() as opened:
        running: dict[str, Appliance] = {}

        def start(name: str) -> None:
            words = ["--id", name, "--store", str(tmp_path / name), "--listen-mqtt", "127.0.0.1:0", "--all-paths"]
            words += ["--listen-neighbours", f"127.0.0.1:{native[name]}"]
            words += [word for other in joined[name] for word in ("--neighbour", f"127.0.0.1:{native[other]}")]
            running[name] = opened.enter_context(appliance(*words))

        for name in "abc":
            start(name)
        for name, others in joined.items():
            for other in others:
                running[name].wait_for(f"linked to {other}")
        taker, source = (Paho(running[name].ports["mqtt"], name) for name in "ca")
        assert taker.subscribe(("t", 2)) == [2]
        for number in range(30):
            source.publish("t", str(number), number % 3)
            if number == 9:
                running["b"].kill()
            elif number == 19:
                taker.wait(lambda: len(_numbers(taker, 2)) == 6)  # while it is away
                start("b")
                running["c"].wait_for("lost b")
        taker.wait(lambda: len(_numbers(taker, 2)) == 10 and len(_numbers(taker, 1)) == 10)
        for client in (taker, source):
            client.end()
        assert running["c"].end() == 0
        assert running["c"].has_said("copies dropped")

    for level in (1, 2):
        assert _numbers(taker, level) == list(range(level, 30, 3))
    assert _numbers(taker, 0) == sorted(set(_numbers(taker, 0)))


@pytest.mark.slow
def test_ps_ft_the_second_of_a_pair_takes_over_with_nothing_guaranteed_lost(tmp_path: Path) -> None:
    first, second, *native = free_ports(4)
    with ExitStack() as opened:
        pair = list[Appliance]()
        for mqtt, port, standby, told in ((first, native[0], (), "ready"), (second, native[1], ("--standby",), "by")):
            words = ("--id", "a", "--store", str(tmp_path / "a"), "--listen-mqtt", f"127.0.0.1:{mqtt}")
            pair.append(Appliance(*words, "--listen-neighbours", f"127.0.0.1:{port}", *standby))
            opened.callback(pair[-1].process.kill)
            pair[-1].wait_for(told)
        both = [word for port in native for word in ("--neighbour", f"127.0.0.1:{port}")]
        with appliance("--id", "b", "--listen-mqtt", "127.0.0.1:0", *both) as b:
            b.wait_for("linked to a")
            taker, away = Paho(b.ports["mqtt"], "taker"), Paho(first, "away", clean=False)
            for client in (taker, away):
                assert client.subscribe(("t", 2)) == [2]
            away.end()
            source = Paho(first, "source")
            for number in range(40):
                source.publish("t", str(number), 2)
                if number == 19:
                    assert not pair[1].has_said("takes over")
                    pair[0].kill()
                    source.vanish()
                    pair[1].wait_for("ready")
                    source = Paho(second, "source")
            away = Paho(second, "away", clean=False)
            for client in (taker, away):
                client.wait(lambda client=client: len(client.got) >= 40)  # type: ignore[misc]
            for client in (taker, away, source):
                client.end()
            assert pair[1].end() == 0

    for client in (taker, away):
        assert _numbers(client, 2) == list(range(40))
