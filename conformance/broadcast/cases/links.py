"""Cases of perfect links."""

from __future__ import annotations

from scatterproof.conformance.broadcast.cases.building import case, link, to_all, to_one
from scatterproof.conformance.case_building import crash, delay, duplicate, lose, pause

_BUSY = tuple(to_one(300 * number, number % 2, 1 - number % 2, bytes([number])) for number in range(12))
_FORTH, _BACK = link(2, 0, 1), link(2, 1, 0)

CASES = (
    case(
        "BC-PL-RELIABLE/every-third-packet-is-lost",
        "two processes send to one another, and every third of their first packets is lost, acknowledgements too",
        "delivers every message",
        2,
        _BUSY,
        faults=(*lose(_FORTH, *range(0, 18, 3)), *lose(_BACK, *range(1, 18, 3))),
        also=("BC-PL-RESEND", "BC-PL-ONCE", "BC-PL-REAL"),
    ),
    case(
        "BC-PL-RELIABLE/receiver-stands-still",
        "the receiver is paused for ten time-outs while messages come",
        "delivers all of them once it goes on, none twice",
        2,
        _BUSY,
        failures=pause(1, 1_500, 200_000),
        also=("BC-PL-ONCE",),
    ),
    case(
        "BC-PL-ONCE/every-packet-comes-twice",
        "each of the first packets comes a second time, some after a while",
        "delivers each message once, and acknowledges both copies",
        2,
        _BUSY,
        faults=(*duplicate(_FORTH, 0, 0, 1), *duplicate(_FORTH, 30_000, 2, 3), *duplicate(_BACK, 500, *range(6))),
        also=("BC-PL-REAL",),
    ),
    case(
        "BC-PL-ONCE/acknowledgements-are-lost",
        "the first acknowledgements are lost, so that messages come again",
        "acknowledges what comes again and does not deliver it",
        2,
        [to_one(0, 0, 1), to_one(100, 0, 1, b"y")],
        faults=lose(_BACK, 0, 1),
        also=("BC-PL-RESEND", "BC-PL-REAL"),
    ),
    case(
        "BC-PL-REAL/two-senders-with-equal-numbers",
        "two processes each send the third their first messages, with other contents, and packets overtake one another",
        "delivers each message as its own sender's",
        3,
        [to_one(100 * n, n % 2, 2, bytes([n])) for n in range(8)],
        jitter_ns=2_000,
        also=("BC-PL-ONCE",),
    ),
    case(
        "BC-PL-PSEQ/two-destinations-in-turn",
        "a process sends to two others in turn, and the first packets to each are lost",
        "numbers its packets for each of them from 1, and keeps the numbers when it sends again",
        3,
        [to_one(200 * n, 0, 1 + n % 2, bytes([n])) for n in range(10)],
        faults=(*lose(link(3, 0, 1), 0, 2), *lose(link(3, 0, 2), 0, 1)),
        also=("BC-PL-RESEND", "BC-PL-MEMORY"),
    ),
    case(
        "BC-PL-RESEND/third-time-lucky",
        "one packet is lost twice, and then its acknowledgement is",
        "sends it again until it is acknowledged, and not after that",
        2,
        [to_one(0, 0, 1)],
        faults=(*lose(_FORTH, 0, 1), *lose(_BACK, 0)),
        also=("BC-PL-PSEQ",),
    ),
    case(
        "BC-PL-RESEND/peer-is-gone",
        "one of three processes has crashed",
        "goes on, and the two others have all that is sent between them",
        3,
        [to_one(300 * n, 0, 1 + n % 2, bytes([n])) for n in range(8)],
        faults=lose(link(3, 0, 1), 0),
        failures=crash(500, 2),
    ),
    case(
        "BC-PL-MEMORY/window",
        "many more messages are handed over than the window has room for, and the first packet is late",
        "has no more packets on their way than the window, and says how far all have come",
        2,
        [to_one(n, 0, 1, bytes([n])) for n in range(30)],
        faults=delay(_FORTH, 60_000, 0),
        window=4,
        also=("BC-PL-PSEQ",),
    ),
    case(
        "BC-PL-MEMORY/dead-peer",
        "one of three processes is dead while many messages are broadcast",
        "keeps no more than a window of packets on their way to it",
        3,
        [to_all(200 * n, n % 2, bytes([n])) for n in range(20)],
        level="urb",
        failures=crash(100, 2),
        window=3,
        also=("BC-URB-VALID",),
    ),
)
