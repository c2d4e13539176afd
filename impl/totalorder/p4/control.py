"""The control plane: what the P4 switch of one node is told, from its configuration. It only computes data.

Clauses: TO-BAR-MIN, TO-BAR-PART, TO-FMT-5 to TO-FMT-9, TO-BEACON-MIN, TO-SW-6.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from scatterproof.impl.totalorder.link_state import structure
from scatterproof.impl.totalorder.p4 import entries as to
from scatterproof.impl.totalorder.p4.entries import Entries, MulticastGroup, TableEntry
from scatterproof.impl.totalorder.p4.frames import CPU_PORT, TICK_LIMIT, address, mac
from scatterproof.impl.totalorder.settings import settings
from scatterproof.spec.core import NodeConfig
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.topology import LinkId, NodeId, Topology
from scatterproof.spec.totalorder import proxies
from scatterproof.spec.totalorder.messages import PacketKind
from scatterproof.spec.totalorder.proxies import Proxy

SIZES = (8, 16)  # ports that the program is compiled for
# What a replica is, in the two lowest bits of its instance.
_FORWARDED, _BEACON_0 = 0, 1
_LONGEST_INTERVAL = TICK_LIMIT // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Which port each link is at. An ingress and an egress link may share one."""

    ingress: Mapping[LinkId, int]
    egress: Mapping[LinkId, int]

    @property
    def size(self) -> int:
        """For how many ports the program must be compiled. Raises CannotRun for more than there is a program for."""
        needed = max([*self.ingress.values(), *self.egress.values()], default=0) + 1
        for size in SIZES:
            if needed <= size:
                return size
        raise CannotRun(f"a switch needs {needed} ports; the P4 program is compiled for {SIZES[-1]} at the most")


def in_order(config: NodeConfig) -> Ports:
    """The k-th ingress link and the k-th egress link at port k: where it does not matter which cable is which."""
    return Ports(
        ingress={link: port for port, link in enumerate(config.ingress)},
        egress={link: port for port, link in enumerate(config.egress)},
    )


def by_cable(topology: Topology, config: NodeConfig) -> Ports:
    """A link and the one back share a port, as on a cable."""
    ingress: dict[LinkId, int] = {}
    egress: dict[LinkId, int] = {}
    for link in sorted((*config.ingress, *config.egress)):
        ends = topology.links[link]
        inwards = ends.target == config.node
        own, others = (ingress, egress) if inwards else (egress, ingress)
        taken = set(own.values())
        shared = [
            port
            for other, port in others.items()
            if port not in taken
            and (topology.links[other].source, topology.links[other].target) == (ends.target, ends.source)
        ]
        own[link] = shared[0] if shared else len(taken | set(others.values()))
    return Ports(ingress=ingress, egress=egress)


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """How a switch with two processors, or one with a proxy host, is set.

    queues: whether messages wait at sending ports, in queues of the controller.
    own: its proxy host; None where the second processor is beside it.
    """

    queues: bool = False
    proxies: tuple[Proxy, ...] = ()
    own: Proxy | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Controlled:
    """What the controller has decided so far.

    given_up: ingress links.
    left_out: ingress links that count in no minimum.
    failed: hosts.
    closed: egress links on which no beacon leaves.
    """

    given_up: frozenset[LinkId] = frozenset()
    left_out: frozenset[LinkId] = frozenset()
    failed: frozenset[NodeId] = frozenset()
    closed: frozenset[LinkId] = frozenset()


class SwitchControl:
    """One switch. Raises BadInput for settings that the program has no place for."""

    def __init__(self, config: NodeConfig, ports: Ports, split: Split | None = None, tick_ns: int = 1) -> None:
        """tick_ns: how long a tick of the target's clock is."""
        self._config = config
        self._settings = settings(config)
        self._split = split
        self.ports = ports
        self.size = ports.size
        # Plain environments A, B and C know neither incarnations nor neighbours.
        self._strict = not self._settings.plain or split is not None
        self._incarnation = self._settings.incarnation if self._strict else 0
        self._interval = -(-self._settings.beacon_interval_ns // tick_ns)
        if self._interval >= _LONGEST_INTERVAL:
            raise BadInput(
                f"node {config.node}: parameter beacon_interval_ns is {self._settings.beacon_interval_ns}; the clock "
                f"of a P4 switch has 48 bits: give less than {_LONGEST_INTERVAL * tick_ns}"
            )
        if self._incarnation >= 1 << 16:
            raise BadInput(f"node {config.node}: parameter incarnation is {self._incarnation}; give less than 65536")

    def entries(self, controlled: Controlled | None = None) -> Entries:
        """All that the switch is told."""
        now = controlled or Controlled()
        return Entries(
            tables=(
                *self._ingress_links(now),
                *self._structure(),
                *self._hosts(),
                *self._onward(now),
                *(self._proxied() if self._split is not None else ()),
                *self._egress_links(now),
            ),
            groups=self._groups(now) if self._split is None else (),
        )

    @property
    def kinds(self) -> Sequence[tuple[bool, bool]]:
        """What beacons of each kind carry: the barrier, the ack barrier."""
        return self._settings.environment.beacons

    def _bits(self, links: Iterable[LinkId]) -> int:
        return sum(1 << self.ports.ingress[link] for link in links)

    def _timers(self, feeder: LinkId) -> int:
        """The kinds of beacons on links that a packet from here may cause: bits 2 * port + kind."""
        fed = [link for counted, links in self._in_groups().items() if feeder in counted for link in links]
        kinds = range(len(self.kinds))
        return sum(1 << 2 * self.ports.egress[link] + kind for link in fed for kind in kinds)

    def _in_groups(self) -> dict[tuple[LinkId, ...], list[LinkId]]:
        """The egress links by the ingress links that are counted for them, in the order in which beacons leave."""
        groups: dict[tuple[LinkId, ...], list[LinkId]] = {}
        for link, reaching in zip(self._config.egress, self._config.reaching, strict=True):
            groups.setdefault(reaching, []).append(link)
        return groups

    def _ingress_links(self, now: Controlled) -> Iterable[TableEntry]:
        config, chosen, split = self._config, self._settings, self._split
        counted_for = self._in_groups()
        loses = int(chosen.environment.loses)
        queues = int(split is not None and split.queues)
        for link in config.ingress:
            match = {"standard.ingress_port": self.ports.ingress[link]}
            if link in now.given_up:
                yield TableEntry(table=to.INGRESS_LINK, match=match, action="given_up", params={})
                continue
            sets = [set(counted) - now.left_out for counted in counted_for if link in counted]
            sharing = set[LinkId]().union(*sets)
            params = {
                "strict": int(self._strict),
                "loses": loses,
                # A switch leaves barriers out only when it has begun anew, and promises nothing by that (TO-RESTART).
                "fills": int(chosen.fill_barrier and chosen.data_carry_barriers and link in self._from_hosts()),
                "beacons": int(bool(self.kinds) and not chosen.every_beacon and split is None),
                "queues": queues,
                "splits": int(split is not None),
                "listens": int(chosen.reliable),
                "from_host": int(chosen.reliable and link in self._from_hosts()),
                "arrived": self._bits([link]),
                "all_links": self._bits(config.ingress),
                "sharing": self._bits(sharing),
                "spare": max((len(sharing - one) for one in sets), default=0),
                "incarnation": self._incarnation,
                "feeds": self._timers(link),
                "beacon_group": self._group_number(link, None) if self._replicates else 0,
            }
            yield TableEntry(table=to.INGRESS_LINK, match=match, action="link", params=params)
        yield TableEntry(
            table=to.INGRESS_LINK,
            match={"standard.ingress_port": CPU_PORT},
            action="controller",
            params={
                "loses": loses,
                "queues": queues,
                "all_links": self._bits(config.ingress),
                "trigger_group": self._trigger_group if split is None else 0,
            },
        )

    def _from_hosts(self) -> frozenset[LinkId]:
        """Ingress links that reach every egress link: in a tree, those of hosts."""
        pairs = zip(self._config.egress, self._config.reaching, strict=True)
        switches = {link for _, reaching in pairs for link in set(self._config.ingress) - set(reaching)}
        return frozenset(set(self._config.ingress) - switches)

    def _structure(self) -> Iterable[TableEntry]:
        for kind, barrier, ack, resent, anew in product(map(int, PacketKind), *[(0, 1)] * 4):
            if self._allowed(kind, bool(barrier), bool(ack), bool(resent), bool(anew)):
                match = {
                    "hdr.message.kind": kind,
                    "hdr.message.barrier_flag": barrier,
                    "hdr.message.ack_barrier_flag": ack,
                    "hdr.message.resent": resent,
                    "begun_anew": anew,
                }
                yield TableEntry(table=to.STRUCTURE, match=match, action="allowed", params={})

    def _allowed(self, kind: int, barrier: bool, ack: bool, resent: bool, anew: bool) -> bool:
        """Whether the switch takes a packet of this kind that carries these. anew: from a link whose sender has begun
        anew."""
        chosen = self._settings
        if not self._strict:
            if kind == PacketKind.DATA:
                return barrier == chosen.data_carry_barriers
            return kind == PacketKind.BEACON and chosen.beacons_exist and barrier
        known = structure(chosen)
        extra = [PacketKind.NOTICE] * chosen.reliable
        if self._split is not None and self._split.proxies:
            extra += [PacketKind.HANDED, PacketKind.RETURNED]
        known.update({int(further): ((False, False),) for further in extra})
        if kind not in known or (resent and not chosen.environment.loses):
            return False
        if (barrier, ack) in known[kind]:
            return True
        if kind != PacketKind.DATA:
            return False
        if anew and any((one or not barrier) and (other or not ack) for one, other in known[kind]):
            return True
        bare = chosen.fill_barrier and chosen.data_carry_barriers and not resent and not barrier
        return bare and (True, ack) in known[kind]

    def _hosts(self) -> Iterable[TableEntry]:
        for host, _ in self._config.next_link:
            yield TableEntry(table=to.HOSTS, match={"hdr.message.sender": host}, action="of_host", params={})

    def _onward(self, now: Controlled) -> Iterable[TableEntry]:
        reaching = dict(zip(self._config.egress, self._config.reaching, strict=True))
        for host, towards in self._config.next_link:
            for link in self._config.ingress if host in now.failed else reaching[towards]:
                match = {"standard.ingress_port": self.ports.ingress[link], "hdr.message.receiver": host}
                if host in now.failed:
                    yield TableEntry(table=to.ONWARD, match=match, action="intercept", params={})
                else:
                    group = self._group_number(link, towards) if self._replicates else 0
                    params = {"port": self.ports.egress[towards], "group": group}
                    yield TableEntry(table=to.ONWARD, match=match, action="towards", params=params)

    def _egress_links(self, now: Controlled) -> Iterable[TableEntry]:
        config, chosen = self._config, self._settings
        environment = chosen.environment
        carried = [int(barrier) | int(ack) << 1 for barrier, ack in self.kinds]
        for link, reaching in zip(config.egress, config.reaching, strict=True):
            params = {
                "node": config.node,
                "incarnation": self._incarnation,
                "loses": int(environment.loses),
                "every_beacon": int(chosen.every_beacon),
                "first_only": int(self._split is not None),
                "data_barrier": int(environment.data_carry_barriers),
                "data_ack": int(environment.data_carry_ack_barriers),
                "idle": int(environment.beacons_when_idle),
                "kind_0": carried[0] if carried else 0,
                "kind_1": carried[1] if len(carried) > 1 else 0,
                "interval": self._interval,
                "counted": self._bits(feeder for feeder in reaching if feeder not in now.left_out),
                "told": self._bits(reaching),
                "mac": mac(config.node),
                "address": address(config.node),
            }
            match = {"standard.egress_port": self.ports.egress[link]}
            yield TableEntry(table=to.EGRESS_LINK, match=match, action="link", params=params)

    @property
    def _replicates(self) -> bool:
        return self._split is None and bool(self.kinds) and not self._settings.every_beacon

    @property
    def _trigger_group(self) -> int:
        return 1 + self.size * (self.size + 1)

    def _group_number(self, link: LinkId, towards: LinkId | None) -> int:
        """The group of packets that come from `link` and leave at `towards`, None for nowhere."""
        last = 0 if towards is None else 1 + self.ports.egress[towards]
        return 1 + self.ports.ingress[link] * (self.size + 1) + last

    def _groups(self, now: Controlled) -> tuple[MulticastGroup, ...]:
        ordered = self._in_groups()
        found: list[MulticastGroup] = []
        if self._replicates:
            for link in self._config.ingress:
                fed = [egress for counted, links in ordered.items() if link in counted for egress in links]
                for towards in (None, *fed):
                    first = () if towards is None else ((self.ports.egress[towards], _FORWARDED),)
                    number = self._group_number(link, towards)
                    found.append(MulticastGroup(number=number, replicas=(*first, *self._beacons(fed))))
        everywhere = [egress for links in ordered.values() for egress in links if egress not in now.closed]
        found.append(MulticastGroup(number=self._trigger_group, replicas=self._beacons(everywhere)))
        return tuple(found)

    def _beacons(self, links: Iterable[LinkId]) -> tuple[tuple[int, int], ...]:
        kinds = range(max(1, len(self.kinds)))
        return tuple(
            (self.ports.egress[link], (rank + 1) << 2 | _BEACON_0 + kind)
            for rank, link in enumerate(links)
            for kind in kinds
        )

    def _proxied(self) -> Iterable[TableEntry]:
        assert self._split is not None
        own, node = self._split.own, self._config.node
        for proxy in self._split.proxies:
            for kind, path in ((PacketKind.HANDED, proxy.there), (PacketKind.RETURNED, proxy.back)):
                for before, after in pairwise(path):
                    if after in self.ports.egress:
                        match = self._handover_key(kind, proxy.switch, before)
                        params = {"port": self.ports.egress[after]}
                        yield TableEntry(table=to.HANDOVER, match=match, action="pass", params=params)
        if own is None:
            return
        match = self._handover_key(PacketKind.RETURNED, node, own.back[-1])
        yield TableEntry(table=to.HANDOVER, match=match, action="returned", params={"host": own.host})
        for link, port in self.ports.egress.items():
            yield TableEntry(
                table=to.RETURNED_TO, match={"hdr.message.number": link}, action="leaves_at", params={"port": port}
            )
        for barrier, ack in self.kinds:
            match = {"hdr.inner.barrier_flag": int(barrier), "hdr.inner.ack_barrier_flag": int(ack)}
            yield TableEntry(table=to.RETURNED_STRUCTURE, match=match, action="is_beacon", params={})
        for link, port in self.ports.ingress.items():
            params = {
                "this_switch": node,
                "host": own.host,
                "link": link,
                "port": self.ports.egress[own.there[0]],
                "from_mac": mac(node),
                "to_mac": mac(own.host),
                "source": address(node),
                "destination": address(own.host),
            }
            yield TableEntry(table=to.PROXY, match={"standard.ingress_port": port}, action="to_proxy", params=params)

    def _handover_key(self, kind: PacketKind, switch: NodeId, link: LinkId) -> dict[str, int]:
        port = self.ports.ingress[link]
        return {"hdr.message.kind": int(kind), "switch": switch, "standard.ingress_port": port}


def split_of(config: NodeConfig, queues: bool) -> Split:
    """How the switch is set whose parameter `switch` is two or proxy."""
    found = proxies.read(config.parameters) if config.parameters.get("switch") == "proxy" else ()
    own = next((proxy for proxy in found if proxy.switch == config.node), None)
    return Split(queues=queues, proxies=found, own=own)
