"""A network namespace without a name: it is gone, veth pairs and all, as soon as the last process in it has ended.

So nothing can be left behind, whoever is killed, and two runs never meet. For a user who is not root a user namespace
is made too, which most systems allow.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from scatterproof.spec.errors import CannotRun

MTU = 9500
LOOPBACK = "lo"
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_PR_SET_PDEATHSIG = 1
# The `ethtool` requests that switch off what a network card would do to a frame; a veth only pretends to.
_SIOCETHTOOL = 0x8946
_OFFLOADS = {
    "receive checksums": 0x15,
    "transmit checksums": 0x17,
    "scatter and gather": 0x19,
    "TCP segmentation": 0x1F,
    "segmentation": 0x24,
    "receive merging": 0x2C,
}


def near(port: int) -> str:
    """The end of a port's veth pair that the switch has."""
    return f"s{port}"


def far(port: int) -> str:
    """The end of a port's veth pair that we have."""
    return f"h{port}"


def die_with_parent() -> None:
    """Have the kernel kill this process when the thread that started it ends, however it ends."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def enter() -> None:
    """Move this process, which must have one thread, into a new network namespace. Raises CannotRun where it may
    not."""
    if sys.platform != "linux":
        raise CannotRun("BMv2 is driven through network namespaces, which only Linux has: run it there")
    if shutil.which("ip") is None:
        raise CannotRun("no command `ip`: install iproute2, with which the switch gets its ports")
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNET) == 0:
        return
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
        reason = os.strerror(ctypes.get_errno())
        raise CannotRun(
            f"no network namespace for BMv2 ({reason}): run as root, or raise user.max_user_namespaces above 0"
        )
    with suppress(OSError):  # older systems have no such file
        Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")


def attempt() -> str | None:
    """`enter`; returns why this process may not, or None when it has."""
    try:
        enter()
    except CannotRun as error:
        return str(error)
    return None


def wire(ports: Iterable[int]) -> None:
    """Set loopback up, and make a veth pair for each port: without IPv6, so that the kernel sends nothing of its own,
    and without offloads."""
    for scope in ("all", "default"):
        with suppress(OSError):  # a kernel without IPv6
            Path(f"/proc/sys/net/ipv6/conf/{scope}/disable_ipv6").write_text("1")
    names = [(near(port), far(port)) for port in ports]
    steps = [f"link set {LOOPBACK} up"]
    for near_end, far_end in names:
        steps.append(f"link add {near_end} mtu {MTU} type veth peer name {far_end} mtu {MTU}")
        steps += [f"link set {end} arp off up" for end in (near_end, far_end)]
    done = subprocess.run(["ip", "-batch", "-"], input="\n".join(steps), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotRun(f"the ports of BMv2 cannot be made: ip: {done.stderr.strip()}; load the kernel's module veth")
    for pair in names:
        for end in pair:
            _offloads_off(end)


def sent() -> dict[str, int]:
    """Frames that each interface has sent since it was made: for a near end, what the switch let out of that port; for
    loopback, what went between the switch's server and us."""
    found = {}
    for line in Path("/proc/net/dev").read_text().splitlines()[2:]:
        name, _, columns = line.partition(":")
        found[name.strip()] = int(columns.split()[9])
    return found


def _offloads_off(interface: str) -> None:
    import fcntl
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        for request in _OFFLOADS.values():
            value = ctypes.create_string_buffer(request.to_bytes(4, sys.byteorder) + bytes(4), 8)
            ifreq = interface.encode().ljust(16, b"\0") + ctypes.addressof(value).to_bytes(8, sys.byteorder) + bytes(16)
            with suppress(OSError):  # a kernel that has no such offload
                fcntl.ioctl(handle, _SIOCETHTOOL, ifreq)
