"""A set-up of a real system: how it is used, what befalls it, and what it is held to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

PROFILES = Path(__file__).parent / "profiles"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """mode: how hosts use the system.
    messages: of each host, pace_s apart.
    befalls: what befalls the system, spread over its deliveries.
    profiles: the files, by name, that say what it is held to.
    uniform: whether what a host delivered that is killed later counts, or what those deliver that live.
    breaks: the clause that it has to break, since it is held to what it does not promise, or has a known mistake; or
        nothing.
    """

    name: str
    text: str
    system: str
    mode: str
    profiles: tuple[str, ...]
    hosts: int = 3
    messages: int = 200
    pace_s: float = 0.002
    befalls: tuple[str, ...] = ()
    uniform: bool = True
    breaks: str = ""


_SEQUENCER_KILLED = Setup(
    name="jgroups-killed",
    text="the same, and the sequencer is killed (SIGKILL) under load; what those have delivered that live",
    system="jgroups",
    mode="sequencer.xml",
    profiles=("jgroups", "one-order"),
    messages=4_000,
    befalls=("kill",),
    uniform=False,
    breaks="BC-FIFO-ORDER",
)

SETUPS = (
    Setup(
        name="core",
        text="core NATS: publish and subscribe, at most once",
        system="nats_server",
        mode="core",
        profiles=("nats-core",),
    ),
    Setup(
        name="jetstream",
        text="JetStream: one stream for all subjects, stored in a file, read in its order by each host",
        system="nats_server",
        mode="jetstream",
        profiles=("nats-jetstream", "one-order"),
    ),
    Setup(
        name="jetstream-killed",
        text="the same, and the server is killed twice (SIGKILL) and started again under load",
        system="nats_server",
        mode="jetstream",
        profiles=("nats-jetstream", "one-order"),
        befalls=("kill", "kill"),
    ),
    Setup(
        name="core-killed",
        text="core NATS, killed twice, and wrongly held to deliver everything",
        system="nats_server",
        mode="core",
        profiles=("nats-jetstream",),
        befalls=("kill", "kill"),
        breaks="BC-URB-AGREE",
    ),
    Setup(
        name="core-one-order",
        text="core NATS, wrongly held to deliver in one order at all hosts",
        system="nats_server",
        mode="core",
        profiles=("one-order",),
        messages=1_000,
        pace_s=0.0,
        breaks="TO-ORDER",
    ),
    Setup(
        name="corosync",
        text="corosync CPG: a closed process group, agreed order",
        system="corosync",
        mode="agreed",
        profiles=("corosync-cpg", "one-order"),
    ),
    Setup(
        name="corosync-killed",
        text="the same, and one of the daemons is killed (SIGKILL) under load",
        system="corosync",
        mode="agreed",
        profiles=("corosync-cpg", "one-order"),
        messages=600,
        befalls=("kill",),
    ),
    Setup(
        name="corosync-parted",
        text="the same, one host being parted from the others for a while, and wrongly held to deliver everything",
        system="corosync",
        mode="agreed",
        profiles=("corosync-everything",),
        messages=3_000,
        befalls=("part", "join"),
        breaks="BC-URB-AGREE",
    ),
    Setup(
        name="jgroups",
        text="JGroups, its stack sequencer.xml, of whose packets each host discards 10 of 100 that leave or come",
        system="jgroups",
        mode="sequencer.xml 0.1",
        profiles=("jgroups", "one-order"),
    ),
    Setup(
        name="jgroups-blinked",
        text="the same without discarding; the link of the sequencer is down for 3 s, twice",
        system="jgroups",
        mode="sequencer.xml",
        profiles=("jgroups", "one-order"),
        messages=3_000,
        befalls=("blink", "blink"),
    ),
    _SEQUENCER_KILLED,
    replace(
        _SEQUENCER_KILLED,
        name="jgroups-lossy-killed",
        text="the same, discarding 10 of 100",
        mode="sequencer.xml 0.1",
        pace_s=0.003,
    ),
    replace(
        _SEQUENCER_KILLED,
        name="jgroups-flush-killed",
        text="JGroups, its stack flush-udp.xml, a host of which is killed; what those have delivered that live",
        mode="flush-udp.xml",
        profiles=("jgroups",),
        breaks="",
    ),
    replace(
        _SEQUENCER_KILLED,
        name="jgroups-flush-lossy-killed",
        text="the same, discarding 10 of 100",
        mode="flush-udp.xml 0.1",
        profiles=("jgroups",),
        pace_s=0.003,
        breaks="BC-URB-AGREE",
    ),
)
