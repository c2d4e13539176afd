"""Hostile datagrams: none raises, none is read otherwise than it was written, and none that is refused leaves a trace.

Two cores are driven side by side: one takes every packet that decodes, its twin only those that the first one took. A
refusal that changed anything would part them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec import json
from msgspec.structs import replace

from scatterproof.impl.totalorder import make_core
from scatterproof.impl.totalorder.codec import Malformed, decode, encode
from scatterproof.impl.totalorder.tests.datagrams import PROXY_HOST, SWITCH, Attacker, Dice
from scatterproof.impl.totalorder.tests.nodes import host_config, switch_config
from scatterproof.impl.totalorder.tests.states import state
from scatterproof.spec.core import (
    Core,
    Effect,
    Event,
    NodeConfig,
    PacketArrived,
    Parameter,
    Refuse,
    Submitted,
    TimerFired,
)
from scatterproof.spec.totalorder.messages import Delivery, Environment, Packet
from scatterproof.spec.totalorder.proxies import Proxy

AnyCore = Core[Packet, Delivery]
NODES = 4
# Datagrams to one pair of cores. A forged link number makes a core refuse all that follows: it is replaced soon.
EPISODE = 250
# Host 0 for switch 9, which is not beside it.
PROXY = Proxy(
    switch=SWITCH,
    host=PROXY_HOST,
    there=(20, 100),
    back=(10, 1),
    ingress=(1, 2, 3),
    egress=(20, 21),
    reaching=((1, 2, 3), (2, 3)),
)


def configs(environment: Environment) -> tuple[NodeConfig, ...]:
    plain = host_config(environment=environment), switch_config(environment=environment)
    if environment.data_carry_barriers:
        return plain
    proxied: dict[str, Parameter] = {"switch": "proxy", "proxies": json.encode([PROXY]).decode()}
    forms: tuple[dict[str, Parameter], ...] = ({"switch": "two", "processor_delay_ns": 3}, proxied)
    return (*plain, *(replace(config, parameters=config.parameters | form) for form in forms for config in plain))


class Pair:
    """A core and its twin. `outcomes` counts what became of datagrams."""

    def __init__(self, make: Callable[[], AnyCore], outcomes: Counter[str]) -> None:
        self._core, self._twin = make(), make()
        self._outcomes = outcomes

    def event(self, event: Event[Packet]) -> None:
        effects = self._core.handle(event)
        if any(isinstance(effect, Refuse) for effect in effects):
            assert len(effects) == 1, f"{event} was refused and had other effects: {effects}"
            self._outcomes["refused"] += 1
            return
        self._outcomes["taken"] += 1
        twin: Sequence[Effect[Any, Any]] = self._twin.handle(event)
        assert list(effects) == list(twin), f"{event}: a refused packet has changed what follows"

    def compare(self) -> None:
        assert state(self._core) == state(self._twin), "a refused packet has changed the core's state"
        assert self._core.next_deadline() == self._twin.next_deadline()


def bombard(make: Callable[[NodeConfig], AnyCore], environments: Sequence[Environment], count: int) -> Counter[str]:
    """Send `count` datagrams to cores of every role and environment in turn; what became of them."""
    outcomes = Counter[str]()
    places = [config for environment in environments for config in configs(environment)]
    for episode in range(count // EPISODE):
        config = places[episode % len(places)]
        draw = Dice(episode)
        pair = Pair(lambda config=config: make(config), outcomes)  # type: ignore[misc]
        environment = Environment(str(config.parameters["environment"]))
        attackers = [(link, Attacker(draw, environment, NODES)) for link in config.ingress]
        for now in range(EPISODE):
            link, attacker = draw.one_of(attackers)
            datagram = attacker.datagram()
            packet = decode(datagram)
            if isinstance(packet, Malformed):
                outcomes[packet] += 1
                continue
            assert encode(packet) == datagram
            pair.event(PacketArrived(now, link, packet))
            if now % 16 == 0:
                pair.event(TimerFired(now))
                if config.next_link and config.role == "host":
                    pair.event(Submitted(now, ((draw.one_of(config.next_link)[0], b"own"),)))
        pair.compare()
    return outcomes


def test_of_twenty_thousand_hostile_datagrams_none_raises_and_none_refused_changes_a_core() -> None:
    outcomes = bombard(make_core, tuple(Environment), 20_000)

    # Every reason was met, and cores saw enough of both sorts.
    assert set(outcomes) == {*map(str, Malformed), "taken", "refused"}
    assert min(outcomes["taken"], outcomes["refused"]) > 2_000


@pytest.mark.slow
def test_of_a_million_hostile_datagrams_none_raises_and_none_refused_changes_a_core() -> None:
    outcomes = bombard(make_core, tuple(Environment), 1_000_000)

    assert set(outcomes) == {*map(str, Malformed), "taken", "refused"}


class Leaky:
    """A core that notes something of what it refuses."""

    def __init__(self, config: NodeConfig) -> None:
        self._core = make_core(config)
        self._noted = 0

    def handle(self, event: Event[Packet]) -> Sequence[Effect[Packet, Delivery]]:
        effects = self._core.handle(event)
        if effects and isinstance(effects[0], Refuse):
            self._noted += 1
        return effects

    def next_deadline(self) -> int | None:
        return self._core.next_deadline()


def test_a_core_that_notes_what_it_refuses_is_found_out() -> None:
    with pytest.raises(AssertionError, match="changed the core's state"):
        bombard(Leaky, (Environment.C,), 1_000)
