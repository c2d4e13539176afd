"""`python -m scatterproof.fuzz.pubsub.against_brokers [BROKER...] [--pairs N] [--seed S]`: compare the matchers of each
grammar with its brokers. Random filters are subscribed to and messages of random topics published; what each filter
receives is compared with the matchers of the reference and of the judge, pair by pair. A broker that is not installed
is not run. A pair on which they differ is tried once more alone, on a fresh server.

Clauses: PS-GRAMMAR.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import TypeAlias

from scatterproof.conformance.pubsub.brokers.broker import Broker
from scatterproof.conformance.pubsub.brokers.known import BROKERS
from scatterproof.conformance.pubsub.vocabulary import Vocabulary
from scatterproof.impl.pubsub.filters import GRAMMARS, Grammar
from scatterproof.impl.pubsub.matching import matches
from scatterproof.spec.errors import BadInput, ScatterproofError

Pair: TypeAlias = tuple[str, str]  # a filter and a topic
TOPICS, FILTERS = 2_000, 100  # that many topics, or more where there would be more filters than that
_LENGTHS = (1, 1, 2, 2, 3, 3, 4, 5)
_TOKENS = ("a", "b", "aa", "A", "ä", "", "$", "$s", "a b")
_ELEMENTS = {"mqtt": ("+", "+", "#"), "nats": ("*", "*", ">"), "amqp": ("*", "*", "#")}


def drawn(draw: Random, broker: Broker, wild: bool) -> str:
    """A filter (wild), or a topic, that the grammar has and the broker takes."""
    grammar = GRAMMARS[broker.grammar]
    tokens = _TOKENS if broker.spaces else tuple(token for token in _TOKENS if " " not in token)
    from_these = (*tokens, *3 * _ELEMENTS[broker.grammar]) if wild else tokens
    while True:
        text = grammar.separator.join(draw.choice(from_these) for _ in range(draw.choice(_LENGTHS)))
        try:
            (grammar.filter if wild else grammar.topic)(text)
        except BadInput:
            continue
        if text and (wild or broker.marked or not text.startswith("$")):
            return text


def expected(grammar: Grammar, filters: Sequence[str], topics: Sequence[str]) -> set[tuple[int, int]]:
    """The matching pairs of numbers, by the matcher of the reference."""
    read, split = [grammar.filter(text) for text in filters], [grammar.topic(text) for text in topics]
    return {
        (number, at)
        for number, steps in enumerate(read)
        for at, topic in enumerate(split)
        if matches(steps, topic, grammar.mark)
    }


def judged(name: str, filters: Sequence[str], topics: Sequence[str]) -> set[tuple[int, int]]:
    """The matching pairs of numbers, by the matcher of the judge. name: of the grammar."""
    words = Vocabulary(name, topics, filters)
    return {(number, at) for number in range(len(filters)) for at in range(len(topics)) if words.matches(number, at)}


def differences(broker: Broker, pairs: int, seed: int, folder: Path) -> tuple[int, list[Pair]]:
    """How many pairs matched, and those on which broker and matcher differ, the shortest first."""
    draw, grammar = Random(f"{seed} {broker.name}"), GRAMMARS[broker.grammar]
    topics = [drawn(draw, broker, wild=False) for _ in range(min(max(TOPICS, pairs // FILTERS), pairs))]
    filters = [drawn(draw, broker, wild=True) for _ in range(-(-pairs // len(topics)))]
    with broker.serve(folder) as ask:
        found = ask(filters, topics)
    meant = expected(grammar, filters, topics)
    odd = (found ^ meant) | (found ^ judged(broker.grammar, filters, topics))
    differing = sorted({(filters[at], topics[of]) for at, of in odd}, key=lambda pair: (len("".join(pair)), pair))
    return len(meant), differing


def alone(broker: Broker, pair: Pair, folder: Path) -> bool:
    """Whether broker and matchers differ on the pair alone."""
    with broker.serve(folder) as ask:
        found = ask(pair[:1], pair[1:])
        meant = expected(GRAMMARS[broker.grammar], pair[:1], pair[1:])
        return not found == meant == judged(broker.grammar, pair[:1], pair[1:])


def main(words: Sequence[str] | None = None, brokers: Sequence[Broker] = BROKERS) -> int:
    """The exit code: 0 when all agree, 1 when one does not, 2 for wrong usage, 3 when a broker was not run."""
    parser = argparse.ArgumentParser(prog="python -m scatterproof.fuzz.pubsub.against_brokers")
    known = {broker.name: broker for broker in brokers}
    listed = "; ".join(f"{broker.name}: {broker.text}" for broker in brokers)
    parser.add_argument("brokers", metavar="BROKER", nargs="*", help=f"all when left out. {listed}")
    parser.add_argument("--pairs", type=int, default=100_000, help="of a filter and a topic, 100,000 when left out")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(words)
    strangers = [name for name in given.brokers if name not in known]
    if strangers or given.pairs < 1:
        parser.error(f"broker {strangers[0]!r} is unknown; choose of {', '.join(known)}" if strangers else "no pairs")
    worst = 0
    with tempfile.TemporaryDirectory() as name:
        for broker in [known[each] for each in given.brokers] or brokers:
            reason = broker.why_not()
            if reason is not None:
                print(f"{broker.name}: not run: {reason}", file=sys.stderr)
                worst = worst or 3
                continue
            try:
                worst = 1 if _told(broker, given.pairs, given.seed, Path(name) / broker.name) else worst
            except ScatterproofError as error:
                print(f"{broker.name}: {error}", file=sys.stderr)
                return error.exit_code
    return worst


def _told(broker: Broker, pairs: int, seed: int, folder: Path) -> int:
    """On how many pairs they differ; the first ones are printed."""
    matching, differing = differences(broker, pairs, seed, folder)
    print(f"{broker.name}: {pairs:,} pairs, {matching:,} match; seed {seed}: {len(differing):,} are judged otherwise")
    for at, pair in enumerate(differing[:5]):
        again = "and alone" if alone(broker, pair, folder / f"alone-{at}") else "but not alone"
        print(f"{broker.name}: filter {pair[0]!r}, topic {pair[1]!r}: otherwise, {again}")
    return len(differing)


if __name__ == "__main__":
    sys.exit(main())
