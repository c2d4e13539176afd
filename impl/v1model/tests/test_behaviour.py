"""Sample programs that compute, parse, copy and go round: what leaves, worked out from their text."""

from __future__ import annotations

import binascii
import zlib

import pytest

from scatterproof.impl.v1model import Aborted, ControlEntry, CounterValue, Digest
from scatterproof.impl.v1model.tests.samples import pack, switch, word_sum

# -- label_stack -------------------------------------------------------------------------------------------------------

LABELS = 0x88


def label(number: int, bottom: int, ttl: int = 9, class_: int = 0) -> bytes:
    return pack((number, 20), (class_, 3), (bottom, 1), (ttl, 8))


def stacked(*labels: bytes, payload: bytes = b"rest") -> bytes:
    return bytes([LABELS]) + b"".join(labels) + payload


def labelled(action: str, **params: int) -> list[tuple[int, bytes]]:
    made = switch("label_stack")
    match = {"hdr.labels[0].label": 5}
    made.tables["Enter.labels"].add(ControlEntry(match, f"Enter.{action}", params))
    return made.process(0, stacked(label(5, 0), label(6, 1)))


def test_a_label_is_swapped() -> None:
    assert labelled("swap", label=77, port=1) == [(1, stacked(label(77, 0, ttl=8), label(6, 1)))]


def test_a_label_is_pushed_before_the_others() -> None:
    assert labelled("push", label=77, port=2) == [(2, stacked(label(77, 0, ttl=64), label(5, 0), label(6, 1)))]


def test_a_label_is_popped() -> None:
    assert labelled("pop", port=3) == [(3, stacked(label(6, 1)))]


def test_a_push_into_a_full_stack_loses_the_last_label() -> None:
    made = switch("label_stack")
    match = {"hdr.labels[0].label": 5}
    made.tables["Enter.labels"].add(ControlEntry(match, "Enter.push", {"label": 4, "port": 1}))
    sent = stacked(label(5, 0), label(6, 0), label(7, 1))
    assert made.process(0, sent) == [(1, stacked(label(4, 0, ttl=64), label(5, 0), label(6, 0)))]


def test_more_labels_than_the_stack_holds_are_an_error() -> None:
    # Three were extracted, the fourth stays in the payload.
    labels = [label(number, 0) for number in (1, 2, 3)]
    sent = stacked(*labels, label(4, 1))
    assert switch("label_stack").process(0, sent) == [
        (7, bytes([LABELS, 1, 2]) + b"".join(labels) + label(4, 1) + b"rest")
    ]


def test_a_packet_that_ends_within_a_label_is_an_error_and_keeps_its_bytes() -> None:
    sent = stacked(label(1, 0), payload=b"abc")
    assert switch("label_stack").process(0, sent) == [(7, bytes([LABELS, 2, 0]) + label(1, 0) + b"abc")]


def test_without_labels_the_first_one_is_pushed() -> None:
    assert switch("label_stack").process(0, b"\x01rest") == [(6, b"\x01" + label(1, 0, ttl=64) + b"rest")]


# -- registers ---------------------------------------------------------------------------------------------------------


def operation(code: int, index: int, value: int) -> bytes:
    return pack((code, 8), (index, 8), (value, 32))


def test_registers_keep_what_packets_leave_in_them() -> None:
    made = switch("registers")

    def run(code: int, index: int, value: int) -> int:
        ((port, packet),) = made.process(3, operation(code, index, value))
        assert port == 3
        assert packet[:2] == bytes([code, index])
        return int.from_bytes(packet[2:])

    assert run(1, 9, 0xFFFFFFFF) == 0
    assert run(0, 9, 7) == 0xFFFFFFFF
    assert run(1, 9, 5) == 0xFFFFFFFF
    assert run(2, 9, 3) == 5  # the maximum stays
    assert run(2, 9, 6) == 6
    assert made.registers["Enter.cells"][9] == 6
    # Outside the register nothing is read, and nothing is written. (The compiler leaves out what was assigned before.)
    assert run(1, 10, 1) == 0
    assert list(made.registers["Enter.cells"]) == [0] * 9 + [6]
    assert run(3, 0, 0) == 7
    assert made.registers["Enter.seen"][3] == 7
    # Codes 0 to 3 are counted: one exchange more than the two within bounds, each packet has six bytes.
    assert [made.counters["Enter.codes"][code] for code in range(4)] == [
        CounterValue(1, 6),
        CounterValue(3, 18),
        CounterValue(2, 12),
        CounterValue(1, 6),
    ]


def test_a_register_wraps_at_its_width_and_can_be_set_from_outside() -> None:
    made = switch("registers")
    made.registers["Enter.seen"][1] = 0xFFFF
    assert made.process(1, operation(9, 0, 0)) == [(1, operation(9, 0, 0))]
    assert made.registers["Enter.seen"][1] == 0
    assert made.process(1, operation(9, 0, 0)) == [(1, operation(9, 0, 1))]


def test_switches_that_run_one_program_share_no_state() -> None:
    one, other = switch("registers"), switch("registers")
    one.process(0, operation(1, 0, 5))
    assert other.registers["Enter.cells"][0] == 0


# -- mirror ------------------------------------------------------------------------------------------------------------


def trail(instance: int, kept: int, lost: int, length: int, rid: int = 0) -> bytes:
    return pack((instance, 8), (kept, 8), (lost, 8), (length, 16), (rid, 16))


def order(which: int, value: int, payload: bytes = b"xyz") -> bytes:
    return bytes([which, value]) + payload


@pytest.mark.parametrize(
    ("which", "leaving"),
    [
        (0, [(2, trail(0, 0x42, 0x33, 5) + order(0, 0xAA))]),
        # The clone has the order as it came, and of the metadata what was listed, as it was at the end of ingress.
        (1, [(4, trail(1, 0x42, 0, 5, 3) + order(1, 0x40)), (2, trail(0, 0x42, 0x33, 5) + order(1, 0xAA))]),
        # One made in egress has the headers as egress left them (seven bytes more); it leaves after the packet.
        (2, [(2, trail(0, 0x42, 0x33, 5) + order(2, 0xAA)), (6, trail(2, 0x42, 0, 12) + order(2, 0xAA))]),
        # A clone leaves although its packet is dropped.
        (5, [(4, trail(1, 0x42, 0, 5, 3) + order(5, 0x40))]),
        (8, [(2, trail(0, 0x42, 0x33, 5) + order(8, 0xAA)), (6, trail(2, 0, 0, 12) + order(8, 0xAA))]),
    ],
)
def test_clones_carry_the_listed_metadata_and_nothing_else(which: int, leaving: list[tuple[int, bytes]]) -> None:
    made = switch("mirror")
    made.clone_sessions.set(5, [(4, 3)])
    made.clone_sessions.set(6, [(6, 0)])
    assert made.process(0, order(which, 0x40)) == leaving


def test_a_clone_of_a_session_that_is_not_there_is_lost() -> None:
    assert switch("mirror").process(0, order(3, 0x40)) == [(2, trail(0, 0x42, 0x33, 5) + order(3, 0xAA))]


def test_a_session_of_several_replicas_makes_as_many_clones() -> None:
    made = switch("mirror")
    made.clone_sessions.set(6, [(4, 1), (3, 1), (1, 0)])
    assert [port for port, _ in made.process(0, order(2, 0x40))] == [2, 1, 3, 4]
    made.clone_sessions.set(5, [(4, 1), (3, 1), (1, 0)])
    assert [(port, packet[5:7]) for port, packet in made.process(0, order(5, 0x40))] == [
        (1, b"\0\0"),
        (3, b"\0\1"),
        (4, b"\0\1"),
    ]


# -- rounds ------------------------------------------------------------------------------------------------------------


def count(resubmit: int, rounds: int, done: int = 0, instance: int = 0, seen: int = 0) -> bytes:
    return bytes([resubmit, rounds, done, instance, seen])


@pytest.mark.parametrize(
    ("sent", "left"),
    [
        (count(0, 0), count(0, 0)),
        # Resubmitted: what was written into the header is gone, list 1 keeps `seen` and not `rounds`.
        (count(1, 0), count(1, 0, 0, 6, 0x41)),
        # Each round puts one byte before the payload, which the next round finds as payload.
        (count(0, 2), count(0, 2, 2, 4) + b"\xe2\xe1"),
        (count(1, 1), count(1, 1, 1, 4, 0x41) + b"\xe1"),
    ],
)
def test_a_packet_goes_round_as_often_as_it_says(sent: bytes, left: bytes) -> None:
    assert switch("rounds").process(0, sent + b"!") == [(4, left + b"!")]


# -- arithmetic --------------------------------------------------------------------------------------------------------

RESULTS = (8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 16, 8, 16, 16, 16, 8, 8, 8, 8, 8)


@pytest.mark.parametrize(
    ("numbers", "results"),
    [
        # a, b, c, d, wide, low, high
        (
            (200, 100, 100, 50, 0xABCD, 3, 4),
            (
                *(300 - 256, 100, 20_000 % 256, 255, 100, 150 - 256, 127, 50, 0, 0, 200 * 256 + 100, 0xBC, 100),
                *(0, 0xABCD >> 3, 12, 55, 56, (200 & 100) | (200 ^ 15), 100),
            ),
        ),
        (
            (3, 5, -128, -1, 0x8001, 1, 1),
            (
                *(8, 254, 15, 8, 0, 127, -128, -127, 1, 1, 3 * 256 + 5, 0x00, 0xFF80),
                *(0x0008, 0x4000, -64, 252, 253, (3 & 5) | (3 ^ 15), 3),
            ),
        ),
        (
            (16, 16, 0, -128, 0xFFFF, 15, 0),
            (
                *(32, 0, 0, 32, 0, -128, -128, 127, 0, 0, 16 * 256 + 16, 0xFF, 0),
                *(0, 1, 0, 239, 240, (16 & 16) | (16 ^ 15), 7),
            ),
        ),
    ],
)
def test_arithmetic_wraps_saturates_and_keeps_signs(numbers: tuple[int, ...], results: tuple[int, ...]) -> None:
    a, b, c, d, wide, low, high = numbers
    head = ((a, 8), (b, 8), (c, 8), (d, 8))
    tail = ((low, 4), (high, 4))
    sent = pack(*head, (wide, 16), *tail)
    left = pack(*head, (wide & 0xFF00 | a, 16), *tail) + pack(*zip(results, RESULTS, strict=True))
    assert switch("arithmetic").process(0, sent) == [(1, left)]


# -- options -----------------------------------------------------------------------------------------------------------


def test_options_of_any_length_are_kept_and_their_ends_rewritten() -> None:
    for words in (1, 2, 3):
        body = bytes(range(0x30, 0x30 + 4 * words - 2))
        sent = bytes([words << 4, 7, 1, *body, 2, 9]) + b"pay"
        length = len(sent)
        assert switch("options").process(0, sent) == [(1, bytes([words << 4, 7, 2, *body, 4, length]) + b"pay")]


def test_options_are_dropped_with_their_length() -> None:
    sent = bytes([0x21, 7, 1, 2, 3, 4, 5, 6, 7, 8, 9]) + b"pay"
    assert switch("options").process(0, sent) == [(1, bytes([0x01, 7, len(sent) - 8]) + b"pay")]


def test_a_copied_header_has_the_same_options() -> None:
    # The length is that of the packet that came: an assigned header is valid, yet was not added.
    sent = bytes([0x22, 7, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    left = bytes([0x22, 7, 2, 2, 3, 4, 5, 6, 7, 10, 1, 2, 3, 4, 5, 6, 7, 8, len(sent)])
    assert switch("options").process(0, sent) == [(1, left)]


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (bytes([0xF0, 7]) + bytes(80), 0xE1),  # refused by verify
        (bytes([0x40, 7]) + bytes(80), 0xE1),  # 112 bits are more than a varbit<88> holds
        (bytes([0x20, 7]) + bytes(7), 0xE2),  # the options are not all there
        (bytes([0x00, 7]), 0xE2),
    ],
)
def test_options_that_cannot_be_are_told_and_the_rest_is_payload(sent: bytes, told: int) -> None:
    assert switch("options").process(0, sent) == [(1, bytes([sent[0], told]) + sent[2:])]


# -- ecmp --------------------------------------------------------------------------------------------------------------


def arc(data: bytes) -> int:
    """CRC-16/ARC bit by bit."""
    remainder = 0
    for byte in data:
        remainder ^= byte
        for _ in range(8):
            remainder = remainder >> 1 ^ (0xA001 if remainder & 1 else 0)
    return remainder


def test_crc16_is_the_one_of_the_catalogue() -> None:
    # The check value that catalogues give for CRC-16/ARC, and what a CRC of nothing is.
    assert arc(b"123456789") == 0xBB3D


@pytest.mark.parametrize(("source", "destination", "protocol", "odd"), [(0x0A000001, 0x0B000002, 17, 1), (0, 0, 0, 0)])
def test_each_algorithm_hashes_the_bytes_of_its_fields(source: int, destination: int, protocol: int, odd: int) -> None:
    made = switch("ecmp")
    for path in range(4):
        made.tables["Enter.paths"].add(ControlEntry({"meta.path": path}, "Enter.to", {"port": path + 1}))
    sent = pack((source, 32), (destination, 32), (protocol, 8), (0, 7), (odd, 1))
    data = sent[:9]
    words = [int.from_bytes((data + b"\0")[at : at + 2]) for at in range(0, 10, 2)]
    xored = words[0] ^ words[1] ^ words[2] ^ words[3] ^ words[4]
    bounded = 100 + zlib.crc32(data[:4]) % 7
    # A bit, a one, eight bits, and six zeros.
    ten = (odd << 15 | 1 << 14 | protocol << 6).to_bytes(2)
    expected = sent + pack(
        (arc(data), 16),
        (zlib.crc32(data), 32),
        (word_sum(data), 16),
        (xored, 16),
        (int.from_bytes(data[:8]), 64) if data[:8] != b"\xff" * 8 else (0, 64),
        (bounded, 16),
        (arc(ten), 16),
    )
    assert made.process(0, sent) == [(1 + arc(data[:8]) % 4, expected)]


def test_ccitt_starts_from_ones() -> None:
    # CRC-16/CCITT-FALSE of the digits, from the catalogue.
    assert binascii.crc_hqx(b"123456789", 0xFFFF) == 0x29B1


# -- peek --------------------------------------------------------------------------------------------------------------


def magic(version: int, leap: int, rest: bytes, number: int = 0x5A) -> bytes:
    return bytes([number, version << 4 | leap]) + rest


@pytest.mark.parametrize(
    ("sent", "report", "left"),
    [
        (magic(1, 0, b"\x02v"), (0, 1, 2), magic(1, 0, b"\x02v")),
        # In the value set, and by mask: three bytes more, of which the last is one higher.
        (magic(1, 0, b"\x44\0\0\xff!"), (0, 1, 0x44), magic(1, 0, b"\x44\0\1\0!")),
        (magic(1, 0, b"\xbf\0\0\x01"), (0, 1, 0xBF), magic(1, 0, b"\xbf\0\0\2")),
        (magic(1, 0, b"\x55rest"), (0, 1, 0x55), magic(1, 0, b"\x55rest")),
        # Version 2 with leap 8 and more passes over two bytes, which are lost.
        (magic(2, 9, b"ab\x03v"), (0, 2, 3), magic(2, 9, b"\x03v")),
        # Any other version with bit 1 passes over as many as it says.
        (magic(3, 3, b"abc\x03v"), (0, 3, 3), magic(3, 3, b"\x03v")),
        (magic(2, 1, b"a\x03v"), (0, 3, 3), magic(2, 1, b"\x03v")),
        (magic(9, 0, b"\x03v"), (0, 9, 0), magic(9, 0, b"\x03v")),
        # Errors: a wrong number; nothing to look at; nothing to pass over; nothing to extract.
        (magic(1, 0, b"\x03v", 0x5B), (1, 0, 0), magic(1, 0, b"\x03v", 0x5B)),
        (magic(1, 0, b""), (2, 1, 0), magic(1, 0, b"")),
        (magic(2, 9, b"a"), (2, 2, 0), magic(2, 9, b"a")),
        (magic(3, 3, b"ab"), (2, 3, 0), magic(3, 3, b"ab")),
        (magic(1, 0, b"\x03"), (2, 1, 3), magic(1, 0, b"\x03")),
        (b"\x5a", (2, 0, 0), b"\x5a"),
        (b"", (2, 0, 0), b""),
    ],
)
def test_the_parser_goes_the_way_that_the_bytes_say(sent: bytes, report: tuple[int, int, int], left: bytes) -> None:
    made = switch("peek")
    made.value_sets["Parse.kinds"].add(0x44)
    assert made.process(0, sent) == [(1, bytes(report) + left)]


# -- controller --------------------------------------------------------------------------------------------------------


def framed(kind: int, time: int = 0, drawn: int = 0) -> bytes:
    return pack((kind, 8), (time, 48), (drawn, 8))


def test_packets_go_in_and_out_through_the_controllers_port() -> None:
    made = switch("controller", cpu_port=255)
    assert made.process(3, framed(1)) == [(255, pack((0, 7), (3, 9)) + framed(1))]
    assert made.process(255, pack((0, 7), (6, 9)) + framed(1)) == [(6, framed(1))]
    # Without such a port what is sent there is lost.
    assert switch("controller").process(3, framed(1)) == []


def test_a_digest_tells_its_fields_once() -> None:
    made = switch("controller")
    assert made.process(5, framed(2)) == [(2, framed(2))]
    assert made.take_digests() == [Digest("learnt_t", (2, 5))]
    assert made.take_digests() == []


def test_a_truncated_packet_leaves_with_its_first_bytes() -> None:
    assert switch("controller").process(0, framed(3) + b"abcdefgh") == [(3, framed(3) + b"ab")]
    assert switch("controller").process(0, framed(3) + b"a") == [(3, framed(3) + b"a")]


def test_the_time_stamp_is_the_time_given() -> None:
    assert switch("controller").process(0, framed(4), now_us=123_456) == [(4, framed(4, 123_456))]


def test_random_numbers_lie_within_their_bounds_and_follow_the_seed() -> None:
    def drawn(seed: int) -> list[int]:
        made = switch("controller", seed=seed)
        return [made.process(0, framed(5))[0][1][-1] for _ in range(40)]

    assert set(drawn(1)) == {10, 11, 12}
    assert drawn(1) == drawn(1) != drawn(2)


def test_a_failed_assertion_ends_the_run_with_its_place() -> None:
    made = switch("controller")
    with pytest.raises(Aborted, match=r"controller\.json: action .*: assert failed"):
        made.process(0, framed(6))
    assert made.process(0, framed(4), now_us=1) == [(4, framed(4, 1))]


# -- unions ------------------------------------------------------------------------------------------------------------

SMALL, LARGE = b"\x07", b"\x0a\x0b\x0c"


@pytest.mark.parametrize(
    ("sent", "port", "left"),
    [
        (b"\1\0" + SMALL + b"!", 1, b"\1\0" + SMALL + b"!"),
        (b"\2\0" + LARGE + b"!", 1, b"\2\0" + LARGE + b"!"),
        (b"\0\0!", 2, b"\0\0!"),
        # The other one becomes valid: the first one is no more.
        (b"\1\1" + SMALL + b"!", 1, b"\2\1\x12\x34\x56!"),
        (b"\2\2" + LARGE + b"!", 1, b"\1\2\x99!"),
        (b"\2\1" + LARGE + b"!", 1, b"\2\1\x12\x34\x56!"),
        (b"\0\2!", 2, b"\1\2\x99!"),
        (b"\1\3" + SMALL + b"!", 1, b"\0\3!"),
        (b"\2\3" + LARGE + b"!", 1, b"\2\3" + LARGE + b"!"),
        # Making a valid header valid changes nothing in it.
        (b"\2\4" + LARGE + b"!", 1, b"\2\4" + LARGE + b"!"),
    ],
)
def test_of_a_union_one_header_is_valid(sent: bytes, port: int, left: bytes) -> None:
    assert switch("unions").process(0, sent) == [(port, left)]


def test_a_table_looks_up_zero_for_an_invalid_header_and_counts_the_bytes_that_came() -> None:
    made = switch("unions")
    values = made.tables["Enter.values"]
    for value, port in ((0, 5), (7, 6)):
        values.add(ControlEntry({"hdr.body.small.value": value}, "Enter.seen", {"port": port}))
    assert made.process(0, b"\1\5" + SMALL) == [(6, b"\1\5" + SMALL)]
    assert made.process(0, b"\1\3" + SMALL) == [(5, b"\0\3")]
    # A header was added, and another one taken away, before the counter counted.
    assert made.process(0, b"\1\4" + SMALL) == [(5, b"\2\4\0\0\0")]
    assert values.counter({"hdr.body.small.value": 0}) == CounterValue(2, 6)


# -- sums --------------------------------------------------------------------------------------------------------------


def segment(length: int, value: int, payload: bytes, checksum: int | None = None) -> bytes:
    covered = pack((length, 16), (value, 32), (0xA1, 8), (0xB2, 8)) + payload
    return covered[:2] + pack((word_sum(covered) if checksum is None else checksum, 16)) + covered[2:]


def told(wrong: int) -> bytes:
    # The two bytes are summed in exchanged order.
    return pack((wrong, 8), (0xFFFF - 0xB2A1, 16))


@pytest.mark.parametrize("payload", [b"", b"a", b"ab", b"abc", bytes(9), b"\xff" * 7])
@pytest.mark.parametrize("value", [0, 1, 0xFFFF, 0xFFFFFFFE, 0x12345678])
def test_checksums_over_the_payload_are_verified_and_made_anew(value: int, payload: bytes) -> None:
    right = segment(8, value, payload)
    left = segment(8, value + 1, payload)
    assert switch("sums").process(0, right) == [(1, told(0) + left)]
    wrong = segment(8, value, payload, int.from_bytes(right[2:4]) ^ 1)
    assert switch("sums").process(0, wrong) == [(1, told(1) + left)]
    # Where the condition does not hold nothing is verified.
    unasked = segment(7, value, payload, 0x7777)
    assert switch("sums").process(0, unasked) == [(1, told(0) + segment(7, value + 1, payload))]


def test_a_sum_that_is_all_ones_gives_checksum_zero() -> None:
    value = 0xFFFF - 8 - 0xA1B2
    assert switch("sums").process(0, segment(8, value - 1, b"", 0))[0][1][5:7] == b"\0\0"


def test_a_packet_without_the_header_has_no_checksum_to_be_wrong() -> None:
    # Nor bytes to be summed: a sum of nothing is 0, its complement all ones.
    assert switch("sums").process(0, b"\0\1\2") == [(1, b"\0\xff\xff\0\1\2")]
