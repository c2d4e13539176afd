"""Cases of FIFO and of localized causal broadcast."""

from __future__ import annotations

from scatterproof.conformance.broadcast.cases.building import case, link, to_all
from scatterproof.conformance.case_building import crash, delay, lose
from scatterproof.spec.schedule import Fault


def _all_from(source: int, processes: int, by_ns: int, *indices: int) -> tuple[Fault, ...]:
    others = [target for target in range(processes) if target != source]
    return tuple(fault for target in others for fault in delay(link(processes, source, target), by_ns, *indices))


CASES = (
    case(
        "BC-FIFO-ORDER/first-comes-last",
        "the first packets of one creator are late to everybody, the later ones are not",
        "delivers in the order of broadcasting, without gaps",
        3,
        [to_all(0, 0, b"a"), to_all(200, 0, b"b"), to_all(400, 0, b"c"), to_all(300, 1, b"d")],
        faults=_all_from(0, 3, 30_000, 0),
        also=("BC-URB-AGREE", "BC-FIFO-FLOW"),
    ),
    case(
        "BC-FIFO-ORDER/overtaking-under-load",
        "four processes broadcast, and packets overtake one another",
        "delivers each creator's messages in their order",
        4,
        [to_all(250 * n, n % 4, bytes([n]), bytes([n, n])) for n in range(12)],
        jitter_ns=5_000,
        also=("BC-URB-AGREE",),
    ),
    case(
        "BC-FIFO-FLOW/threshold-of-one",
        "a process hands over many messages at once, and may have one undelivered",
        "begins with one after the other, and with all",
        3,
        [to_all(0, 0, *(bytes([n]) for n in range(8)))],
        most_undelivered=1,
        also=("BC-FIFO-ORDER",),
    ),
    case(
        "BC-FIFO-FLOW/all-above-their-thresholds",
        "all processes hand over many messages, and may have two undelivered each",
        "goes on forwarding for the others, so that nobody waits for ever",
        5,
        [to_all(0, node, *(bytes([node, n]) for n in range(6))) for node in range(5)],
        most_undelivered=2,
        faults=tuple(fault for on in range(20) for fault in lose(on, on % 4)),
        also=("BC-URB-VALID", "BC-FIFO-ORDER"),
    ),
    case(
        "BC-FIFO-FLOW/empty-runs-at-the-threshold",
        "a process hands over a hundred empty messages, and may have ten undelivered",
        "begins with no more than ten ahead of its deliveries, and with all in the end",
        3,
        [to_all(0, 0, *[b""] * 100)],
        most_undelivered=10,
        also=("BC-URB-AGREE",),
    ),
    case(
        "BC-LCB-CAUSAL/answer-overtakes-the-question",
        "process 1 depends on process 0 and answers it; to process 2 the question is late, by every way",
        "delivers the question first everywhere",
        3,
        [to_all(0, 0, b"question"), to_all(5_000, 1, b"answer")],
        faults=(*delay(link(3, 0, 2), 40_000, 0), *delay(link(3, 1, 2), 40_000, 0)),
        dependencies=";0;",
        also=("BC-LCB-CHECK", "BC-URB-AGREE"),
    ),
    case(
        "BC-LCB-CAUSAL/chain-of-three",
        "each process depends on the one before it and answers it; packets overtake one another",
        "delivers causes before effects",
        4,
        [to_all(6_000 * n, n % 4, bytes([n])) for n in range(8)],
        jitter_ns=9_000,
        dependencies="3;0;1;2",
        also=("BC-URB-AGREE",),
    ),
    case(
        "BC-LCB-LOCAL/stranger-is-late",
        "process 1 has delivered a message of process 0, on which it does not depend, and broadcasts; to process 2 the "
        "stranger's message is late, by every way",
        "delivers the message of process 1 without waiting",
        3,
        [to_all(0, 0, b"stranger"), to_all(5_000, 1, b"own")],
        faults=(*delay(link(3, 0, 2), 40_000, 0), *delay(link(3, 1, 2), 40_000, 0)),
        dependencies="1;;",
        also=("BC-LCB-CLOCKS", "BC-URB-AGREE"),
    ),
    case(
        "BC-LCB-FIFO/no-dependencies",
        "nobody depends on anybody, and packets overtake one another",
        "delivers each creator's messages in their order",
        3,
        [to_all(250 * n, n % 3, bytes([n]), bytes([n, n])) for n in range(9)],
        jitter_ns=5_000,
        dependencies=";;",
        also=("BC-FIFO-ORDER",),
    ),
    case(
        "BC-LCB-CLOCKS/own-messages-in-a-row",
        "a process that depends on others, itself named among them, begins with several messages in a row",
        "counts its own earlier messages, and what it has delivered of the others, before each",
        3,
        [to_all(0, 1, b"a"), to_all(4_000, 0, b"b", b"c", b"d"), to_all(4_500, 2, b"e"), to_all(9_000, 0, b"f")],
        dependencies="0,1,2;0;1",
        also=("BC-LCB-CAUSAL", "BC-LCB-FIFO"),
    ),
    case(
        "BC-LCB-CHECK/dependency-comes-last",
        "a message waits for one of another creator, which comes last, and nothing after it",
        "looks at the waiting message again",
        3,
        [to_all(0, 0, b"a1"), to_all(5_000, 1, b"b1")],
        faults=(*delay(link(3, 0, 2), 60_000, 0), *delay(link(3, 1, 2), 60_000, 0)),
        dependencies=";0;",
        also=("BC-LCB-CAUSAL", "BC-URB-AGREE"),
    ),
    case(
        "BC-LCB-CHECK/creator-is-gone",
        "as before, and the creator of the waiting message is dead by then",
        "looks at the waiting message again",
        4,
        [to_all(0, 0, b"a1"), to_all(5_000, 1, b"b1")],
        faults=(
            *delay(link(4, 0, 2), 60_000, 0),
            *delay(link(4, 1, 2), 60_000, 0),
            *delay(link(4, 3, 2), 60_000, 0),
            *lose(link(4, 1, 3), 5),
        ),
        failures=crash(30_000, 1),
        dependencies=";0;;",
    ),
)
