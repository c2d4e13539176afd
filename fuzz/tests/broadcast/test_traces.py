"""TLC as a judge of traces of the broadcast stack: it accepts what conforms, and rejects damage at its row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import msgspec
import pytest

from scatterproof.conformance.network.run import SimulatedIut
from scatterproof.conformance.network.topologies import mesh, star
from scatterproof.impl.broadcast import make_core
from scatterproof.impl.broadcast.literal_rules import LITERAL
from scatterproof.impl.broadcast.rules import RULES, Rules
from scatterproof.models.trace_validation import Judgement, Validation, uncovered, validate, validate_all
from scatterproof.spec.core import NodeConfig, Parameter
from scatterproof.spec.schedule import (
    EVERYBODY,
    Delay,
    Failure,
    FailureKind,
    Fault,
    FaultKind,
    Message,
    Schedule,
    Submission,
)
from scatterproof.spec.trace import Kind, Order, Row, Trace, schema

AT = {name: at for at, name in enumerate(schema("broadcast").columns)}
LEVELS = ("pl", "urb", "fifo", "lcb")
FAULTS = tuple(Fault(link, index, kind, 60) for link in range(4) for index, kind in enumerate(FaultKind, link % 2))
CRASH = (Failure(120, FailureKind.CRASH, node=2),)
HALF = (Failure(60, FailureKind.CRASH, node=1), Failure(60, FailureKind.CRASH, node=2))
PAUSE = (Failure(30, FailureKind.PAUSE, node=1), Failure(400, FailureKind.RESUME, node=1))
DATA, ACK = 1, 2


def run_at(
    level: str,
    failures: tuple[Failure, ...] = (),
    rules: Rules = RULES,
    *,
    empty: bool = False,
    end_ns: int | None = None,
    most_undelivered: int = 2,
) -> Trace:
    """Four processes hand over two messages each, twice, for all or for the next; some packets are lost."""

    def messages(node: int, turn: int) -> tuple[Message, ...]:
        if level == "pl":
            return (Message((node + 1) % 4, bytes([turn])), Message((node + 2) % 4, bytes([turn])))
        return tuple(Message(EVERYBODY, b"" if empty else bytes([node, turn, at])) for at in range(2))

    def make(config: NodeConfig) -> object:
        return make_core(config, rules)

    network = mesh(4)
    schedule = Schedule(
        protocol="broadcast",
        topology=network,
        delays=tuple(Delay(10 + 3 * (link % 4)) for link in range(len(network.links))),
        submissions=tuple(
            Submission(90 * turn + 7 * node, node, messages(node, turn)) for turn in range(2) for node in range(4)
        ),
        parameters={
            "level": level, "resend_ns": 160, "window": 4, "most_undelivered": most_undelivered,
            "dependencies": "1;0;0,1;2",
        },
        faults=FAULTS,
        failures=failures,
        end_ns=end_ns,
    )  # fmt: skip
    return SimulatedIut("reference", make).run(schedule)  # type: ignore[arg-type]


def rows_of(trace: Trace, kind: Kind, **wanted: int) -> list[int]:
    """Positions of the rows of that kind with these values."""
    return [
        position
        for position, row in enumerate(trace.rows)
        if row[AT["kind"]] == kind and all(row[AT[name]] == value for name, value in wanted.items())
    ]


def changed(row: Row, **by: int) -> Row:
    return tuple(value + by.get(name, 0) for name, value in zip(schema("broadcast").columns, row, strict=True))


Damage = Callable[[Trace], tuple[list[Row], int]]


def column(kind: Kind, name: str, by: int, place: int = -1, **wanted: int) -> Damage:
    """One column of such a row, the last one if nothing is said, holds something else."""

    def damage(trace: Trace) -> tuple[list[Row], int]:
        at = rows_of(trace, kind, **wanted)[place]
        return [*trace.rows[:at], changed(trace.rows[at], **{name: by}), *trace.rows[at + 1 :]], at

    return damage


def delivered_twice(trace: Trace) -> tuple[list[Row], int]:
    at = rows_of(trace, Kind.DELIVERED)[0]
    return [*trace.rows[: at + 1], trace.rows[at], *trace.rows[at + 1 :]], at + 1


def left_out(own: bool) -> Damage:
    """The last delivery of one of the process's own messages, or of another's: the run ends without it."""

    def damage(trace: Trace) -> tuple[list[Row], int]:
        at = [
            p
            for p in rows_of(trace, Kind.DELIVERED)
            if (trace.rows[p][AT["sender"]] == trace.rows[p][AT["node"]]) == own
        ]
        rows = [row for position, row in enumerate(trace.rows) if position != at[-1]]
        return rows, len(rows) - 1

    return damage


def moved(trace: Trace, at: int, to: int) -> tuple[list[Row], int]:
    rows = list(trace.rows)
    rows.insert(to, rows.pop(at))
    return rows, to


def delivered_before_it_begins(trace: Trace) -> tuple[list[Row], int]:
    return moved(trace, rows_of(trace, Kind.DELIVERED)[0], 0)


def delivered_at_once(trace: Trace) -> tuple[list[Row], int]:
    """Process 0 delivers its first message when it begins with it: nothing has come from anybody."""
    at = rows_of(trace, Kind.DELIVERED, node=0, sender=0, number=1)[0]
    return moved(trace, at, rows_of(trace, Kind.BEGUN, node=0)[0] + 1)


def delivered_by_two(trace: Trace) -> tuple[list[Row], int]:
    """A process delivers the first message of 0 when it comes, from 0 itself: two of four have it."""
    links = trace.header.topology.links
    for node in range(1, 4):
        first = rows_of(trace, Kind.ARRIVED, node=node, sender=0, number=1, packet=DATA)[0]
        if links[trace.rows[first][AT["link"]]].source == 0:
            return moved(trace, rows_of(trace, Kind.DELIVERED, node=node, sender=0, number=1)[0], first + 1)
    raise AssertionError("to all it came from others first")


def deliveries_swapped(trace: Trace) -> tuple[list[Row], int]:
    """Process 1 delivers the first two messages of 0 in the other order."""
    rows = list(trace.rows)
    first, second = (rows_of(trace, Kind.DELIVERED, node=1, sender=0, number=number)[0] for number in (1, 2))
    rows.insert(first, rows.pop(second))
    return rows, first


def sent_as_new(trace: Trace) -> tuple[list[Row], int]:
    """At the end a message is put on a link again, under the next number."""
    *rows, end = trace.rows
    link = rows[rows_of(trace, Kind.SENT, packet=DATA)[0]][AT["link"]]
    on_link = [trace.rows[position] for position in rows_of(trace, Kind.SENT, link=link)]
    last = max((row for row in on_link if row[AT["packet"]] == DATA), key=lambda row: row[AT["pseq"]])
    flags = -1 if last[AT["flags"]] else 0
    again = changed(last, pseq=1, link_seq=on_link[-1][AT["link_seq"]] + 1 - last[AT["link_seq"]], flags=flags)
    return [*rows, again, end], len(rows)


def acts_after_a_crash(trace: Trace) -> tuple[list[Row], int]:
    at = rows_of(trace, Kind.DELIVERED, node=2)[0]
    return moved(trace, at, rows_of(trace, Kind.CRASHED, node=2)[0])


ON_A_LINK: dict[str, tuple[Damage, str]] = {
    "a packet's number left out": (column(Kind.SENT, "pseq", 1, packet=DATA, flags=0), "LinkNumbersApart"),
    "other contents when sent again": (column(Kind.SENT, "digest", 1, packet=DATA, flags=1), "LinkNumbersApart"),
    "acknowledged before it came": (column(Kind.SENT, "count", 99, packet=ACK), "UnacknowledgedIsResent"),
    "all acknowledged before it came": (column(Kind.SENT, "number", 99, packet=ACK), "UnacknowledgedIsResent"),
    "contents changed on the way": (column(Kind.ARRIVED, "digest", 1, packet=DATA), "ArrivedAsSent"),
    "a packet from nowhere": (column(Kind.ARRIVED, "link_seq", 1000, packet=DATA), "ArrivedAsSent"),
    "a process that is none": (column(Kind.SENT, "sender", 9, packet=DATA, flags=0), "Exists"),
    "for somebody else": (column(Kind.SENT, "receiver", 1, packet=DATA, flags=0), "OnItsLink"),
    "a packet that is not counted": (column(Kind.SENT, "link_seq", 1, packet=ACK), "CountedOnItsLink"),
}
ON_LINKS: dict[str, tuple[Damage, str]] = {
    "delivered twice": (delivered_twice, "LinkDeliversOnce"),
    "delivered before it begins": (delivered_before_it_begins, "LinkDeliversSent"),
    "contents changed at delivery": (column(Kind.DELIVERED, "digest", 1), "LinkDeliversSent"),
    "contents changed at the beginning": (column(Kind.BEGUN, "digest", 1), "LinkDeliversSent"),
    "begun out of turn": (column(Kind.BEGUN, "number", 1), "LinkDeliversSent"),
    "a delivery left out": (left_out(own=False), "SentIsDelivered"),
}
ABOVE_LINKS: dict[str, tuple[Damage, str]] = {
    "delivered twice": (delivered_twice, "DeliveredOnce"),
    "delivered before it begins": (delivered_before_it_begins, "DeliveredWasBegun"),
    "contents changed at delivery": (column(Kind.DELIVERED, "digest", 1), "DeliveredWasBegun"),
    "delivered to somebody else": (column(Kind.DELIVERED, "receiver", 1), "DeliveredWasBegun"),
    "contents changed at the beginning": (column(Kind.BEGUN, "digest", 1), "DeliveredWasBegun"),
    "begun out of turn": (column(Kind.BEGUN, "number", 1), "DeliveredWasBegun"),
    "delivered at once": (delivered_at_once, "MinorityDeliversNothing"),
    "delivered by two of four": (delivered_by_two, "MajorityHasIt"),
    "put on a link as if it were new": (sent_as_new, "DeliveredIsForgotten"),
    "one's own delivery left out": (left_out(own=True), "OwnIsDelivered"),
    "a delivery left out": (left_out(own=False), "UniformAgreement"),
}
IN_ORDER: dict[str, tuple[Damage, str]] = {
    "deliveries swapped": (deliveries_swapped, "DeliveredInSendingOrder"),
}
IN_CAUSAL_ORDER: dict[str, tuple[Damage, str]] = {
    "deliveries swapped, whatever they depend on": (deliveries_swapped, "FifoWithoutDependencies"),
    "a clock one too high": (column(Kind.SENT, "clock_sum", 1, 0, packet=DATA, flags=0), "DependencyClockAtBeginning"),
    "a clock with entries exchanged": (
        column(Kind.SENT, "clock_weighted", 1, 0, packet=DATA, flags=0), "DependencyClockAtBeginning",
    ),
}  # fmt: skip
LEFT_OUT = left_out(own=False)
# What is compared at several levels is damaged at one of them.
DAMAGES: dict[str, dict[str, tuple[Damage, str]]] = {
    "pl": ON_LINKS,
    "urb": ABOVE_LINKS | {"a delivery left out, counting oneself": (LEFT_OUT, "OneselfCounts")},
    "fifo": IN_ORDER,
    "lcb": ON_A_LINK | IN_CAUSAL_ORDER | {"a delivery left out, nobody looking": (LEFT_OUT, "WaitingIsLookedAtAgain")},
}

# Cores with another rule, and the clause that their runs break.
OTHER_RULES: dict[str, tuple[str, Rules, int, str]] = {
    "half suffices": ("urb", LITERAL["BC-URB-MAJ lit-half"], 2, "MajorityHasIt"),
    "forwarded to nobody": ("urb", replace(RULES, forwards_to=lambda p, f, c: f == c == p), 2, "MajorityHasIt"),
    "begun above the threshold": ("fifo", LITERAL["BC-FIFO-FLOW lit-1"], 1, "OwnUndeliveredIsBounded"),
    "never begun": ("fifo", replace(RULES, may_begin=lambda u, m: u + 1 < m), 1, "OwnUndeliveredIsBounded"),
    "the clock counts itself": ("lcb", LITERAL["BC-LCB-CLOCKS lit-after"], 2, "DependencyClockAtBeginning"),
    "all deliveries count": ("lcb", LITERAL["BC-LCB-LOCAL lit-1"], 2, "DependencyClockAtBeginning"),
    "never sent again": ("pl", replace(RULES, time_out=lambda *_: 1 << 40), 2, "SentIsDelivered"),
    "one counter": ("pl", LITERAL["BC-PL-PSEQ lit-1"], 2, "LinkNumbersApart"),
}


@dataclass(frozen=True)
class Read:
    """One trace, the row at which it is damaged, where known, and what TLC says."""

    position: int | None
    clause: str
    found: Validation


def runs() -> dict[str, Trace]:
    made = {level: run_at(level) for level in LEVELS}
    made |= {f"{level}, a crash": run_at(level, CRASH) for level in LEVELS}
    made |= {"urb, no majority": run_at("urb", HALF), "lcb, no majority": run_at("lcb", HALF)}
    made |= {"pl, a pause": run_at("pl", PAUSE), "fifo, a pause": run_at("fifo", PAUSE)}
    return made | {
        "lcb, empty payloads": run_at("lcb", empty=True, most_undelivered=9),
        "lcb, cut short": run_at("lcb", end_ns=100),
    }


@pytest.fixture(scope="module")
def read() -> dict[str, Read]:
    """All of them through one TLC: starting it takes longer than a test."""
    accepted = runs()
    made: dict[str, tuple[Trace, int | None, str]] = {name: (trace, None, "") for name, trace in accepted.items()}
    for level in LEVELS:
        for what, (damage, clause) in DAMAGES[level].items():
            rows, position = damage(accepted[level])
            made[f"{level}: {what}"] = (Trace(accepted[level].header, rows), position, clause)
    rows, position = acts_after_a_crash(accepted["urb, a crash"])
    dead = "OneThatStandsStillDoesNothing"
    made["urb: acts after a crash"] = (Trace(accepted["urb, a crash"].header, rows), position, dead)
    for what, (level, rules, most, clause) in OTHER_RULES.items():
        made[f"{level}: {what}"] = (run_at(level, (), rules, most_undelivered=most), None, clause)
    found = validate_all([trace for trace, _, _ in made.values()])
    return {name: Read(*of[1:], one) for (name, of), one in zip(made.items(), found, strict=True)}


@pytest.mark.slow
def test_runs_of_the_reference_core_are_accepted(read: dict[str, Read]) -> None:
    for name in runs():
        assert (read[name].found.judgement, read[name].found.reason) == (Judgement.ACCEPTED, ""), name


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_a_damaged_trace_is_rejected_at_the_damaged_row_and_by_the_clause(read: dict[str, Read], level: str) -> None:
    wrong = [
        f"{what}: {one.found.reason or 'accepted'}, where row {one.position} breaks {one.clause}"
        for what, one in ((what, read[f"{level}: {what}"]) for what in DAMAGES[level])
        if one.found.position != one.position or one.clause not in one.found.broken
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_who_has_crashed_does_nothing(read: dict[str, Read]) -> None:
    one = read["urb: acts after a crash"]
    assert one.clause in one.found.broken, one.found.reason


@pytest.mark.slow
@pytest.mark.parametrize("what", OTHER_RULES)
def test_a_core_with_another_rule_is_rejected_by_the_clause(read: dict[str, Read], what: str) -> None:
    one = read[f"{OTHER_RULES[what][0]}: {what}"]
    assert one.clause in one.found.broken, one.found.reason or "accepted"


@pytest.mark.slow
def test_every_action_is_taken_by_some_run(read: dict[str, Read]) -> None:
    assert uncovered("broadcast", [read[name].found for name in runs()]) == []
    assert "Pause" in uncovered("broadcast", [read["urb"].found])


def no_majority_of(trace: Trace) -> Trace:
    """The same without arrivals: nothing says then who has a message."""
    complete = {kind: nodes for kind, nodes in trace.header.complete.items() if kind in ("begun", "delivered")}
    rows, _ = delivered_at_once(trace)
    kept = [row for row in rows if row[AT["kind"]] in (Kind.BEGUN, Kind.DELIVERED, Kind.ENDED)]
    return Trace(msgspec.structs.replace(trace.header, complete=complete), kept)


def test_what_is_not_recorded_is_compared_with_nothing() -> None:
    partial = no_majority_of(run_at("urb"))
    late = Trace(partial.header, delivered_before_it_begins(partial)[0])
    parted = Trace(msgspec.structs.replace(late.header, order=Order.NODE), late.rows)
    found = validate_all([partial, late, parted])
    assert [one.judgement for one in found] == [Judgement.ACCEPTED, Judgement.REJECTED, Judgement.ACCEPTED]


def with_parameter(trace: Trace, name: str, value: Parameter) -> Trace:
    return Trace(msgspec.structs.replace(trace.header, parameters={**trace.header.parameters, name: value}), trace.rows)


def test_what_the_module_does_not_describe_cannot_be_judged() -> None:
    trace = run_at("pl", CRASH)
    crash = rows_of(trace, Kind.CRASHED)[0]
    row = trace.rows[crash]
    others: dict[str, Trace] = {
        "level is 'total'": with_parameter(trace, "level", "total"),
        "dependencies is '0;1'": with_parameter(trace, "dependencies", "0;1"),
        "most_undelivered is 'few'": with_parameter(trace, "most_undelivered", "few"),
        "no full mesh": Trace(msgspec.structs.replace(trace.header, topology=star(4)), trace.rows),
        "of no node at all": Trace(msgspec.structs.replace(trace.header, complete={}), trace.rows),
        "restarted": Trace(trace.header, [*trace.rows[:crash], changed(row, kind=1), *trace.rows[crash + 1 :]]),
        "cut links": Trace(trace.header, [*trace.rows[:crash], changed(row, link=1), *trace.rows[crash + 1 :]]),
        "the submission is not the next": Trace(trace.header, [changed(trace.rows[0], number=1), *trace.rows[1:]]),
        "32 bits": Trace(trace.header, column(Kind.DELIVERED, "number", 1 << 40)(trace)[0]),
        "a run of": Trace(trace.header, column(Kind.BEGUN, "count", 1 << 20)(trace)[0]),
    }
    for why, other in others.items():
        one = validate(other)
        assert (one.judgement, why in one.reason) == (Judgement.CANNOT_RUN, True), f"{why}: {one.reason}"
