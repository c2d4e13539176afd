"""Programs that do what no implementation should do, as commands; and what this process has open, started and taken."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from scatterproof.conformance.supervisor import Limits
from scatterproof.conformance.verdict import Verdict

MARK = "SCATTERPROOF_HOSTILE"  # in the environment of these tests, and of all that they start
UNMARKED = f"stray-of-{os.getpid()}"  # in the command of what clears its environment
LIMITS = Limits(
    answer_s=120, answers_s=120, stop_s=0.3, total_bytes=30_000_000, file_bytes=50_000_000, log_bytes=1_000_000
)
EXAMPLE = Path(__file__).parents[1] / "examples" / "python"
PRELUDE = """
import json, os, signal, sys, time
def say(text):
    sys.stdout.write(text + "\\n")
    sys.stdout.flush()
def hear():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)
READY, DONE = '{"type":"ready","deadline":0}', '{"type":"done"}'
def begin():
    hear()
    say(READY)
    hear()
def serve(answer):
    "Answers every line after init."
    hear()
    say(READY)
    while True:
        answer(hear())
def done(now):
    say('{"type":"done","deadline":%d}' % now)
def hang():
    while True:
        signal.pause()
"""
# The example in Python, with one thing about it that is not as it should be: NODE is its module.
NODE = f"{PRELUDE}sys.path.insert(0, {str(EXAMPLE)!r})\nsys.dont_write_bytecode = True\nimport node as NODE\n"


class Hostile(NamedTuple):
    """reason: a part of it, or a clause that is broken. verdict: of the case; None for any but pass, where it hangs on
    when its lines come."""

    name: str
    script: str
    reason: str
    verdict: Verdict | None = Verdict.INCONCLUSIVE

    @property
    def limits(self) -> Limits:
        """Short where a time-out is what is tried. Else a machine may take seconds to start a process."""
        if "gave no answer for 1 s" in self.reason:
            return replace(LIMITS, answer_s=1)
        return replace(LIMITS, answers_s=1.5) if "took more than 1.5 s" in self.reason else LIMITS

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-I", "-S", "-c", self.script]


def _raw(name: str, script: str, reason: str, *, verdict: Verdict | None = Verdict.INCONCLUSIVE) -> Hostile:
    return Hostile(name, PRELUDE + script, reason, verdict)


def _node(name: str, script: str, reason: str, verdict: Verdict) -> Hostile:
    return Hostile(name, f"{NODE}{script}\nNODE.main()\n", reason, verdict)


DELIVERS_MORE = """
class Liar(NODE.Host):
    def deliver(self):
        super().deliver()
        message = {"sender": 1, "number": 7, "timestamp": 1, "payload": "eA=="}
        self.effects.append({"type": "deliver", "message": message})
NODE.Host = Liar
"""
SENDS_AS_ANOTHER = """
class Liar(NODE.Host):
    def __init__(self, config):
        super().__init__(config)
        self.id = 1 - self.id
NODE.Host = Liar
"""
AS_ANOTHER_NODE = """
class Liar(NODE.Host):
    def __init__(self, config):
        super().__init__({**config, "egress": [link + 1 for link in config["egress"]],
                          "next_link": [[host, link + 1] for host, link in config["next_link"]]})
NODE.Host = Liar
"""
FORKS = """
if os.fork() == 0:
    {before}
    while True:
        time.sleep(60)
"""
# It leaves its group, its session, its parent and its environment.
UNKNOWN = (
    f"os.setsid(); os.fork() and os._exit(0); os.execve({sys.executable!r}, "
    f"[{sys.executable!r}, '-I', '-S', '-c', {{script!r}}, {UNMARKED!r}], {{{{}}}})"
)
FLOOD_OF_PAYLOADS = """
begin()
packet = {"kind": 1, "sender": 0, "receiver": 0, "number": 1, "link_seq": 0, "timestamp": 1, "barrier": 1}
for number in range(10**6):
    packet["payload"] = "%08d" % number + "A" * 900000
    say(json.dumps({"type": "send", "link": 0, "packet": packet}))
"""
HOSTILE = [
    _raw("silent", "hang()", "gave no answer for 1 s"),
    _raw("silent-in-the-middle", "begin(); hang()", "gave no answer for 1 s"),
    _raw(
        "slow",
        "serve(lambda line: (time.sleep(0.3), done(line.get('now', 0) + 1000)))",
        "took more than 1.5 s for its answers together",
    ),
    _raw("crashes-at-start", "sys.exit(3)", "ended with exit code 3"),
    _raw("crashes-at-start-by-signal", "os.kill(os.getpid(), signal.SIGSEGV)", "was ended by SIGSEGV"),
    _raw("crashes-in-the-middle", "begin(); raise ValueError('oh no')", "stderr ends: ValueError: oh no"),
    _raw("ends-in-the-middle", "begin(); sys.exit(0)", "ended with exit code 0"),
    _raw("stops-itself", "begin(); os.kill(os.getpid(), signal.SIGSTOP)", "gave no answer for 1 s"),
    _raw("floods", 'begin()\nwhile True: say(\'{"type":"log","text":"\' + \'x\' * 9999 + \'"}\')', "wrote more than"),
    _raw(
        "floods-with-effects",
        'begin()\nwhile True: say(\'{"type":"refuse","link":1,"reason":""}\')',
        "answered one event with 100000 effects",
    ),
    _raw("floods-with-payloads", FLOOD_OF_PAYLOADS, "wrote more than"),
    _raw("floods-before-it-is-asked", "while True: say('x' * 9999)", "is no line of the contract"),
    _raw(
        "floods-stderr",
        "begin()\nwhile True: sys.stderr.write('x' * 9999 + '\\n')",
        "ended with exit code 120; stderr ends: xxx",
    ),
    _raw("no-json", "begin(); say('hello?'); hang()", "wrote 'hello?', which is no line of the contract"),
    _raw("no-object", "begin(); say('[3]'); hang()", "wrote '[3]', which is no line of the contract"),
    _raw(
        "nested",
        'begin(); say(\'{"type":"send","link":0,"packet":\' + \'[\' * 500000); hang()',
        "is no line of the contract: maximum recursion depth",
    ),
    _raw(
        "megabytes",
        'begin(); say(\'{"type":"log","text":"\' + \'x\' * (1 << 21) + \'"}\'); hang()',
        "wrote a line of more than 1048576 bytes",
    ),
    _raw(
        "endless-line", "begin()\nwhile True: sys.stdout.write('x' * 9999)", "wrote a line of more than 1048576 bytes"
    ),
    _raw(
        "invalid-utf-8",
        'begin(); sys.stdout.buffer.write(b\'{"type":"log","text":"\\xff\\xfe"}\\n\'); sys.stdout.flush(); hang()',
        "is no line of the contract",
    ),
    _raw(
        "half-a-line",
        "begin(); sys.stdout.write('{\"type\":'); sys.stdout.flush(); hang()",
        "gave no answer for 1 s",
    ),
    _raw("closes-stdin", "begin(); os.close(0); hang()", "gave no answer for 1 s"),
    _raw("closes-stdout", "begin(); os.close(1); hang()", "closed its stdout"),
    _raw("forks", FORKS.format(before="") + "begin(); sys.exit(5)", "ended with exit code 5"),
    _raw(
        "forks-a-daemon",
        FORKS.format(before="os.setsid(); os.fork() and os._exit(0); [os.close(fd) for fd in (0, 1, 2)]")
        + "begin(); sys.exit(6)",
        "ended with exit code 6",
    ),
    _raw(
        "forks-a-daemon-that-nobody-knows-again",
        FORKS.format(before=UNKNOWN.format(script="import time; time.sleep(600)")) + "begin(); sys.exit(6)",
        "ended with exit code 6",
    ),
    _raw(
        "forks-a-daemon-that-writes-on",
        FORKS.format(before=UNKNOWN.format(script="while True: print()")) + "begin(); sys.exit(6)",
        "",
    ),
    _raw("forks-and-lets-the-child-answer", "os.fork() and sys.exit(0)\nbegin(); hang()", "ended with exit code 0"),
    _raw(
        "ignores-sigterm",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); begin(); say('no')\nhang()",
        "is no line of the contract",
    ),
    _raw(
        "another-version",
        'hear(); say(\'{"type":"ready","contract":2}\'); hang()',
        "speaks version 2 of the contract; this harness speaks version 1",
    ),
    _raw("answers-twice", "begin(); say(DONE + '\\n' + DONE); hang()", "wrote more after it was done"),
    _raw("answers-twice-later", "serve(lambda line: (say(DONE), time.sleep(0.01), say(DONE)))", "", verdict=None),
    _raw(
        "refuses-a-link-beyond-64-bits",
        'begin(); say(\'{"type":"refuse","link":%d,"reason":""}\' % 2**70); say(DONE); hang()',
        "refused a packet from link 1180591620717411303424, which is no ingress link of it",
    ),
    _raw(
        "refuses-a-link-of-nobody",
        'begin(); say(\'{"type":"refuse","link":99,"reason":""}\'); say(DONE); hang()',
        "refused a packet from link 99, which is no ingress link of it",
    ),
    # It waits a little with each answer: a fast machine would come to the most events of a run within the time.
    _raw(
        "never-gets-on",
        "serve(lambda line: (time.sleep(0.001), done(0)))",
        "took more than 1.5 s for its answers together",
    ),
    _raw("does-nothing", "serve(lambda line: say(DONE))", "TO-SCATTER", verdict=Verdict.FAIL),
    _node("delivers-what-was-never-sent", DELIVERS_MORE, "TO-ONCE", Verdict.FAIL),
    _node("sends-in-anothers-name", SENDS_AS_ANOTHER, "TO-SCATTER", Verdict.FAIL),
    _node("sends-on-anothers-link", AS_ANOTHER_NODE, "which is no egress link of it", Verdict.INCONCLUSIVE),
    _node(
        "does-not-stop",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nimport atexit; atexit.register(hang)",
        "",
        Verdict.PASS,
    ),
]

# Whether it is found while it writes, or by its end: on a busy machine it may meet the bound of its files first.
TOO_MUCH = f"the log has more than {LIMITS.log_bytes} bytes"

# In datagram mode. It has its sockets, and says so; then it knows of itself `config`, and where others are, `peers`.
PORTS = """
import socket
line = hear()
config, log = line["config"], open(line["log"], "w")
sockets = {str(link): socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for link in config["ingress"]}
for one in sockets.values():
    one.bind(("127.0.0.1", 0))
say(json.dumps({"type": "listening", "ports": {link: one.getsockname()[1] for link, one in sockets.items()}}))
peers = hear()["peers"]
READY = '{"type":"ready"}'
def row(**columns):
    log.write(json.dumps(columns) + "\\n")
    log.flush()
def obey():
    while hear()["type"] != "stop":
        pass
    say('{"type":"stopped"}')
"""


def _datagram(
    name: str, script: str, reason: str, *, verdict: Verdict | None = Verdict.INCONCLUSIVE, ports: str = PORTS
) -> Hostile:
    return Hostile(name, PRELUDE + ports + script, reason, verdict)


DATAGRAM = [
    _datagram("silent", "hang()", "gave no answer for 1 s", ports=""),
    _datagram("silent-after-its-ports", "hang()", "gave no answer for 1 s"),
    _datagram("crashes-with-its-ports-open", "os.abort()", "was ended by SIGABRT"),
    _datagram("another-version", 'say(\'{"type":"ready","contract":9}\'); obey()', "speaks version 9 of the contract"),
    _datagram("does-nothing", "say(READY); obey()", "TO-", verdict=None),
    _datagram("floods", 'say(READY)\nwhile True: say(\'{"type":"log","text":"x"}\')', "wrote 'log' unasked"),
    _datagram("no-json", "say(READY); say('what?'); obey()", "wrote 'what?', which is no line of the contract"),
    _datagram("never-stops", "say(READY)\nwhile hear(): pass", "gave no answer for 1 s"),
    _datagram(
        "sends-rubbish-to-its-peers",
        "say(READY)\nfor _ in range(200):\n    for port in peers.values():\n"
        "        next(iter(sockets.values())).sendto(os.urandom(99), ('127.0.0.1', port))\nobey()",
        "",
        verdict=None,
    ),
    _datagram(
        "logs-as-another", "row(kind='delivered', node=1 - config['node']); say(READY); obey()", "in the log of node"
    ),
    _datagram("logs-without-end", "say(READY)\nwhile True: row(kind='refused', node=config['node'], link=1)", TOO_MUCH),
    _datagram("logs-one-line-without-end", "say(READY)\nwhile True: log.write('x' * 9999)", TOO_MUCH),
    _datagram(
        "logs-what-was-never-sent",
        "me = config['node']\nrow(kind='delivered', node=me, time_ns=1, clock_ns=1, sender=0, receiver=me, number=1, "
        "timestamp=1, digest=1)\nsay(READY); obey()",
        "TO-ONCE",
        verdict=None,
    ),
    _datagram("forks-a-daemon", FORKS.format(before="os.setsid()") + "sys.exit(7)", "ended with exit code 7", ports=""),
]


def strays() -> list[str]:
    """What the tests of this process have started and is running still: the commands."""
    found = []
    for pid in (name for name in os.listdir("/proc") if name.isdigit()):
        try:
            environment = Path("/proc", pid, "environ").read_bytes().split(b"\0")
            command = Path("/proc", pid, "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if f"{MARK}={os.getpid()}".encode() in environment or UNMARKED in command:
            found.append(command)
    return found


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
