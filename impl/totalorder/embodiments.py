"""The forms of a switch (TO-SW-1 to TO-SW-6), as parameter `switch` chooses among them: one, two or proxy.

processor_delay_ns: how long a second processor, or a proxy host, holds a beacon. forwarding_delay_ns: how long a data
message waits at the sending port of a switch with two processors or a proxy host.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from msgspec.structs import replace

from scatterproof.impl.totalorder.proxy import Handover, ProxiedSwitch, ProxyHost
from scatterproof.impl.totalorder.rules import Rules
from scatterproof.impl.totalorder.sending_port import SendingPort
from scatterproof.impl.totalorder.settings import settings
from scatterproof.impl.totalorder.two_processors import (
    Aggregator,
    MakePort,
    SecondProcessor,
    TheCore,
    TwoProcessorSwitch,
)
from scatterproof.spec.core import NodeConfig
from scatterproof.spec.errors import BadInput
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder import proxies
from scatterproof.spec.totalorder.proxies import Proxy

MakeCore: TypeAlias = Callable[[NodeConfig, Rules], TheCore]

ONE, TWO, PROXY = "one", "two", "proxy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How the switches of a run are built. Times in ns."""

    switch: str
    processor_delay: int
    forwarding_delay: int
    proxies: tuple[Proxy, ...]


def form(config: NodeConfig) -> Form:
    """The form that the parameters ask for; BadInput for one that cannot be."""
    given = Parameters("totalorder", config.parameters, f"node {config.node}")
    switch = given["switch"]
    if switch != ONE and settings(config).data_carry_barriers:
        environment = config.parameters["environment"]
        raise BadInput(
            f"node {config.node}: in environment {environment} data messages carry barriers, which a switch of form "
            f"{switch} does not aggregate; choose environment B, D7 or D8"
        )
    if switch != ONE and given["failure_timeout_ns"]:
        raise BadInput(
            f"node {config.node}: failures are handled by switches with one processor alone; set failure_timeout_ns to "
            "0, or switch to one"
        )
    found = proxies.read(config.parameters)
    if switch == PROXY and not found:
        raise BadInput(f"node {config.node}: parameter switch is proxy, but proxies names none; name some")
    return Form(
        switch=str(switch),
        processor_delay=given.number("processor_delay_ns"),
        forwarding_delay=given.number("forwarding_delay_ns"),
        proxies=found if switch == PROXY else (),
    )


def embodied(
    config: NodeConfig,
    rules: Rules,
    make_plain: MakeCore,
    *,
    make_port: MakePort = SendingPort,
    make_proxied: type[ProxiedSwitch] = ProxiedSwitch,
    make_proxy: type[ProxyHost] = ProxyHost,
) -> TheCore:
    """The core of a node; `make_plain` makes those of hosts and of switches with one processor."""
    chosen = form(config)
    if chosen.switch == ONE:
        return make_plain(config, rules)
    plain = replace(config, parameters={**config.parameters, "switch": ONE})
    if config.role is Role.HOST:
        served = [proxy for proxy in chosen.proxies if proxy.host == config.node]
        host = make_plain(plain, rules)
        if not served:
            return host

        def processor(proxy: Proxy, life: int) -> SecondProcessor:
            return SecondProcessor(make_plain(_switch_of(proxy, plain, life), rules), chosen.processor_delay)

        return make_proxy(config, host, processor, served)
    own = next((proxy for proxy in chosen.proxies if proxy.switch == config.node), None)
    aggregator: Aggregator
    if own is None:
        aggregator = SecondProcessor(make_plain(plain, rules), chosen.processor_delay)
    else:
        _check_own(config, own)
        aggregator = Handover(own, settings(config).incarnation)
    if chosen.switch == TWO:
        return TwoProcessorSwitch(
            config, rules, aggregator, forwarding_delay=chosen.forwarding_delay, make_port=make_port
        )
    return make_proxied(
        config,
        rules,
        aggregator,
        proxies=chosen.proxies,
        forwarding_delay=chosen.forwarding_delay,
        make_port=make_port,
    )


def _switch_of(proxy: Proxy, host: NodeConfig, life: int) -> NodeConfig:
    """The configuration of the switch as its proxy host aggregates for it: without routes, for it forwards nothing."""
    return replace(
        host,
        parameters={**host.parameters, "incarnation": life},
        node=proxy.switch,
        role=Role.SWITCH,
        ingress=proxy.ingress,
        egress=proxy.egress,
        next_link=(),
        reaching=proxy.reaching,
    )


def _check_own(config: NodeConfig, own: Proxy) -> None:
    same = (own.ingress, own.egress, own.reaching) == (config.ingress, config.egress, config.reaching)
    if not same or own.there[0] not in config.egress or own.back[-1] not in config.ingress:
        raise BadInput(f"node {config.node}: parameter proxies gives this switch other links than its configuration")
