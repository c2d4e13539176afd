"""The builds of the P4 program: the corrected rules, each literal rule that concerns a switch, and mutants.

Literal rules bear the names of their findings (spec/totalorder/findings.toml). Macros are LITERAL_<NAME> and
MUTANT_<NAME>.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import msgspec

from scatterproof.spec.errors import BadInput, CannotRun

FOLDER = Path(__file__).resolve().parent
PROGRAM = FOLDER / "program"
COMPILED = FOLDER / "compiled"
MANIFEST = "manifest.json"
DEFAULT, FRAME_CLOCK = "default", "frame_clock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """clause: the one that the rule is about.
    macro: what is defined for the compiler, empty for the corrected rules.
    sizes: the numbers of ports that it is compiled for.
    """

    name: str
    macro: str
    clause: str
    sentence: str
    sizes: tuple[int, ...] = (8,)


def _literal(name: str, clause: str, sentence: str) -> Build:
    return Build(name=name, macro=f"LITERAL_{name.upper()}", clause=clause, sentence=sentence)


def _mutant(name: str, clause: str, sentence: str) -> Build:
    return Build(name=name, macro=f"MUTANT_{name.upper()}", clause=clause, sentence=sentence)


CORRECTED = (
    Build(name=DEFAULT, macro="", clause="", sentence="The corrected rules.", sizes=(8, 16)),
    Build(
        name=FRAME_CLOCK,
        macro="CLOCK_IN_FRAME",
        clause="",
        sentence="The corrected rules; the clock comes with the frame: simulated runs on real switches.",
        sizes=(8, 16),
    ),
)
LITERALS = (
    _literal("running_minimum", "TO-BAR-MIN", "The earlier minimum takes part in the minimum."),
    _literal("one_minimum_a_switch", "TO-BAR-MIN", "One minimum for the whole switch is written on every egress link."),
    _literal("silent_link_left_out", "TO-BAR-MIN", "A link that has not spoken is left out of the minimum."),
    _literal("record_of_the_minimum", "TO-FLAG-SW", "A loss and a flag record the switch's barrier minimum."),
    _literal("record_of_the_losing_link", "TO-FLAG-SW", "A loss records the largest barrier of the losing link."),
    _literal("flag_without_record", "TO-SWLOSS", "A bare flag: who sees it records its own barrier minimum."),
    _literal("beacons_without_flag", "TO-FLAG-BEACON", "Beacons carry no loss flag."),
    _literal("counter_of_data_alone", "TO-LOSSCTR", "The loss counter counts data messages."),
    _literal("resent_with_its_old_barrier", "TO-RETX-BAR", "Registers take what came last, resent messages too."),
    _literal("beacons_judged_by_what_came", "TO-BEACON-MIN", "A beacon goes on only when it carries the new minimum."),
    _literal("beacon_overtakes_data", "TO-SW-PATH", "Beacons of the second processor do not wait for data."),
    _literal("beacons_leave_as_made", "TO-LOSSCTR", "The second processor writes whole beacons."),
)
MUTANTS = (
    _mutant("wrong_register_index", "TO-BAR-MIN", "Each barrier is kept in the register of the port beside."),
    _mutant("at_for_below", "TO-BAR-LINK", "A message at its link's barrier is refused: <= for <."),
    _mutant("max_for_min", "TO-BAR-MIN", "The greatest barrier of the links that count."),
    _mutant("max_for_min_of_acks", "TO-ACK-MIN", "The greatest ack barrier of the links that count."),
    _mutant("forgotten_port", "TO-BAR-MIN", "Port 1 is never counted."),
    _mutant("first_barrier_kept", "TO-BAR-MIN", "The first barrier of a link stays."),
    _mutant("stale_snapshot", "TO-BAR-MIN", "What leaves says what was known before the packet came."),
    _mutant("reachability_ignored", "TO-BAR-PART", "Every port is counted, where a link comes in or not."),
    _mutant("barrier_kept_on_data", "TO-BAR-MIN", "A data message goes on with the barrier that it came with."),
    _mutant("fill_forgotten", "TO-BAR-FILL", "A barrier that is left empty stays empty."),
    _mutant("nothing_new", "TO-BEACON-MIN", "A beacon that says what was said counts as news: >= for >."),
    _mutant("interval_halved", "TO-ENV-C", "A beacon leaves after half of the interval."),
    _mutant("never_busy", "TO-ENV-C", "Data do not make beacons needless."),
    _mutant("number_not_rewritten", "TO-LOSSCTR", "A packet keeps the link number that it came with."),
    _mutant("late_is_taken", "TO-LOSSCTR", "A link number that came already is taken again."),
    _mutant("record_not_kept", "TO-SWLOSS", "A loss is noticed, and forgotten."),
    _mutant("record_not_passed", "TO-SWLOSS", "A record that comes in a packet is not kept."),
    _mutant("record_one_below", "TO-FLAG-SW", "A record one below the greatest timestamp told."),
    _mutant("greatest_not_raised", "TO-FLAG-SW", "What is greatest on a link is not kept."),
    _mutant("ack_from_data_barrier", "TO-ACK-MIN", "The ack barrier's register takes the data barrier."),
    _mutant("no_monotone_guard", "TO-BAR-RISE", "A link that is let back in lowers the barrier."),
    _mutant("speaks_at_once", "TO-RESTART", "A switch that has begun anew reports links that have not spoken."),
    _mutant("earlier_life_returns", "TO-RESTART", "A beacon that a proxy host made ahead of the restart is taken."),
    _mutant("incarnation_not_kept", "TO-RESTART", "That a neighbour has begun anew is forgotten at once."),
    _mutant("sent_back", "TO-COMPLETE", "Data leave where they came in."),
    _mutant("payload_on_beacons", "TO-FMT-8", "What caused a beacon hangs on to it."),
    _mutant("checksum_kept", "", "The UDP checksum stays as it came."),
)
BUILDS = (*CORRECTED, *LITERALS, *MUTANTS)


def build(name: str) -> Build:
    """The build of that name. Raises BadInput, with those near it, for an unknown one."""
    known = {one.name: one for one in BUILDS}
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.0)
        raise BadInput(f"no build of the P4 program is named {name!r}; near it are {', '.join(near)}")
    return known[name]


def build_with_clock(name: str) -> Build:
    """The build of that name, where frames bring the clock. BadInput for one on BMv2's own clock, which no simulated
    run has, and for an unknown one."""
    chosen = build(name)
    if name != FRAME_CLOCK:
        raise BadInput(
            f"build {name} takes the time from BMv2's own clock, which no simulated run has; take --iut bmv2"
        )
    return chosen


def compiled(name: str, size: int) -> bytes:
    """The compiled program, BMv2 JSON. Raises CannotRun for a number of ports that this build is not made for. All
    builds but the default one are kept as edits of its lines."""
    chosen = build(name)
    if size not in chosen.sizes:
        raise CannotRun(f"build {name} of the P4 program is compiled for {chosen.sizes[-1]} ports, not for {size}")
    kept = (COMPILED / file_name(chosen, size)).read_bytes()
    if chosen.name == DEFAULT:
        return kept
    return edited((COMPILED / file_name(build(DEFAULT), size)).read_bytes(), msgspec.json.decode(kept, type=list[Edit]))


def p4info(name: str, size: int) -> Path:
    """The P4Runtime description of a compiled program, which builds may share."""
    manifest = msgspec.json.decode((COMPILED / MANIFEST).read_bytes(), type=BuildManifest)
    compiled(name, size)
    return COMPILED / manifest.builds[f"{name}_{size}"].p4info


class Compiled(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was compiled.

    flags: macros.
    sha256: of the whole program.
    p4info: a file's name.
    """

    flags: list[str]
    sha256: str
    p4info: str


class BuildManifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is in `compiled/`, and what it was made of.

    sources, p4info: hashes by file.
    builds: by name and number of ports.
    """

    compiler: str
    sources: dict[str, str]
    p4info: dict[str, str]
    builds: dict[str, Compiled]


def file_name(chosen: Build, size: int) -> str:
    """The name of the build's file in `compiled/`."""
    return f"{chosen.name}_{size}.json" if chosen.name == DEFAULT else f"{chosen.name}_{size}.edits.json"


# Lines from the first number up to, not including, the second are replaced by these.
Edit: TypeAlias = tuple[int, int, list[str]]


def edited(text: bytes, edits: Sequence[Edit]) -> bytes:
    """The text with its lines changed; the edits are in order and do not overlap."""
    lines = text.decode().split("\n")
    for first, last, instead in reversed(edits):
        lines[first:last] = instead
    return "\n".join(lines).encode()


def edits_of(text: bytes, other: bytes) -> list[Edit]:
    """The edits that make `other` of `text`."""
    before, after = text.decode().split("\n"), other.decode().split("\n")
    found = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [(first, last, after[start:end]) for tag, first, last, start, end in found if tag != "equal"]
