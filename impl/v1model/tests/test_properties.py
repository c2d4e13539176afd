"""What holds for every sample program: no packet breaks it, equal runs are equal, and its files belong together."""

from __future__ import annotations

import hashlib
import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scatterproof.impl.v1model import (
    Aborted,
    ControlEntry,
    ControlError,
    EmbeddedSwitch,
    Lpm,
    Match,
    MeterConfig,
    P4Program,
    Range,
    Ternary,
    generator,
    load,
)
from scatterproof.impl.v1model.code import Block, If, Loop
from scatterproof.impl.v1model.liveness import effect
from scatterproof.impl.v1model.tables import Key, MatchKind
from scatterproof.impl.v1model.tests.samples import NAMES, PROGRAMS, program

PORTS = 8


def any_match(key: Key, draw: Random) -> Match:
    """Values are small, so that packets meet entries."""
    value = draw.choice([0, 1, draw.randrange(1 << key.width)]) % (1 << key.width)
    match key.kind:
        case MatchKind.EXACT:
            return value
        case MatchKind.LPM:
            prefix = draw.randint(1, key.width)
            return Lpm(value >> (key.width - prefix) << (key.width - prefix), prefix)
        case MatchKind.TERNARY:
            mask = draw.randrange(1, 1 << key.width)
            return Ternary(value & mask, mask)
        case MatchKind.RANGE:
            return Range(0, value)


def populated(name: str, seed: int, loaded: P4Program | None = None) -> EmbeddedSwitch:
    """A switch with random entries, groups and sessions."""
    draw = Random(seed)
    made = EmbeddedSwitch(loaded or program(name), ports=PORTS, cpu_port=255, seed=seed)
    for table in made.tables.values():
        if not table.spec.keys or table.spec.const_entries is not None:
            continue
        for _ in range(6):
            action = draw.choice(table.spec.actions)
            params = [draw.randrange(min(1 << parameter.width, 8)) for parameter in action.parameters]
            match = {key.name: any_match(key, draw) for key in table.spec.keys}
            # Two equal ones, or one more than fit: the first ones stay.
            if (
                not_refused(table.add, ControlEntry(match, action.name, params, 5 if table.spec.ranked else 0))
                and table.spec.meter
            ):
                config = MeterConfig(cir=1, cburst=20, pir=2, pburst=40)
                table.set_meter(match, config, 5 if table.spec.ranked else 0)
    for group in (1, 2, 9):
        made.multicast.set(group, {(draw.randrange(PORTS), draw.randrange(3)) for _ in range(4)})
    for session in (5, 6):
        made.clone_sessions.set(session, {(draw.randrange(PORTS), draw.randrange(3)) for _ in range(2)})
    for values in made.value_sets.values():
        values.add(draw.randrange(8))
    return made


def not_refused(action: object, entry: ControlEntry) -> bool:
    assert callable(action)
    try:
        action(entry)
    except ControlError:
        return False
    return True


def run(made: EmbeddedSwitch, port: int, data: bytes) -> list[tuple[int, bytes]] | str:
    try:
        return made.process(port, data, now_us=7)
    except Aborted as error:
        return str(error)


# Bytes that parsers look for, so that packets get past the first state.
STARTS = st.sampled_from(
    [b"", b"\x88", b"\x5a\x10", b"\x5a\x29", b"\x45", b"\x20\x00", bytes(12) + b"\x08\x00\x45" + bytes(8) + b"\x11"]
)
PACKETS = st.builds(lambda start, rest: start + rest, STARTS, st.binary(max_size=120))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40)
@given(seed=st.integers(0, 3), port=st.sampled_from([0, 1, 7, 255]), packets=st.lists(PACKETS, min_size=1, max_size=5))
def test_no_packet_breaks_a_program_and_equal_runs_are_equal(
    name: str, seed: int, port: int, packets: list[bytes]
) -> None:
    one, other = populated(name, seed), populated(name, seed)
    for packet in packets:
        left = run(one, port, packet)
        assert left == run(other, port, packet)
        if isinstance(left, list):
            assert all(to in {*range(PORTS), 255} for to, _ in left)
    assert not one.later
    assert not one.again


@pytest.mark.parametrize("name", NAMES)
def test_a_packet_may_end_anywhere(name: str) -> None:
    draw = Random(name)
    for start in (b"", b"\x88", b"\x5a\x10", b"\x20\x00", bytes(12) + b"\x08\x00\x45" + bytes(8) + b"\x11"):
        packet = start + draw.randbytes(60)
        for length in range(len(packet) + 1):
            run(populated(name, 1), 0, packet[:length])


def all_names(block: Block) -> frozenset[str]:
    found: set[str] = set()
    for statement in block:
        match statement:
            case str():
                told = effect(statement)
                found |= told.reads | told.writes
            case If(branches, otherwise):
                for test, body in branches:
                    found |= effect(test).reads | all_names(body)
                found |= all_names(otherwise)
            case Loop(body):
                found |= all_names(body)
    return frozenset(found)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_passes_leave_out_changes_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        # No line is dropped, every name is set to zero and passed on.
        patched.setattr(generator, "needed", lambda block: (block, all_names(block)))
        plain = load(PROGRAMS / f"{name}.json", place=f"{name}.json")
    assert len(plain.source) > len(program(name).source)
    draw = Random(name)
    for seed in range(2):
        one, other = populated(name, seed), populated(name, seed, plain)
        for _ in range(60):
            start = draw.choice([b"", b"\x88", b"\x5a\x10", b"\x20\x00", bytes([draw.randrange(4), draw.randrange(6)])])
            packet, port = start + draw.randbytes(draw.randrange(70)), draw.randrange(PORTS)
            assert run(one, port, packet) == run(other, port, packet)
        for register in one.registers:
            assert list(one.registers[register]) == list(other.registers[register])


@pytest.mark.parametrize("name", NAMES)
def test_a_program_gives_the_same_source_each_time(name: str) -> None:
    assert load(PROGRAMS / f"{name}.json", place=f"{name}.json").source == program(name).source


def test_every_sample_is_compiled_from_the_source_beside_it() -> None:
    manifest = json.loads((PROGRAMS / "manifest.json").read_bytes())
    assert sorted(manifest["programs"]) == NAMES
    for name, told in manifest["programs"].items():
        for ending, key in (("p4", "p4"), ("json", "json"), ("p4info.txtpb", "p4info")):
            content = (PROGRAMS / f"{name}.{ending}").read_bytes()
            assert hashlib.sha256(content).hexdigest() == told[key], f"{name}.{ending}: run ci/p4-samples"


@pytest.mark.parametrize("name", NAMES)
def test_a_compiled_sample_holds_no_place_of_a_machine(name: str) -> None:
    text = (PROGRAMS / f"{name}.json").read_text()
    assert "source_info" not in text
    assert "/usr/" not in text
    assert "/tmp/" not in text
