"""One line of an example node, damaged: the clause by which it must fail then."""

from __future__ import annotations

from typing import NamedTuple


class Mutation(NamedTuple):
    """In `file`, a path below conformance/examples, `old` becomes `new`, within one line."""

    file: str
    old: str
    new: str
    clause: str


def _in(file: str, *lines: tuple[str, str, str]) -> list[Mutation]:
    return [Mutation(file, old, new, clause) for clause, old, new in lines]


PYTHON = _in(
    "python/node.py",
    ("TO-SCATTER", "timestamp=timestamp,", "timestamp=timestamp + receiver,"),
    ("TO-MONO", "max(now, self.last + 1, promised)", "max(now, self.last, promised)"),
    ("TO-BAR-HOST", "barrier = max(now, self.last)", "barrier = now"),
    ("TO-BAR-MIN", "return min(self.barriers[feeder]", "return max(self.barriers[feeder]"),
    ("TO-BAR-PART", "for feeder in self.reaching[link])", "for feeder in self.barriers)"),
    ("TO-DELIVER", "self.buffer[0][0] < barrier", "self.buffer[0][0] <= barrier"),
    ("TO-ORDER", "heapq.heappush(self.buffer, (packet", "self.buffer.append((packet"),
    ("TO-ONCE", '"payload": base64.b64encode(payload)', '"payload": base64.b64encode(payload[:-1])'),
    ("TO-COMPLETE", "barrier = max(now, self.last)", "barrier = self.last"),
    ("TO-ENV-A", 'in ("B", "C")', 'in ("A", "B", "C")'),
    ("TO-ENV-B", 'in ("A", "C")', 'in ("A", "B", "C")'),
    ("TO-ENV-C", "if self.has_news(link) and now - egress.spoke_at >= self.interval:", "if self.has_news(link):"),
)
C = _in(
    "c/node.c",
    ("TO-SCATTER", "++route->sent, timestamp,", "++route->sent, timestamp + route->receiver,"),
    ("TO-MONO", "timestamp = max(now, last + 1);", "timestamp = max(now, last);"),
    ("TO-BAR-HOST", "barrier = max(now, last);", "barrier = now;"),
    ("TO-BAR-MIN", "return one < other ? one : other;", "return one > other && one != INT64_MAX ? one : other;"),
    ("TO-BAR-PART", "if (egress == NULL || egress->fed_by[i])", "if (egress == NULL || egress->fed_by != NULL)"),
    ("TO-DELIVER", "buffer[done].timestamp < barrier", "buffer[done].timestamp <= barrier"),
    ("TO-ORDER", "return one->sender < other->sender;", "return false;"),
    ("TO-ONCE", "print_base64(message->payload);", "print_base64((struct bytes){0});"),
    ("TO-COMPLETE", "barrier = max(now, last);", "barrier = last;"),
    ("TO-ENV-A", 'says(environment, "B") || says(environment, "C");', '!says(environment, "");'),
    ("TO-ENV-B", 'says(environment, "A") || says(environment, "C");', '!says(environment, "");'),
    (
        "TO-ENV-C",
        "if (has_news(&egresses[i]) && now - egresses[i].spoke_at >= interval)",
        "if (has_news(&egresses[i]))",
    ),
)
JAVASCRIPT = _in(
    "javascript/node.mjs",
    (
        "TO-SCATTER",
        "receiver, number, timestamp, payload }",
        "receiver, number, timestamp: timestamp + BigInt(receiver), payload }",
    ),
    ("TO-MONO", "greatest(now, this.last + 1n, ...promised)", "greatest(now, this.last, ...promised)"),
    ("TO-BAR-HOST", "const barrier = greatest(now, this.last);", "const barrier = now;"),
    ("TO-BAR-MIN", "(other < one ? other : one)", "(other > one ? other : one)"),
    ("TO-BAR-PART", "return least(this.egress.get(link).feeders.map(", "return least([...this.ingress.keys()].map("),
    ("TO-DELIVER", "this.buffer[0].timestamp < barrier", "this.buffer[0].timestamp <= barrier"),
    ("TO-ORDER", "one.sender < other.sender", "false"),
    ("TO-ONCE", "payload: Buffer.from(packet.payload, 'base64')", "payload: Buffer.from(packet.payload)"),
    ("TO-COMPLETE", "const barrier = greatest(now, this.last);", "const barrier = this.last;"),
    ("TO-ENV-A", "['B', 'C']", "['A', 'B', 'C']"),
    ("TO-ENV-B", "['A', 'C']", "['A', 'B', 'C']"),
    ("TO-ENV-C", "if (this.hasNews(link) && now - egress.spokeAt >= this.interval) {", "if (this.hasNews(link)) {"),
)
MUTATIONS = [*PYTHON, *C, *JAVASCRIPT]
