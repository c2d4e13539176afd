"""JGroups under test: a node program in a network namespace for each host, all on one bridge, with a stack of its jar.

It needs root, a JDK, iproute2, and the Debian package `libjgroups-java`.
"""

from __future__ import annotations

import time
import zipfile
from pathlib import Path

from scatterproof.conformance.systems.hosts import Hosts
from scatterproof.conformance.systems.namespaces import Namespaces, program, refuse_without_root
from scatterproof.conformance.systems.setup import Setup
from scatterproof.conformance.systems.telling import SystemHistory
from scatterproof.spec.errors import CannotRun

JAR = Path("/usr/share/java/jgroups.jar")
STILL_S = 20.0  # above the 10 s after which a silent member is suspected, and what is waited then to verify it
BLINK_S = 3.0
INSTALL = "Debian's libjgroups-java and default-jdk-headless"
_NODE = Path(__file__).with_name("JGroupsNode.java")
_POM = "META-INF/maven/org.jgroups/jgroups/pom.properties"


def versions() -> str:
    """What is under test. Raises CannotRun when it cannot be here."""
    for name in ("java", "javac"):
        program(name, INSTALL)
    if not JAR.is_file():
        raise CannotRun(f"there is no {JAR}; install {INSTALL}")
    refuse_without_root()
    pairs = (line.partition("=") for line in _inside(_POM).splitlines())
    return f"jgroups {next((value for name, _, value in pairs if name == 'version'), 'of an unknown version')}"


def play(setup: Setup, folder: Path) -> SystemHistory:
    """Run the set-up to its end. Raises CannotRun when it cannot be started, or a host of it breaks."""
    versions()
    hosts, network = Hosts(setup, folder, STILL_S), Namespaces(setup.hosts)
    last = setup.hosts - 1

    def befalls(event: str) -> str:
        """kill: it ends for good; blink: its link goes down for a while that is too short for being suspected."""
        if event == "kill":
            hosts.kill(last)
            return f"host {last} was killed"
        network.turn(last, "down")
        time.sleep(BLINK_S)
        return f"{network.turn(last, 'up')}, having been down for {BLINK_S:g} s"

    config = folder.absolute() / "stack.xml"
    config.write_text(_stack(*setup.mode.split()))
    # The last host joins first, and is the sequencer: each other one waits for the next to have joined.
    after = [Path(f"{log}.joined") for log in hosts.logs[1:]]
    for mark in after:
        mark.unlink(missing_ok=True)
    java = [program("java", INSTALL), "-Djava.net.preferIPv4Stack=true", "-cp", str(JAR)]
    words = [
        (config, host, setup.hosts, setup.messages, setup.pace_s, log, after[host] if host < last else "-")
        for host, log in enumerate(hosts.logs)
    ]
    try:
        network.start()
        hosts.start(
            [
                [
                    *network.inside(host),
                    *java,
                    f"-Djgroups.bind_addr={network.address(host)}",
                    str(_NODE),
                    *map(str, own),
                ]
                for host, own in enumerate(words)
            ]
        )
        settled = hosts.befall(befalls)
    finally:
        hosts.end()
        network.end()
    return hosts.history(settled)


def _inside(name: str) -> str:
    """A file of the jar."""
    with zipfile.ZipFile(JAR) as jar:
        return jar.read(name).decode()


def _stack(name: str, loss: str = "") -> str:
    """The stack, with a protocol at its bottom that discards this part of what leaves, and of what comes. Members tell
    what they have each 5 s on average in place of 50: until then nobody misses the last messages."""
    stack = _inside(name).replace('desired_avg_gossip="50000"', 'desired_avg_gossip="5000"')
    return stack.replace("<PING", f'<DISCARD up="{loss}" down="{loss}"/><PING', 1) if loss else stack
