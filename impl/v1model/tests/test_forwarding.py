"""Sample programs that forward: what leaves, worked out from their text."""

from __future__ import annotations

from functools import partial

import pytest

from scatterproof.impl.v1model import (
    Code,
    ControlEntry,
    ControlError,
    CounterValue,
    EmbeddedSwitch,
    Lpm,
    MeterConfig,
    Range,
    Ternary,
)
from scatterproof.impl.v1model.tests.samples import pack, switch, word_sum

A, B, UNKNOWN = 0x0A0000000001, 0x0A0000000002, 0x0A00000000FF


def frame(destination: int, source: int = A, kind: int = 0x0800, payload: bytes = b"payload") -> bytes:
    return pack((destination, 48), (source, 48), (kind, 16)) + payload


# -- l2_forward --------------------------------------------------------------------------------------------------------


def l2() -> EmbeddedSwitch:
    made = switch("l2_forward", ports=4)
    made.tables["Enter.addresses"].add(ControlEntry({"hdr.ethernet.destination": B}, "Enter.forward", {"port": 2}))
    made.multicast.set(1, [(port, 0) for port in range(4)])
    return made


def test_a_known_address_leaves_by_its_port_unchanged() -> None:
    packet = frame(B)
    assert l2().process(0, packet) == [(2, packet)]


def test_an_unknown_address_leaves_by_every_port_but_its_own() -> None:
    packet = frame(UNKNOWN)
    assert l2().process(1, packet) == [(0, packet), (2, packet), (3, packet)]


def test_a_packet_to_its_own_port_is_dropped_in_egress() -> None:
    assert l2().process(2, frame(B)) == []


def test_a_frame_that_is_too_short_is_forwarded_by_its_missing_address() -> None:
    # The header stays invalid, so the key is 0, which is unknown; nothing is emitted but the payload.
    assert l2().process(0, b"short") == [(1, b"short"), (2, b"short"), (3, b"short")]


def test_what_is_sent_to_a_port_that_is_not_there_is_lost() -> None:
    made = l2()
    made.tables["Enter.addresses"].modify(ControlEntry({"hdr.ethernet.destination": B}, "Enter.forward", {"port": 9}))
    assert made.process(0, frame(B)) == []


def test_a_packet_sent_to_the_drop_port_is_dropped() -> None:
    # Even where a port of that number is connected.
    made = EmbeddedSwitch(l2().program, ports=512)
    addresses = made.tables["Enter.addresses"]
    addresses.add(ControlEntry({"hdr.ethernet.destination": B}, "Enter.forward", {"port": 510}))
    assert made.process(0, frame(B)) == [(510, frame(B))]
    addresses.modify(ControlEntry({"hdr.ethernet.destination": B}, "Enter.forward", {"port": 511}))
    assert made.process(0, frame(B)) == []
    addresses.modify(ControlEntry({"hdr.ethernet.destination": B}, "Enter.drop"))
    assert made.process(0, frame(B)) == []


def test_the_fifth_address_does_not_fit() -> None:
    made = l2()
    for address in range(3):
        made.tables["Enter.addresses"].add(ControlEntry({"hdr.ethernet.destination": address}, "Enter.drop"))
    with pytest.raises(ControlError) as caught:
        made.tables["Enter.addresses"].add(ControlEntry({"hdr.ethernet.destination": 9}, "Enter.drop"))
    assert caught.value.code is Code.RESOURCE_EXHAUSTED
    with pytest.raises(ControlError) as caught:
        made.tables["Enter.missing"].clear()
    assert caught.value.code is Code.NOT_FOUND


# -- l3_route ----------------------------------------------------------------------------------------------------------


def ipv4(destination: int, ttl: int = 64, protocol: int = 6, ihl: int = 5, payload: bytes = b"", bad: int = 0) -> bytes:
    head = [(4, 4), (ihl, 4), (0, 8), (20 + len(payload), 16), (77, 16), (2, 3), (0, 13), (ttl, 8), (protocol, 8)]
    addresses = [(0xC0A80001, 32), (destination, 32)]
    checksum = word_sum(pack(*head, (0, 16), *addresses))
    return pack(*head, (checksum ^ bad, 16), *addresses) + payload


def udp(source: int, destination: int, payload: bytes, checksum: int) -> bytes:
    return pack((source, 16), (destination, 16), (8 + len(payload), 16), (checksum, 16)) + payload


def l3() -> EmbeddedSwitch:
    made = switch("l3_route")
    routes = made.tables["Enter.routes"]
    routes.add(ControlEntry({"hdr.ipv4.destination": Lpm(0x0A000000, 8)}, "Enter.via", {"hop": 0xAA, "port": 1}))
    routes.add(ControlEntry({"hdr.ipv4.destination": Lpm(0x0A0B0000, 16)}, "Enter.via", {"hop": 0xBB, "port": 2}))
    routes.add(ControlEntry({"hdr.ipv4.destination": Lpm(0x0A0B0C0D, 32)}, "Enter.drop"))
    for hop, port in ((0xAA, 1), (0xBB, 2)):
        match = {"meta.hop": hop, "std.egress_spec": port}
        made.tables["Enter.neighbours"].add(ControlEntry(match, "Enter.rewrite", {"source": port, "destination": hop}))
    return made


@pytest.mark.parametrize(
    ("destination", "port", "hop"), [(0x0A010203, 1, 0xAA), (0x0A0B0102, 2, 0xBB), (0x0A0B0C0C, 2, 0xBB)]
)
def test_the_longest_prefix_chooses_and_the_checksum_fits_the_lower_time_to_live(
    destination: int, port: int, hop: int
) -> None:
    sent = frame(B, payload=ipv4(destination, ttl=64))
    assert l3().process(0, sent) == [(port, frame(hop, port, payload=ipv4(destination, ttl=63)))]


@pytest.mark.parametrize(
    "packet",
    [
        frame(B, payload=ipv4(0x0A0B0C0D)),  # a route that drops
        frame(B, payload=ipv4(0x0B000000)),  # no route
        frame(B, payload=ipv4(0x0A010203, ttl=1)),  # too old
        frame(B, payload=ipv4(0x0A010203, bad=0x0100)),  # a wrong checksum
        frame(B, kind=0x86DD, payload=ipv4(0x0A010203)),  # another protocol
        frame(B, payload=ipv4(0x0A010203)[:19]),  # a byte too short
    ],
)
def test_packets_that_must_not_be_routed_are_dropped(packet: bytes) -> None:
    assert l3().process(0, packet) == []


def test_a_header_with_options_is_not_verified_and_keeps_its_payload() -> None:
    sent = frame(B, payload=ipv4(0x0A010203, ihl=6, bad=0x1234, payload=b"opts-data"))
    assert l3().process(0, sent) == [(1, frame(0xAA, 1, payload=ipv4(0x0A010203, ttl=63, ihl=6, payload=b"opts-data")))]


@pytest.mark.parametrize("payload", [b"", b"odd", b"even"])
def test_the_udp_checksum_covers_the_pseudo_header_and_the_payload(payload: bytes) -> None:
    length = 8 + len(payload)
    pseudo = pack((0xC0A80001, 32), (0x0A010203, 32), (0, 8), (17, 8), (length, 16))
    expected = word_sum(pseudo + pack((1000, 16), (2000, 16), (length, 16)) + payload)
    sent = frame(B, payload=ipv4(0x0A010203, protocol=17, payload=udp(1000, 2000, payload, checksum=0xFFFF)))
    body = udp(1000, 2000, payload, expected)
    assert l3().process(0, sent) == [(1, frame(0xAA, 1, payload=ipv4(0x0A010203, 63, 17, payload=body)))]
    # Zero says that there is none: it stays.
    body = udp(1000, 2000, payload, 0)
    sent = frame(B, payload=ipv4(0x0A010203, protocol=17, payload=body))
    assert l3().process(0, sent) == [(1, frame(0xAA, 1, payload=ipv4(0x0A010203, 63, 17, payload=body)))]


# -- acl ---------------------------------------------------------------------------------------------------------------


def request(kind: int, source: int = 0, low: int = 0, high: int = 0, verdict: int = 0) -> bytes:
    return pack((kind, 8), (source, 32), (low, 16), (high, 16), (verdict, 8))


def acl() -> EmbeddedSwitch:
    made = switch("acl")
    rules, ports, owners = (made.tables[f"Enter.{name}"] for name in ("rules", "ports", "owners"))

    def mark(match: dict[str, Ternary | Range | int], verdict: int, priority: int) -> ControlEntry:
        named = {f"hdr.request.{key}": value for key, value in match.items()}
        return ControlEntry(named, "Enter.mark", {"verdict": verdict}, priority)

    rules.add(mark({"source": Ternary(0x0A000000, 0xFF000000), "kind": 1}, 0x11, 10))
    rules.add(mark({"source": Ternary(0x0A0B0000, 0xFFFF0000), "kind": 1}, 0x22, 5))
    rules.add(mark({"source": Ternary(0x00000007, 0x000000FF), "kind": 1}, 0x33, 20))
    rules.add(mark({"kind": 2}, 0x44, 1))
    ports.add(mark({"low": Range(100, 200), "high": Range(5, 5)}, 0x55, 3))
    ports.add(mark({"low": Range(150, 300), "kind": Ternary(0x01, 0x01)}, 0x66, 9))
    owners.add(mark({"source": 0x01020304, "low": 80}, 0x88, 2))
    owners.add(mark({"source": 0x01020304}, 0x99, 1))
    return made


@pytest.mark.parametrize(
    ("sent", "verdict"),
    [
        (request(1, source=0x0A0B0C0D), 0x11),  # both match; the greater priority wins, not the longer mask
        (request(1, source=0x0A0B0C07), 0x33),
        (request(1, source=0x0B000001), 0x00),
        (request(2, source=0xFFFFFFFF), 0x44),
        (request(3), 0x00),
        (request(10, low=100, high=5), 0x55),
        (request(10, low=200, high=5), 0x55),
        (request(10, low=201, high=5), 0x77),  # the default of that table
        (request(11, low=200, high=5), 0x66),
        (request(11, low=300, high=9), 0x66),
        (request(10, low=150, high=6), 0x77),
        (request(20, source=0x01020304, low=80), 0x88),
        (request(20, source=0x01020304, low=81), 0x99),
        (request(20, source=0x01020305, low=80), 0x00),
        (request(40, low=0x1256), 0x12),  # entries of the program: the first one wins
        (request(40, low=0x5634), 0x34),
        (request(40, low=0x1234), 0x12),
        (request(40, low=0x7777), 0xFF),
    ],
)
def test_an_access_list_gives_the_verdict_of_its_best_entry(sent: bytes, verdict: int) -> None:
    assert acl().process(0, sent) == [(1, sent[:-1] + bytes([verdict]))]


def test_entries_written_in_the_program_cannot_be_changed() -> None:
    fixed = acl().tables["Enter.fixed"]
    assert len(fixed) == 4
    entry = ControlEntry({"hdr.request.low": 1}, "NoAction", priority=1)
    for action in (partial(fixed.add, entry), fixed.clear, partial(fixed.default, "NoAction")):
        with pytest.raises(ControlError) as caught:
            action()
        assert caught.value.code is Code.PERMISSION_DENIED


# -- fanout ------------------------------------------------------------------------------------------------------------


def test_every_copy_of_a_multicast_packet_is_rewritten_for_itself() -> None:
    made = switch("fanout", ports=4)
    made.multicast.set(9, [(1, 0), (2, 0), (1, 5), (3, 6), (2, 7)])
    replicas = made.tables["Leave.replicas"]
    replicas.add(ControlEntry({"std.egress_rid": 5}, "Leave.detag", {"plus": 0x10}))
    replicas.add(ControlEntry({"std.egress_rid": 6}, "Leave.drop"))
    sent = pack((9, 16), (0, 8), (0, 8), (0x20, 8)) + b"rest"
    # The sum is lowered in no copy by another: each starts from what ingress left.
    assert made.process(0, sent) == [
        (1, pack((9, 16), (1, 8), (0, 8), (0x20, 8)) + b"rest"),
        (2, pack((9, 16), (2, 8), (0, 8), (0x20, 8)) + b"rest"),
        (1, bytes([0x31]) + b"rest"),
        (2, pack((9, 16), (2, 8), (7, 8), (0x20, 8)) + b"rest"),
    ]


def test_group_zero_is_no_group_and_an_unknown_one_is_empty() -> None:
    made = switch("fanout", ports=4)
    inner = bytes([0x20])
    assert made.process(0, pack((0, 16), (0, 8), (0, 8)) + inner) == [(3, pack((0, 16), (3, 8), (0, 8)) + inner)]
    assert made.process(0, pack((8, 16), (0, 8), (0, 8)) + inner) == []


# -- accounting --------------------------------------------------------------------------------------------------------


def accounts() -> EmbeddedSwitch:
    made = switch("accounting")
    customers = made.tables["Enter.customers"]
    customers.add(ControlEntry({"hdr.account.customer": 1}, "Enter.gold", {"path": 0x77}))
    customers.add(ControlEntry({"hdr.account.customer": 2}, "Enter.silver"))
    customers.add(ControlEntry({"hdr.account.customer": 3}, "Enter.refuse"))
    return made


def account(customer: int, colour: int = 0, path: int = 0) -> bytes:
    return pack((customer, 16), (colour, 8), (path, 8))


def test_the_action_that_ran_decides_what_comes_next() -> None:
    made = accounts()
    assert made.process(0, account(1)) == [(2, account(1, 0x10, 0x77))]
    assert made.process(0, account(2)) == [(1, account(2, 0x10, 0x51))]
    assert made.process(0, account(3)) == []
    # NoAction returns: the meter is not asked.
    assert made.process(0, account(4)) == [(3, account(4))]


def test_a_direct_counter_counts_packets_and_bytes_of_its_entry_alone() -> None:
    made = accounts()
    for size in (0, 10):
        made.process(0, account(1) + bytes(size))
    made.process(0, account(2))
    customers = made.tables["Enter.customers"]
    assert customers.counter({"hdr.account.customer": 1}) == CounterValue(2, 18)
    assert customers.counter({"hdr.account.customer": 2}) == CounterValue(1, 4)
    assert customers.counter({"hdr.account.customer": 3}) == CounterValue(0, 0)


def test_a_direct_meter_colours_on_a_hit_and_the_shared_one_on_a_miss() -> None:
    made = accounts()
    metered = made.tables["Enter.metered"]
    metered.add(ControlEntry({"hdr.account.customer": 1}, "Enter.measure"))
    metered.set_meter({"hdr.account.customer": 1}, MeterConfig(cir=1, cburst=4, pir=1, pburst=8))
    # Four bytes a packet: one is within the committed burst, one more within the peak burst.
    colours = [made.process(0, account(1))[0][1][2] for _ in range(3)]
    assert colours == [0, 1, 2]
    made.meters["Enter.shared"].set(2, MeterConfig(cir=1_000, cburst=1, pir=1_000, pburst=1))
    colours = [made.process(0, account(2), now_us=now)[0][1][2] for now in (0, 500, 1_000)]
    assert colours == [0x10, 0x12, 0x10]
