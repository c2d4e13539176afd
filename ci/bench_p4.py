"""Packets a second of the embedded P4 target on one core: the switch program on the frames that a busy star gives it,
and sample programs; compared with BMv2 where simple_switch_grpc is on PATH.

CPU time, best of three tries. The frames are recorded once in simulation, and replayed to a fresh switch with the same
entries, so that only the target is measured.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from random import Random

from ci.bench_schedules import PROTOCOL, busy_schedule
from scatterproof.conformance.network.simulator import Simulation
from scatterproof.conformance.network.topologies import star
from scatterproof.conformance.protocol import load as load_protocol
from scatterproof.impl.bmv2.switch import Bmv2Switch
from scatterproof.impl.totalorder.p4.bmv2 import Bmv2Target, Idle
from scatterproof.impl.totalorder.p4.core import with_switches
from scatterproof.impl.totalorder.p4.embedded import EmbeddedTarget
from scatterproof.impl.totalorder.p4.entries import Entries
from scatterproof.impl.totalorder.p4.frames import CPU_PORT
from scatterproof.impl.v1model import ControlEntry, EmbeddedSwitch, Lpm, Match, Range, Ternary
from scatterproof.impl.v1model.tests.samples import PROGRAMS, pack, switch, word_sum
from scatterproof.spec.core import node_config
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.topology import route

BUILD = "default"
SIZES = (8, 16)
SUBMISSIONS = 4_000
TRIES = 3
PACKETS = 20_000
# BMv2 is given packets at a pace: unpaced bursts overflow its input.
BMV2_RATES = (4_000, 8_000, 16_000)
BMV2_PACKETS = 4_000
Figure = tuple[str, str]
Running = Bmv2Switch
Arrival = tuple[int, bytes, int]


class KeepingTarget:
    """A target that runs the program and records entries and arrivals."""

    def __init__(self, size: int) -> None:
        self._target = EmbeddedTarget(BUILD, size)
        self.entries: Entries | None = None
        self.arrivals: list[Arrival] = []

    def write(self, entries: Entries) -> None:
        self.entries = entries
        self._target.write(entries)

    def process(self, port: int, data: bytes, tick: int) -> Sequence[tuple[int, bytes]]:
        self.arrivals.append((port, data, tick))
        return self._target.process(port, data, tick)

    def refusals(self) -> Sequence[int]:
        return self._target.refusals()

    def close(self) -> None:
        self._target.close()


def recorded(hosts: int) -> KeepingTarget:
    """The target of a star's switch after a busy run."""
    made: list[KeepingTarget] = []

    def target(size: int) -> KeepingTarget:
        made.append(KeepingTarget(size))
        return made[-1]

    schedule = busy_schedule(star(hosts), SUBMISSIONS)
    topology, routes = schedule.topology, route(schedule.topology)
    make = with_switches(target, clock_in_frame=False)
    nodes = [
        make(node_config(node, topology, routes, PROTOCOL, schedule.parameters)) for node in range(len(topology.nodes))
    ]
    plugin = load_protocol(PROTOCOL)
    Simulation(schedule, nodes, plugin.recorder(), plugin.horizon_ns(schedule)).run()
    return max(made, key=lambda one: len(one.arrivals))


def speed(make: Callable[[], EmbeddedSwitch], arrivals: Sequence[Arrival]) -> float:
    """Packets given a second, best of a few tries, each on a fresh switch."""
    best = 0.0
    for _ in range(TRIES):
        process = make().process
        start = time.process_time()
        for port, data, tick in arrivals:
            process(port, data, now_us=tick)
        best = max(best, len(arrivals) / (time.process_time() - start))
    return best


def p4() -> Iterator[Figure]:
    """The figures, of all targets that this machine has."""
    for hosts in SIZES:
        yield from switch_figures(hosts)
    for name, workload in SAMPLES.items():
        yield from sample_figures(name, *workload())


def switch_figures(hosts: int) -> Iterator[Figure]:
    """The switch program at this number of ports."""
    recorder = recorded(hosts)
    entries, arrivals = recorder.entries, recorder.arrivals
    assert entries is not None

    def fresh() -> EmbeddedSwitch:
        target = EmbeddedTarget(BUILD, hosts)
        target.write(entries)
        return target.switch

    replayed = fresh()
    left = sum(len(replayed.process(port, data, now_us=tick)) for port, data, tick in arrivals)
    what = f"P4 switch, {hosts} ports ({len(arrivals)} packets, {left / len(arrivals):.1f} leave for each)"
    yield f"{what}, embedded", f"{speed(fresh, arrivals):,.0f} packets/s"

    def real() -> Running:
        target = Bmv2Target(Idle(BUILD), hosts)
        target.write(entries)
        return target.switch

    yield f"{what}, BMv2", bmv2_speed(real, arrivals)


def sample_figures(
    name: str, fill: Callable[[Running | EmbeddedSwitch], None], arrivals: Sequence[Arrival]
) -> list[Figure]:
    """A sample program of the embedded target's tests."""

    def fresh() -> EmbeddedSwitch:
        made = switch(name)
        fill(made)
        return made

    def real() -> Running:
        made = Bmv2Switch(PROGRAMS / f"{name}.json", ports=8)
        fill(made)
        return made

    replayed = fresh()
    left = sum(len(replayed.process(port, data, now_us=tick)) for port, data, tick in arrivals)
    what = f"P4 sample {name} ({len(arrivals)} packets, {left / len(arrivals):.1f} leave for each)"
    return [
        (f"{what}, embedded", f"{speed(fresh, arrivals):,.0f} packets/s"),
        (f"{what}, BMv2", bmv2_speed(real, arrivals)),
    ]


def bmv2_speed(make: Callable[[], Running], arrivals: Sequence[Arrival]) -> str:
    """At each rate, how many packets left for those sent; or why BMv2 was not run."""
    packets = [(port, data) for port, data, _ in arrivals if port < CPU_PORT]
    try:
        target = make()
    except CannotRun as error:
        return f"not run: {error}"
    with target:
        told = []
        for turn, rate in enumerate(BMV2_RATES):
            # The program may refuse a packet that it has seen, so each rate has packets of its own.
            paced = target.paced(packets[turn * BMV2_PACKETS : (turn + 1) * BMV2_PACKETS], rate)
            told.append(f"{len(paced.packets):,} left for {paced.sent:,} at {paced.sent / paced.seconds:,.0f}/s")
    return "; ".join(told)


def route_workload() -> tuple[Callable[[Running | EmbeddedSwitch], None], list[Arrival]]:
    """Addresses of 64 networks, each with a neighbour of its own."""
    draw = Random(1)

    def fill(made: Running | EmbeddedSwitch) -> None:
        for network in range(64):
            via = {"hop": network, "port": network % 8}
            made.tables["Enter.routes"].add(
                ControlEntry({"hdr.ipv4.destination": Lpm(0x0A000000 | network << 16, 16)}, "Enter.via", via)
            )
            match = {"meta.hop": network, "std.egress_spec": network % 8}
            made.tables["Enter.neighbours"].add(
                ControlEntry(match, "Enter.rewrite", {"source": 1, "destination": network})
            )

    def packet() -> bytes:
        head = [(4, 4), (5, 4), (0, 8), (40, 16), (0, 32), (64, 8), (6, 8)]
        addresses = [(0xC0A80001, 32), (0x0A000000 | draw.randrange(64) << 16 | draw.randrange(1 << 16), 32)]
        ipv4 = pack(*head, (word_sum(pack(*head, (0, 16), *addresses)), 16), *addresses)
        return pack((1, 48), (2, 48), (0x0800, 16)) + ipv4 + bytes(20)

    return fill, [(draw.randrange(8), packet(), 0) for _ in range(PACKETS)]


def acl_workload() -> tuple[Callable[[Running | EmbeddedSwitch], None], list[Arrival]]:
    """Eight ternary rules, and twenty ranges."""
    draw = Random(2)

    def fill(made: Running | EmbeddedSwitch) -> None:
        for rule in range(8):
            match: dict[str, Match] = {"hdr.request.source": Ternary(rule, 0xFF), "hdr.request.kind": 1}
            made.tables["Enter.rules"].add(ControlEntry(match, "Enter.mark", {"verdict": rule}, rule + 1))
        for rule in range(20):
            match = {"hdr.request.low": Range(100 * rule, 100 * rule + 50)}
            made.tables["Enter.ports"].add(ControlEntry(match, "Enter.mark", {"verdict": rule}, rule + 1))

    def packet() -> bytes:
        kind = draw.choice([1, 12])
        return pack((kind, 8), (draw.randrange(16), 32), (draw.randrange(2_000), 16), (0, 16), (0, 8)) + bytes(10)

    return fill, [(draw.randrange(8), packet(), 0) for _ in range(PACKETS)]


def register_workload() -> tuple[Callable[[Running | EmbeddedSwitch], None], list[Arrival]]:
    """Exchanges and maxima."""
    draw = Random(3)

    def packet() -> bytes:
        return pack((draw.randrange(3), 8), (draw.randrange(10), 8), (draw.randrange(1 << 32), 32)) + bytes(10)

    return lambda made: None, [(draw.randrange(8), packet(), 0) for _ in range(PACKETS)]


SAMPLES = {"l3_route": route_workload, "acl": acl_workload, "registers": register_workload}


def main() -> None:
    print("| what | figure |\n|---|---|")
    for what, figure in p4():
        print(f"| {what} | {figure} |", flush=True)


if __name__ == "__main__":
    main()
