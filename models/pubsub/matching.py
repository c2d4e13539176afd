"""PS-MATCH, PS-GRAMMAR: matching is what the sentence says, for every filter and topic up to a length.

A filter is a sequence of steps, each with its count. Whether a step takes a token is a free truth value, which stands
for all texts at once. A machine goes from step to step by the rules. The sentence knows no machine: the topic can be
cut into as many parts as the filter has steps, each of a length that the step's count allows, and of tokens that the
step takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import z3

from scatterproof.models.claim import Claim, Obligation, Rules, mutant
from scatterproof.models.pubsub.rules import MANY, ONE, UP_TO_ONE, rules
from scatterproof.models.symbolic import lift

MOST_STEPS, MOST_TOKENS = 4, 5
Fit = Sequence[Sequence[z3.BoolRef]]


def matched(using: Rules, counts: Sequence[z3.ArithRef], fit: Fit, tokens: int) -> z3.BoolRef:
    """Whether, by the rules, all `tokens` tokens are taken. fit[step][token]: whether that step takes that token."""
    may_pass, may_stay = lift(using["may_pass"]), lift(using["may_stay"])
    steps = len(counts)

    def passed(places: list[z3.BoolRef]) -> list[z3.BoolRef]:
        found = [places[0]]
        for place in range(steps):
            found.append(z3.Or(places[place + 1], z3.And(found[place], may_pass(counts[place]))))
        return found

    places = passed([z3.BoolVal(place == 0) for place in range(steps + 1)])
    for token in range(tokens):
        after = [z3.BoolVal(False)] * (steps + 1)
        for place in range(steps):
            goes = z3.And(places[place], fit[place][token])
            after[place] = z3.Or(after[place], z3.And(goes, may_stay(counts[place])))
            after[place + 1] = z3.And(goes, z3.Not(may_stay(counts[place])))
        places = passed(after)
    return places[steps]


def cuts(steps: int, tokens: int) -> Iterator[tuple[int, ...]]:
    """The lengths of the parts, for each way to cut `tokens` tokens into `steps` parts."""
    if steps == 0:
        if tokens == 0:
            yield ()
        return
    for first in range(tokens + 1):
        yield from ((first, *rest) for rest in cuts(steps - 1, tokens - first))


def is_cut(counts: Sequence[z3.ArithRef], fit: Fit, tokens: int) -> z3.BoolRef:
    """The sentence: whether the topic can be cut as the steps ask."""
    ways = []
    for lengths in cuts(len(counts), tokens):
        parts, begin = [], 0
        for step, length in enumerate(lengths):
            parts.append(_allows(counts[step], length))
            parts += [fit[step][token] for token in range(begin, begin + length)]
            begin += length
        ways.append(z3.And(parts))
    return z3.Or(ways)


def _allows(count: z3.ArithRef, length: int) -> z3.BoolRef:
    return z3.Or(
        z3.And(count == ONE, z3.BoolVal(length == 1)),
        z3.And(count == UP_TO_ONE, z3.BoolVal(length <= 1)),
        count == MANY,
    )


def _fit(steps: int, tokens: int) -> Fit:
    return [[z3.Bool(f"step_{step}_takes_{token}") for token in range(tokens)] for step in range(steps)]


def _are_counts(counts: Sequence[z3.ArithRef]) -> tuple[z3.BoolRef, ...]:
    return tuple(z3.And(count >= ONE, count <= MANY) for count in counts)


def _by_cuts(using: Rules) -> Iterable[Obligation]:
    for steps in range(1, MOST_STEPS + 1):
        for tokens in range(MOST_TOKENS + 1):
            counts, fit = z3.Ints([f"count_{step}" for step in range(steps)]), _fit(steps, tokens)
            yield Obligation(
                f"{steps}_steps_take_{tokens}_tokens_just_where_they_can_be_cut_so",
                _are_counts(counts),
                matched(using, counts, fit, tokens) == is_cut(counts, fit, tokens),
                show={str(count): count for count in counts},
            )


def _text(using: Rules) -> Iterable[Obligation]:
    """A token and a text of any length, as strings."""
    takes = lift(using["takes"])
    token, text, rest = z3.Strings("token text rest")
    whole = z3.Bool("whole")
    taken = takes(token == text, z3.PrefixOf(text, token), whole)
    show = {"token": token, "text": text, "whole": whole}
    yield Obligation("a_whole_text_is_taken_alone", (whole,), taken == (token == text), show=show)
    yield Obligation(
        "a_beginning_takes_whatever_goes_on_from_it", (z3.Not(whole), token == z3.Concat(text, rest)), taken, show=show
    )
    yield Obligation(
        "and_nothing_else", (z3.Not(whole), taken), z3.SubString(token, 0, z3.Length(text)) == text, show=show
    )


_EXAMPLES = (
    ("T1 * T3 T4", "T1 T2a T3 T4", True),
    ("T1 * T3 T4", "T1 T2b T3 T4", True),
    ("T1 * T3 T4", "T1 T2 T3 T4 T5", False),
    ("T1 * T3 T4 *", "T1 T2a T3 T4", False),
    ("T1 * T3 T4 *", "T1 T2 T3 T4 T5", True),
    ("T1 * T3 T4 [*]", "T1 T2a T3 T4", True),
    ("T1 * T3 T4 [*]", "T1 T2 T3 T4 T5", True),
    ("T1 * T3 T4 [*]", "T1 T2 T3 T4 T5 T6", False),
    ("T1 T2* T3 T4", "T1 T2a T3 T4", True),
    ("T1 T2* T3 T4", "T1 T5a T3 T4", False),
    ("T1 * T3 T4 >", "T1 T2a T3 T4", True),
    ("T1 * T3 T4 >", "T1 T2 T3 T4 T5", True),
    ("T1 * T3 T4 >", "T1 T2 T3 T4 T5 T6", True),
)
"""The document's five worked examples: the elements of a filter, the tokens of a topic, whether they match."""


def _examples(using: Rules) -> Iterable[Obligation]:
    takes = lift(using["takes"])
    for filter_, topic, expected in _EXAMPLES:
        elements, tokens = filter_.split(), topic.split()
        counts = [z3.IntVal({"[*]": UP_TO_ONE, ">": MANY}.get(element, ONE)) for element in elements]
        texts = ["" if element in ("[*]", ">") else element.removesuffix("*") for element in elements]
        fit = [
            [
                takes(z3.BoolVal(token == text), z3.BoolVal(token.startswith(text)), z3.BoolVal(text == element))
                for token in tokens
            ]
            for text, element in zip(texts, elements, strict=True)
        ]
        word = "matches" if expected else "does_not_match"
        yield Obligation(
            f"{'.'.join(elements)}_{word}_{'.'.join(tokens)}",
            (),
            matched(using, counts, fit, len(tokens)) == z3.BoolVal(expected),
        )


def _grammars(using: Rules) -> Iterable[Obligation]:
    """What each grammar's wildcard for any number stands for, behind a step of one token, and hidden topics."""
    for tokens in range(MOST_TOKENS + 1):
        fit = _fit(3, tokens)
        anything = tuple(fit[step][token] for step in (1, 2) for token in range(tokens))
        first = fit[0][0] if tokens else z3.BoolVal(False)
        many = matched(using, [z3.IntVal(ONE), z3.IntVal(MANY)], fit[:2], tokens)
        yield Obligation(
            f"mqtt_a_parent_and_all_below_it_of_{tokens}_levels",
            anything,
            many == z3.And(first, z3.BoolVal(tokens >= 1)),
        )
        longer = matched(using, [z3.IntVal(ONE), z3.IntVal(ONE), z3.IntVal(MANY)], fit, tokens)
        yield Obligation(
            f"nats_one_token_more_at_least_of_{tokens}_tokens",
            anything,
            longer == z3.And(first, z3.BoolVal(tokens >= 2)),
        )
        amqp, last = _fit(3, tokens), z3.BoolVal(False)
        if tokens >= 2:
            last = z3.And(amqp[0][0], amqp[2][tokens - 1])
        between = matched(using, [z3.IntVal(ONE), z3.IntVal(MANY), z3.IntVal(ONE)], amqp, tokens)
        yield Obligation(f"amqp_any_number_of_words_in_the_middle_of_{tokens}", tuple(amqp[1]), between == last)
    marked, wild = z3.Bools("marked wild")
    hidden = lift(using["is_kept_back"])(marked, wild)
    show = {"marked": marked, "wild": wild}
    yield Obligation("mqtt_what_is_marked_is_hidden_from_wildcards", (marked, wild), hidden)
    yield Obligation("mqtt_nothing_else_is_hidden", (z3.Not(z3.And(marked, wild)),), z3.Not(hidden), show=show)


_SCOPE = f"filters of up to {MOST_STEPS} steps and topics of up to {MOST_TOKENS} tokens, whatever the texts"
_NEVER_PASSES = mutant("never_passes", "Every step needs a token.", may_pass=lambda count: False)
_ALWAYS_PASSES = mutant("always_passes", "No step needs a token.", may_pass=lambda count: True)
_NEVER_STAYS = mutant("never_stays", "No step takes a second token.", may_stay=lambda count: False)
_OPTIONAL_STAYS = mutant("optional_stays", "What may be left out may be repeated.", may_stay=lambda count: count != ONE)

CLAIMS = (
    Claim(
        name="filter_matches",
        scope=_SCOPE,
        clauses=("PS-MATCH",),
        sentence="A filter matches just the topics that can be cut into parts as its steps ask.",
        hypotheses=("Each count is one, up to one, or many.",),
        rules=rules("may_pass", "may_stay"),
        obligations=_by_cuts,
        mutants=(_NEVER_PASSES, _ALWAYS_PASSES, _NEVER_STAYS, _OPTIONAL_STAYS),
    ),
    Claim(
        name="examples_match",
        scope="the five worked examples of document 001",
        clauses=("PS-MATCH",),
        sentence="The five worked examples match, and do not, as the document says.",
        hypotheses=(),
        rules=rules("takes", "may_pass", "may_stay"),
        obligations=_examples,
        # None of the five notices that a text is taken for a beginning: `texts_are_taken` does.
        mutants=(
            _NEVER_PASSES,
            _ALWAYS_PASSES,
            _NEVER_STAYS,
            _OPTIONAL_STAYS,
            mutant("texts_alone", "A beginning is taken for a text.", takes=lambda is_text, begins, whole: is_text),
        ),
    ),
    Claim(
        name="texts_are_taken",
        scope="one step and one token, of any length",
        clauses=("PS-MATCH", "PS-GRAMMAR"),
        sentence="A step takes its own text alone, or all that begins with it and nothing else.",
        hypotheses=(),
        rules=rules("takes"),
        obligations=_text,
        mutants=(
            mutant("beginnings_alone", "A text is taken for a beginning.", takes=lambda is_text, begins, whole: begins),
            mutant("texts_alone", "A beginning is taken for a text.", takes=lambda is_text, begins, whole: is_text),
            mutant("anything", "Every token is taken.", takes=lambda is_text, begins, whole: True),
        ),
    ),
    Claim(
        name="grammar_is_kept",
        scope=f"one wildcard, topics of up to {MOST_TOKENS} tokens",
        clauses=("PS-GRAMMAR",),
        sentence="The wildcards of MQTT, NATS and AMQP for any number of tokens stand for what each says, and what is "
        "marked is hidden from filters that begin with one.",
        hypotheses=("The wildcard takes any token.",),
        rules=rules("may_pass", "may_stay", "is_kept_back"),
        obligations=_grammars,
        mutants=(
            _NEVER_PASSES,
            _ALWAYS_PASSES,
            _NEVER_STAYS,
            mutant("hides_nothing", "Nothing is hidden.", is_kept_back=lambda marked, wild: False),
            mutant("hides_from_all", "What is marked is hidden from all.", is_kept_back=lambda marked, wild: marked),
        ),
    ),
)
