"""The program: the course's files, and real processes over UDP, with signals."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from scatterproof.impl.broadcast.codec import decode_all, encode_all
from scatterproof.impl.broadcast.course_files import Assignment, Host, read_config, read_hosts
from scatterproof.impl.broadcast.process import OutputWriter
from scatterproof.impl.broadcast.sockets import Mesh
from scatterproof.impl.broadcast.tests.nodes import data
from scatterproof.spec.broadcast.messages import Beginning, Delivery, Level
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.files import IMPORTED_FROM

PATIENCE_S = 60.0


def written(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    "text",
    [
        "1 localhost 11001\n2 127.0.0.1 11002\n",
        "2 127.0.0.1 11002\r\n\r\n 1\tlocalhost  11001\r\n",
        "2 127.0.0.1 11002\n1 localhost 11001",
    ],
)
def test_bc_io_hosts_lines_in_any_order_and_with_cr_lf(tmp_path: Path, text: str) -> None:
    assert read_hosts(written(tmp_path, "hosts", text)) == [Host("localhost", 11001), Host("127.0.0.1", 11002)]


def test_bc_io_hosts_ten_thousand_lines(tmp_path: Path) -> None:
    text = "".join(f"{number} 127.0.{number // 250}.1 {10_000 + number}\n" for number in range(1, 10_001))

    assert read_hosts(written(tmp_path, "hosts", text))[9_999] == Host("127.0.40.1", 20_000)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "hosts: there is no host"),
        ("1 localhost\n", "line 1 is '1 localhost'; write 'id host port'"),
        ("1 localhost 11001 x\n", "line 1 is '1 localhost 11001 x'"),
        ("0 localhost 11001\n", "line 1: id is '0'"),
        ("1 localhost 65536\n", "line 1: port is '65536'"),
        ("1 localhost -1\n", "line 1: port is '-1'"),
        ("1 localhost " + "9" * 5_000, "line 1: port is '99999"),
        ("1 localhost 11001\n\n3 localhost 11002\n", "none has id 2"),
        ("1 localhost 11001\n1 localhost 11002\n", "line 2 is the second with id 1"),
        ("1 localhost 11001\n2 localhost 11001\n", "line 2 gives process 2 host localhost and port 11001, as line 1"),
        (b"\xff\xfe1\x00", "byte 0 is no ASCII"),
    ],
)
def test_bc_io_hosts_errors_are_told_with_their_place(tmp_path: Path, text: str | bytes, sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_hosts(written(tmp_path, "hosts", text))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "level", "expected"),
    [
        ("10 2\n", None, Assignment(level=Level.PL, messages=10, receiver=1)),
        ("10\r\n", None, Assignment(level=Level.FIFO, messages=10)),
        ("10", Level.URB, Assignment(level=Level.URB, messages=10)),
        ("5\n1 2 3\n3 1\n2\n", None, Assignment(level=Level.LCB, messages=5, dependencies=((1, 2), (), (0,)))),
        ("0\n", None, Assignment(level=Level.FIFO, messages=0)),
    ],
)
def test_bc_io_config_the_form_tells_the_level(
    tmp_path: Path, text: str, level: Level | None, expected: Assignment
) -> None:
    assert read_config(written(tmp_path, "config", text), 3, level) == expected


@pytest.mark.parametrize(
    ("text", "level", "sentence"),
    [
        ("", None, "config: the file is empty"),
        ("many\n", None, "line 1: m is 'many'"),
        ("4294967296\n", None, "line 1: m is '4294967296'"),
        ("10 4\n", None, "line 1: i is '4'; give a whole number of 1 to 3"),
        ("10 0\n", None, "line 1: i is '0'"),
        ("10 2 3\n", None, "line 1 is '10 2 3'"),
        ("10 2\n1 2\n", None, "line 2 is one too many"),
        ("5\n1 2\n2\n", None, "process 3 has no line"),
        ("5\n1 2\n1 3\n2\n3\n", None, "line 3 is the second for process 1"),
        ("5\n1 2\n2\n4\n", None, "line 4: id is '4'"),
        ("5\n1 x\n2\n3\n", None, "line 2: id is 'x'"),
        ("5\n", Level.LCB, "it has the form of level fifo; for level lcb write 'm' and a line for each process"),
        ("5 1\n", Level.URB, "it has the form of level pl; for level urb write one line 'm'"),
        ("5\n1\n2\n3\n", Level.FIFO, "it has the form of level lcb"),
    ],
)
def test_bc_io_config_errors_are_told_with_their_place(
    tmp_path: Path, text: str, level: Level | None, sentence: str
) -> None:
    with pytest.raises(BadInput) as caught:
        read_config(written(tmp_path, "config", text), 3, level)
    assert sentence in str(caught.value)


def ports(count: int) -> list[int]:
    """Ports that were free a moment ago."""
    with ExitStack() as bound:
        sockets = [bound.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class Group:
    """Processes of the program, and what they wrote: each output is a pipe, so that nobody has to look again and again
    whether there is more."""

    def __init__(self, folder: Path, processes: int, config: str, options: Sequence[str] = ()) -> None:
        self.ports = ports(processes)
        hosts = "".join(f"{number} 127.0.0.1 {port}\n" for number, port in enumerate(self.ports, 1))
        words = ["--hosts", str(written(folder, "hosts", hosts)), *options, str(written(folder, "config", config))]
        outputs = [folder / f"{number}.output" for number in range(1, processes + 1)]
        self._texts = [bytearray() for _ in outputs]
        self._writing = selectors.DefaultSelector()
        for at, output in enumerate(outputs):
            os.mkfifo(output)
            self._writing.register(os.open(output, os.O_RDONLY | os.O_NONBLOCK), selectors.EVENT_READ, at)
        self.children = [
            subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "scatterproof.impl.broadcast.program",
                    "--id",
                    str(at),
                    "--output",
                    str(output),
                    *words,
                ],
                cwd=IMPORTED_FROM,
                stderr=subprocess.PIPE,
            )
            for at, output in enumerate(outputs, 1)
        ]

    def lines(self, process: int) -> list[str]:
        return self._texts[process].decode().splitlines()

    def wait_for(self, lines: int, *processes: int) -> None:
        """Until each of these processes has written this many lines."""
        latest = time.monotonic() + PATIENCE_S
        while any(self._texts[process].count(b"\n") < lines for process in processes):
            assert all(child.poll() is None for child in map(self.children.__getitem__, processes))
            self._read(latest)

    def _read(self, latest: float) -> None:
        """Take what any process writes next."""
        ready = self._writing.select(max(0.0, latest - time.monotonic()))
        assert ready, [text.count(b"\n") for text in self._texts]
        for key, _ in ready:
            written = os.read(key.fd, 1 << 16)
            self._texts[key.data] += written
            if not written:  # it has ended
                self._writing.unregister(key.fd)
                os.close(key.fd)

    def close(self) -> None:
        for key in list(self._writing.get_map().values()):
            os.close(key.fd)
        self._writing.close()

    def end(self, *processes: int, number: signal.Signals = signal.SIGTERM) -> list[tuple[int, str]]:
        """Exit codes and what was said on stderr."""
        for process in processes:
            self.children[process].send_signal(number)
        latest = time.monotonic() + PATIENCE_S
        while any(key.data in processes for key in self._writing.get_map().values()):
            self._read(latest)
        found: list[tuple[int, str]] = []
        for process in processes:
            _, said = self.children[process].communicate(timeout=PATIENCE_S)
            found.append((self.children[process].returncode, said.decode()))
        return found


@contextmanager
def group(folder: Path, processes: int, config: str, *options: str) -> Iterator[Group]:
    running = Group(folder, processes, config, options)
    try:
        yield running
    finally:
        for child in running.children:
            if child.poll() is None:
                child.kill()
                child.communicate()
        running.close()


def deliveries(lines: Sequence[str], sender: int) -> list[int]:
    return [int(line.split()[2]) for line in lines if line.startswith(f"d {sender} ")]


def begun(lines: Sequence[str]) -> list[int]:
    return [int(line.split()[1]) for line in lines if line.startswith("b ")]


def test_bc_io_out_what_waits_is_written_at_the_end_and_not_after_an_error(tmp_path: Path) -> None:
    with OutputWriter(tmp_path / "out") as output:
        output.begin(Beginning(3, 2, b""))
        output.deliver(Delivery(0, 7, b""))
        assert output.waiting
    assert (tmp_path / "out").read_text() == "b 3\nb 4\nd 1 7\n"

    with (
        pytest.raises(CannotRun, match="the output cannot be written: No space left"),
        OutputWriter(Path("/dev/full")) as full,
    ):
        full.deliver(Delivery(0, 7, b""))


def test_packets_share_datagrams_of_bounded_length(tmp_path: Path) -> None:
    addresses = [Host("127.0.0.1", port) for port in ports(2)]
    with closing(Mesh(0, addresses)) as sender, closing(Mesh(1, addresses)) as receiver:
        packets = [data(0, 1, 0, number, number) for number in range(1, 201)]
        packets += [data(0, 1, 0, number, number, payload=bytes(3_000)) for number in range(201, 204)]
        for packet in packets:
            sender.put(packet)
        sender.flush()
        sender.flush()  # nothing is left
        datagrams = list(receiver.arrived(100))
    found = [decode_all(datagram) for datagram in datagrams]

    assert [packet for some in found if isinstance(some, list) for packet in some] == packets
    assert [len(datagram) <= 1_400 for datagram in datagrams] == [True] * 3 + [False] * 3


def test_bc_io_out_fifo_everything_is_written_in_order_and_in_full(tmp_path: Path) -> None:
    with group(tmp_path, 3, "2000\n") as running:
        running.wait_for(4 * 2000, 0, 1, 2)
        assert running.end(0, 1) + running.end(2, number=signal.SIGINT) == [(0, "")] * 3
        for process in range(3):
            lines = running.lines(process)
            assert begun(lines) == list(range(1, 2001))
            for sender in (1, 2, 3):
                assert deliveries(lines, sender) == list(range(1, 2001))
            # A process delivers its own messages after it began with them.
            own = [line for line in lines if line.startswith(("b ", f"d {process + 1} "))]
            assert own.index("b 1") < own.index(f"d {process + 1} 1")


def test_pl_each_message_is_delivered_once_by_its_receiver_alone(tmp_path: Path) -> None:
    with group(tmp_path, 3, "5000 2\n") as running:
        running.wait_for(10_000, 1)
        running.wait_for(5_000, 0, 2)
        running.end(0, 1, 2)
        assert sorted(running.lines(1)) == sorted(f"d {sender} {n}" for sender in (1, 3) for n in range(1, 5001))
        assert running.lines(0) == running.lines(2) == [f"b {number}" for number in range(1, 5001)]


@pytest.mark.parametrize(("level", "config"), [("urb", "300\n"), ("lcb", "300\n1 2\n2 1 3\n3\n")])
def test_the_other_levels_deliver_all(tmp_path: Path, level: str, config: str) -> None:
    with group(tmp_path, 3, config, "--level", level, "--most-undelivered", "16") as running:
        running.wait_for(4 * 300, 0, 1, 2)
        assert running.end(0, 1, 2) == [(0, "")] * 3
        for process in range(3):
            counted = Counter(running.lines(process))
            assert set(counted.values()) == {1}
            for sender in (1, 2, 3):
                found = deliveries(running.lines(process), sender)
                assert sorted(found) == list(range(1, 301))
                assert level == "urb" or found == sorted(found)


def test_bc_io_stress_a_minority_may_die_and_another_pause(tmp_path: Path) -> None:
    with group(tmp_path, 5, "3000\n", "--most-undelivered", "64") as running:
        running.children[4].kill()
        running.children[3].send_signal(signal.SIGSTOP)
        running.wait_for(3 * 3000, 0, 1, 2)
        running.children[3].send_signal(signal.SIGCONT)
        running.wait_for(5 * 3000, 0, 1, 2, 3)
        assert running.end(0, 1, 2, 3) == [(0, "")] * 4
        whole = [deliveries(running.lines(process), sender) for process in range(4) for sender in (1, 2, 3, 4)]
        assert all(found == list(range(1, 3001)) for found in whole)


def test_without_a_majority_nothing_is_delivered_and_the_output_is_whole(tmp_path: Path) -> None:
    with group(tmp_path, 3, "100\n", "--most-undelivered", "10") as running:
        for child in running.children[1:]:
            child.kill()
        running.wait_for(10, 0)
        assert running.end(0) == [(0, "")]
        lines = running.lines(0)
        # The others may have lived long enough to hear of some.
        assert begun(lines) == list(range(1, len(begun(lines)) + 1))
        assert len(begun(lines)) <= 10 + len(deliveries(lines, 1))


def test_strangers_and_noise_are_counted_and_harm_nothing(tmp_path: Path) -> None:
    with group(tmp_path, 2, "50\n") as running:
        running.wait_for(150, 0, 1)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            for datagram in (b"", b"noise", encode_all([data(7, 0, 7, 1, 1)]), encode_all([data(1, 0, 1, 51, 9_999)])):
                stranger.sendto(datagram, ("127.0.0.1", running.ports[0]))
            # Datagrams are heard in the order in which they came. This one could be process 2's, and is delivered.
            stranger.sendto(encode_all([data(1, 0, 1, 51, 20)]), ("127.0.0.1", running.ports[0]))
        running.wait_for(151, 0)
        (code, said), other = running.end(0, 1)
        assert (code, said) == (0, "process 1 refused 4: against_protocol 2, too_short 2\n")
        # Process 2 heard of what was forged in its name.
        assert other[0] == 0
        assert other[1].startswith("process 2 refused ")
        assert running.lines(0)[150:] == ["d 2 51"]


@pytest.mark.parametrize(
    ("change", "code", "sentence"),
    [
        ({"--id": "4"}, 2, "--id is 4; "),
        ({"--id": "0"}, 2, "has the ids 1 to 3"),
        ({"--hosts": "nowhere"}, 2, "nowhere: no such hosts file"),
        ({"--output": "/nowhere/x"}, 3, "/nowhere/x: the output cannot be written"),
        ({"config": "nowhere"}, 2, "nowhere: no such configuration file"),
    ],
)
def test_wrong_arguments_end_with_one_sentence(
    tmp_path: Path, change: dict[str, str], code: int, sentence: str
) -> None:
    hosts = "".join(f"{number} 127.0.0.1 {port}\n" for number, port in enumerate(ports(3), 1))
    words = {"--id": "1", "--hosts": str(written(tmp_path, "hosts", hosts)), "--output": str(tmp_path / "out")}
    words |= {"config": str(written(tmp_path, "config", "5\n"))}
    words |= change
    config = words.pop("config")
    line = [word for pair in words.items() for word in pair]
    ended = subprocess.run(
        [sys.executable, "-m", "scatterproof.impl.broadcast.program", *line, config],
        cwd=IMPORTED_FROM,
        capture_output=True,
        text=True,
    )

    assert ended.returncode == code
    assert sentence in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_a_port_that_is_taken_ends_the_program_with_a_sentence(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        hosts = written(tmp_path, "hosts", f"1 127.0.0.1 {taken.getsockname()[1]}\n")
        words = ["--id", "1", "--hosts", str(hosts), "--output", os.devnull, str(written(tmp_path, "config", "1\n"))]
        ended = subprocess.run(
            [sys.executable, "-m", "scatterproof.impl.broadcast.program", *words],
            cwd=IMPORTED_FROM,
            capture_output=True,
            text=True,
        )

    assert ended.returncode == 3
    assert "no UDP socket at host 127.0.0.1" in ended.stderr
