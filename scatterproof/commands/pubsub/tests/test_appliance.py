"""Real appliances, and what they say where something cannot be."""

from __future__ import annotations

import json
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from scatterproof import cli
from scatterproof.commands.pubsub.tests.appliances import Paho, appliance

MQTT = ("--listen-mqtt", "127.0.0.1:0")
WHO = 'id = "{id}"\n[[entitlement]]\nuser = "{user}"\nsubscribe = ["open"]\n'


@pytest.fixture
def run_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """The command in this process: its exit code, and what it said."""

    def run(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["scatterproof", "appliance", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr()
        code = ended.value.code
        return (code if isinstance(code, int) else 0), (said.out + said.err).replace("\n", " ")

    return run


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["run"], 2, "nobody could reach it"),
        (["run", "--listen-mqtt", "1883"], 2, "give an address and a port"),
        (["run", "--listen-mqtt", "127.0.0.1:0", "--id", "a b"], 2, "letters, digits"),
        (["run", "--listen-mqtt", "127.0.0.1:TAKEN"], 3, "choose another"),
        (["run", "--listen-mqtt", "127.0.0.1:0", "--store", "no/such/folder/a"], 3, "cannot be opened"),
        (["run", "--listen-mqtt", "127.0.0.1:0", "--store", __file__], 2, "no database of an appliance"),
        (["run", "--listen-mqtt", "127.0.0.1:0", "--ring", "10"], 2, "at most --ring"),
        (["run", "--listen-mqtt", "127.0.0.1:0", "--urgent", "a..b"], 2, "has an empty token"),
        (["run", "--listen-mqtt", "127.0.0.1:0", "--standby"], 2, "give both the same --store"),
        (["run", "--listen-mqtt", "127.0.0.1:0", "--statistics", "-1"], 2, "give seconds"),
        (["run", "--listen-mqtt", "127.0.0.1:0", "--management", "127.0.0.1:1"], 2, "with --trust the key"),
        (["run", "--listen-mqtt", "127.0.0.1:0", "--trust", "k"], 2, "give --management"),
        (["run", *MQTT, "--management", "127.0.0.1:1", "--trust", "no/such/key"], 2, "`scatterproof appliance key`"),
        (["run", *MQTT, "--management", "127.0.0.1:1", "--trust", "k", "--entitlements", "w"], 2, "not from both"),
        (["provision", "--listen", "1", "--key", "k", "--configuration", "w"], 2, "give an address and a port"),
        (["provision", "--listen", "127.0.0.1:0", "--key", "k", "--configuration", "w"], 2, "k: cannot be read"),
        (["inspect", "nowhere.sqlite"], 2, "there is no such file"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(
    words: list[str], code: int, told: str, run_command: Callable[..., tuple[int, str]]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        found = run_command(*(word.replace("TAKEN", str(taken.getsockname()[1])) for word in words))

    assert found[0] == code
    assert told in found[1]


def test_two_appliances_with_one_name_are_not_joined_and_a_store_is_not_shared(
    tmp_path: Path, run_command: Callable[..., tuple[int, str]]
) -> None:
    store = ("--store", str(tmp_path / "one.sqlite"))
    with appliance("--id", "one", "--listen-neighbours", "127.0.0.1:0", *store) as one:
        code, told = run_command("run", *MQTT, *store)
        with appliance("--id", "one", "--neighbour", f"127.0.0.1:{one.ports['neighbours']}") as other:
            for each in (one, other):
                each.wait_for("has another's name")
        assert one.end() == 0

    assert code == 3
    assert "another process has it open" in told
    assert '"sessions": []' in run_command("inspect", store[1], "--json")[1]


@pytest.mark.slow
def test_ps_auth_ps_config_a_management_node_says_who_may_do_what_and_the_last_known_holds_without_it(
    tmp_path: Path, run_command: Callable[..., tuple[int, str]]
) -> None:
    key, who, store = tmp_path / "key", tmp_path / "who.toml", tmp_path / "store"
    assert run_command("key", str(key))[0] == 0
    who.write_text(WHO.format(id=1, user="ann"))
    trusts = (*MQTT, "--id", "one", "--store", str(store), "--trust", f"{key}.pub")
    words = ("--listen", "127.0.0.1:0", "--key", str(key), "--configuration", str(who))
    with appliance(*words, command="provision") as node:
        manages = ("--management", f"127.0.0.1:{node.ports['appliances']}")
        with appliance(*trusts, *manages) as one:
            one.wait_for("configuration 1 holds now")
            client = Paho(one.ports["mqtt"], "c", user="ann")
            assert client.subscribe(("open", 1), ("shut", 1)) == [1, 0x80]
            who.write_text(WHO.format(id=2, user="bob"))
            node.process.send_signal(signal.SIGHUP)
            one.wait_for("configuration 2 holds now")
            assert client.subscribe(("open", 1)) == [0x80]
            client.end()
            assert node.end() == 0
            assert not node.has_said("Traceback"), node.said
            assert one.end() == 0
    with appliance(*trusts, *manages) as one:
        one.wait_for("configuration 2, the last known, holds")
        for user, granted in (("ann", 0x80), ("bob", 1)):
            client = Paho(one.ports["mqtt"], user, user=user)
            assert client.subscribe(("open", 1)) == [granted]
            client.end()


@pytest.mark.slow
def test_ps_latency_what_appliances_count_and_measure_is_published() -> None:
    often = ("--statistics", "0.02")
    with (
        appliance("--id", "one", *MQTT, "--listen-neighbours", "127.0.0.1:0", *often) as one,
        appliance("--id", "the.other", "--neighbour", f"127.0.0.1:{one.ports['neighbours']}", *often),
    ):
        client = Paho(one.ports["mqtt"], "watcher")
        client.subscribe(("$SYS/#", 0))
        client.wait(lambda: sum(topic == "$SYS/the-other" for topic, *_ in client.got) > 70)
        client.got.clear()
        client.wait(lambda: any(topic == "$SYS/one" for topic, *_ in client.got))
        said = json.loads(next(payload for topic, payload, *_ in client.got if topic == "$SYS/one"))
        client.end()

    assert said["neighbours"] == ["the.other"]
    latency = said["latency"]["the.other"]
    assert latency["number"] > 64
    assert 0 < latency["least_ns"] <= latency["mean_ns"] < 10e9
    assert {"trend", "drift"} < set(latency)
    assert said["counts"]["from neighbours"] == latency["number"]
