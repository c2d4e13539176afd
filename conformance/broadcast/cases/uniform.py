"""Cases of uniform reliable broadcast."""

from __future__ import annotations

from scatterproof.conformance.broadcast.cases.building import case, link, to_all
from scatterproof.conformance.case_building import crash, delay, duplicate, lose, pause

# What process 0 of three sends to process 2 at first: nothing of it comes.
_ONLY_TO_1 = lose(link(3, 0, 2), *range(4))

CASES = (
    case(
        "BC-URB-VALID/all-broadcast",
        "five processes broadcast, and packets are lost, late and repeated",
        "delivers one's own messages, as everybody else's",
        5,
        [to_all(400 * n, n % 5, bytes([n])) for n in range(10)],
        faults=tuple(
            fault for on in range(20) for fault in (*lose(on, on % 3), *duplicate(on, 900, 4), *delay(on, 7_000, 5))
        ),
        also=("BC-URB-AGREE", "BC-URB-ONCE", "BC-URB-REAL", "BC-URB-MAJ"),
    ),
    case(
        "BC-URB-VALID/minority-gone",
        "two of five processes are dead",
        "delivers all messages of the others",
        5,
        [to_all(400 * n, n % 3, bytes([n])) for n in range(6)],
        failures=crash(100, 3, 4),
        also=("BC-URB-AGREE", "BC-URB-MAJ"),
    ),
    case(
        "BC-URB-ONCE/late-copies",
        "copies of a message come long after it was delivered",
        "delivers it once",
        3,
        [to_all(0, 0, b"a"), to_all(90_000, 1, b"b")],
        faults=(*duplicate(link(3, 0, 1), 60_000, 0), *duplicate(link(3, 2, 1), 70_000, 0)),
        also=("BC-URB-GC",),
    ),
    case(
        "BC-URB-REAL/same-contents",
        "all processes broadcast equal contents at one and the same time",
        "delivers each message as its creator's, with its number",
        4,
        [to_all(0, n, b"same", b"same") for n in range(4)],
        jitter_ns=900,
        also=("BC-URB-ONCE", "BC-URB-AGREE"),
    ),
    case(
        "BC-URB-REAL/empty-contents",
        "processes broadcast many empty messages at once",
        "begins with each, and delivers each",
        3,
        [to_all(0, n, *[b""] * 40) for n in range(3)],
        jitter_ns=900,
        faults=lose(link(3, 0, 1), 0),
        also=("BC-URB-VALID", "BC-URB-AGREE"),
    ),
    case(
        "BC-URB-AGREE/creator-dies-after-delivering",
        "a creator's message reaches one of four others; the creator delivers it, and dies",
        "delivers it everywhere",
        5,
        [to_all(0, 0, b"last words")],
        faults=(*lose(link(5, 0, 2), 0), *lose(link(5, 0, 3), 0), *lose(link(5, 0, 4), 0)),
        failures=crash(2_900, 0),
        also=("BC-URB-MAJ",),
    ),
    case(
        "BC-URB-AGREE/creator-reaches-nobody",
        "a creator dies before any of its packets arrives; another broadcasts",
        "delivers the same everywhere",
        3,
        [to_all(0, 0, b"lost"), to_all(500, 1, b"kept")],
        faults=(*lose(link(3, 0, 1), 0), *lose(link(3, 0, 2), 0)),
        failures=crash(200, 0),
    ),
    case(
        "BC-URB-SELF/creator-reaches-one-and-dies",
        "of three processes the first reaches only the second, and dies",
        "delivers at both that are left, each counting itself",
        3,
        [to_all(0, 0, b"a")],
        faults=_ONLY_TO_1,
        failures=crash(500, 0),
        also=("BC-URB-AGREE",),
    ),
    case(
        "BC-URB-MAJ/two-of-four-are-late",
        "of four processes two hear nothing for long",
        "delivers only when a third process has the message",
        4,
        [to_all(0, 0, b"a"), to_all(100, 1, b"b")],
        failures=pause(2, 50, 90_000),
        faults=(*delay(link(4, 0, 3), 80_000, 0), *delay(link(4, 1, 3), 80_000, 0, 1)),
        also=("BC-URB-AGREE",),
    ),
    case(
        "BC-URB-MAJ/everybody-forwards",
        "a creator reaches one process only, and lives",
        "is forwarded to all by whoever receives it first",
        4,
        [to_all(0, 0, b"a")],
        faults=(*lose(link(4, 0, 2), *range(3)), *lose(link(4, 0, 3), *range(3))),
        also=("BC-URB-AGREE",),
    ),
    case(
        "BC-URB-GC/copies-after-delivery",
        "the copies that one process forwards come after the message was delivered everywhere",
        "takes no late copy for a new message",
        4,
        [to_all(0, 0, b"a"), to_all(60_000, 1, b"b")],
        faults=tuple(fault for to in (0, 1, 2) for fault in delay(link(4, 3, to), 40_000, 0)),
        also=("BC-URB-ONCE", "BC-URB-MAJ"),
    ),
    case(
        "BC-URB-MINORITY/three-of-five-are-gone",
        "three of five processes are dead from the start; the others broadcast",
        "delivers nothing",
        5,
        [to_all(1_000, 0, b"a"), to_all(1_500, 1, b"b")],
        failures=crash(100, 2, 3, 4),
    ),
    case(
        "BC-URB-MINORITY/half-of-four-is-gone",
        "two of four processes are dead from the start; the others broadcast",
        "delivers nothing, since half is no majority",
        4,
        [to_all(1_000, 0, b"a"), to_all(1_500, 1, b"b")],
        level="fifo",
        failures=crash(100, 2, 3),
    ),
)
