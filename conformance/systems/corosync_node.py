"""One host of a corosync cluster: `python corosync_node.py GROUP HOST HOSTS MESSAGES PACE LOG`.

It joins a closed process group (CPG), says `ready` when all HOSTS are in it, waits for a line, sends its messages in
agreed order, PACE seconds apart, delivers everybody's, and logs both until its stdin ends, an event a line (`LogEvent`
in telling.py). It uses corosync's libcpg alone, and nothing of this project.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import sys
import time
from hashlib import blake2b
from typing import Any, BinaryIO

_OK, _LIBRARY, _TRY_AGAIN = 1, 2, 6  # cs_error_t; the second also where there is no daemon yet
_DISPATCH_ALL = 2
_AGREED = 2  # CPG_TYPE_AGREED: the one order, before all others are known to have it
_NAME_BYTES = 128


class Name(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint32), ("value", ctypes.c_char * _NAME_BYTES))


class IoVector(ctypes.Structure):
    """struct iovec."""

    _fields_ = (("base", ctypes.c_char_p), ("length", ctypes.c_size_t))


_Deliver = ctypes.CFUNCTYPE(
    None,
    ctypes.c_uint64,
    ctypes.POINTER(Name),
    ctypes.c_uint32,
    ctypes.c_uint32,
    ctypes.POINTER(ctypes.c_char),
    ctypes.c_size_t,
)
_Change = ctypes.CFUNCTYPE(
    None,
    ctypes.c_uint64,
    ctypes.POINTER(Name),
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.c_size_t,
)


class Callbacks(ctypes.Structure):
    _fields_ = (("deliver", _Deliver), ("change", _Change))


def digest(payload: bytes) -> int:
    return int.from_bytes(blake2b(payload, digest_size=8).digest(), "big") >> 1


class CorosyncHost:
    """members: how many are in the group now."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._library = ctypes.CDLL("libcpg.so.4")
        self._handle = ctypes.c_uint64()
        self.members = 0
        # Kept, or they would be collected while the library still calls them.
        self._callbacks = Callbacks(_Deliver(self._deliver), _Change(self._change))

    def join(self, group: bytes) -> None:
        given = ctypes.byref(self._handle), ctypes.byref(self._callbacks)
        while self._library.cpg_initialize(*given) in (_LIBRARY, _TRY_AGAIN):
            time.sleep(0.05)
        name = Name(len(group), group)
        self._until_ok("cpg_join", self._handle, ctypes.byref(name))

    def descriptor(self) -> int:
        """Readable when there is something to dispatch."""
        found = ctypes.c_int()
        self._until_ok("cpg_fd_get", self._handle, ctypes.byref(found))
        return found.value

    def dispatch(self) -> None:
        self._call("cpg_dispatch", self._handle, _DISPATCH_ALL)

    def send(self, payload: bytes) -> bool:
        """Whether it was taken; it is not while the group is too busy or changes."""
        piece = IoVector(payload, len(payload))
        return self._call("cpg_mcast_joined", self._handle, _AGREED, ctypes.byref(piece), 1)

    def log(self, what: str, payload: bytes) -> None:
        """what: handed or delivered."""
        sender, number = (int(word) for word in payload.split())
        event = {"what": what, "time_ns": time.monotonic_ns(), "sender": sender, "number": number}
        self._file.write(json.dumps({**event, "digest": digest(payload)}).encode() + b"\n")

    def _deliver(self, _handle: int, _name: Any, _node: int, _pid: int, contents: Any, size: int) -> None:
        self.log("delivered", contents[:size])

    def _change(self, _handle: int, _name: Any, _members: Any, count: int, *_others: Any) -> None:
        self.members = count

    def _call(self, name: str, *given: Any) -> bool:
        code = getattr(self._library, name)(*given)
        if code not in (_OK, _TRY_AGAIN):
            raise SystemExit(f"{name} says {code}")
        return bool(code == _OK)

    def _until_ok(self, name: str, *given: Any) -> None:
        while not self._call(name, *given):
            time.sleep(0.05)


def run(host: CorosyncHost, number_of: int, hosts: int, messages: int, pace_s: float) -> None:
    joined, going, sent, due = host.descriptor(), False, 0, 0.0
    said = False
    waiting: bytes | None = None  # handed over, and not taken yet
    while True:
        wait = max(0.0, due - time.monotonic()) if going and sent < messages else 1.0
        ready, _, _ = select.select([joined, sys.stdin.fileno()], [], [], wait)
        if joined in ready:
            host.dispatch()
        if sys.stdin.fileno() in ready:
            if not os.read(sys.stdin.fileno(), 64):
                return
            going = True
        if host.members == hosts and not said:
            said = True
            print("ready", flush=True)
        if going and sent < messages and time.monotonic() >= due:
            if waiting is None:
                waiting = b"%d %d" % (number_of, sent + 1)
                host.log("handed", waiting)
            if host.send(waiting):
                waiting, sent = None, sent + 1
            due = time.monotonic() + pace_s


def main() -> None:
    group, number_of, hosts, messages, pace, log = sys.argv[1:]
    with open(log, "wb", buffering=0) as file:
        host = CorosyncHost(file)
        host.join(group.encode())
        run(host, int(number_of), int(hosts), int(messages), float(pace))


if __name__ == "__main__":
    main()
