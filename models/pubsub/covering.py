"""PS-COVER: why covering is decided for all topics by a few tokens.

Two claims. First, a set of texts tells tokens apart only by the longest text that a token begins with, and by whether
the token is that text: so each token is like a text of the set, or like one with a letter added that no text has.
Second, where no pair of places that these few tokens lead to is a counterexample, no topic is one: by induction over
its tokens.

Texts are an uninterpreted sort; of strings, only four facts about *begins with* are used.
"""

from __future__ import annotations

from collections.abc import Iterable

import z3

from scatterproof.models.claim import Claim, Obligation, Rules, mutant
from scatterproof.models.pubsub.rules import rules
from scatterproof.models.symbolic import lift

TEXT = z3.DeclareSort("Text")
PLACES = z3.DeclareSort("Places")


def _facts(begins: z3.FuncDeclRef) -> tuple[z3.BoolRef, ...]:
    """begins(a, b): text b begins with text a."""
    a, b, c = z3.Consts("a b c", TEXT)
    return (
        z3.ForAll([a], begins(a, a)),
        z3.ForAll([a, b], z3.Implies(z3.And(begins(a, b), begins(b, a)), a == b)),
        z3.ForAll([a, b, c], z3.Implies(z3.And(begins(a, b), begins(b, c)), begins(a, c))),
        z3.ForAll([a, b, c], z3.Implies(z3.And(begins(a, c), begins(b, c)), z3.Or(begins(a, b), begins(b, a)))),
    )


def _told(using: Rules) -> Iterable[Obligation]:
    """longest: the longest used text that the token begins with. longer: that and one more letter, which no text
    has."""
    begins = z3.Function("begins", TEXT, TEXT, z3.BoolSort())
    used = z3.Function("used", TEXT, z3.BoolSort())
    token, longest, longer, text = z3.Consts("token longest longer text", TEXT)
    needs = lift(using["needs_longer"])(token == longest)
    stands = z3.If(needs, longer, longest)
    hypotheses = (
        *_facts(begins),
        used(longest),
        begins(longest, token),
        z3.ForAll([text], z3.Implies(z3.And(used(text), begins(text, token)), begins(text, longest))),
        z3.ForAll([text], z3.Implies(used(text), longer != text)),
        z3.ForAll([text], z3.Implies(used(text), begins(text, longer) == begins(text, longest))),
    )
    one = z3.Const("one", TEXT)
    yield Obligation(
        "it_is_the_same_texts",
        (*hypotheses, used(one)),
        (stands == one) == (token == one),
        show={"the token is the text": token == longest},
    )
    yield Obligation(
        "it_begins_with_the_same_texts",
        (*hypotheses, used(one)),
        begins(one, stands) == begins(one, token),
        show={"the token is the text": token == longest},
    )


def _closed(using: Rules) -> Iterable[Obligation]:
    """Pairs of places: where the two filters are after a topic. stands: the token that stands for a token."""
    is_uncovered = lift(using["is_uncovered"])
    after = z3.Function("after", PLACES, TEXT, PLACES)
    stands = z3.Function("stands_for", TEXT, TEXT)
    tried = z3.Function("tried", TEXT, z3.BoolSort())
    seen = z3.Function("seen", PLACES, z3.BoolSort())
    narrow, wide = (z3.Function(name, PLACES, z3.BoolSort()) for name in ("narrow_matches", "wide_matches"))
    places, begun = z3.Consts("places begun", PLACES)
    token = z3.Const("token", TEXT)
    search = (
        z3.ForAll([token], tried(stands(token))),
        z3.ForAll([places, token], after(places, token) == after(places, stands(token))),
        seen(begun),
        z3.ForAll([places, token], z3.Implies(z3.And(seen(places), tried(token)), seen(after(places, token)))),
        z3.ForAll([places], z3.Implies(seen(places), z3.Not(is_uncovered(narrow(places), wide(places))))),
    )
    yield Obligation("it_holds_before_the_first_token", search, seen(begun))
    yield Obligation("a_further_token_keeps_it", (*search, seen(places)), seen(after(places, token)))
    yield Obligation(
        "then_the_wide_one_matches_what_the_narrow_one_does",
        (*search, seen(places), narrow(places)),
        wide(places),
        show={"wide": wide(places)},
    )


CLAIMS = (
    Claim(
        name="tokens_are_told_by_texts",
        scope="any number of texts, of any length",
        clauses=("PS-COVER",),
        sentence="A token is like the longest text that it begins with, or like that with a letter more that none has.",
        hypotheses=("The empty text is used, so that there is a longest.", "The letter is in no text."),
        rules=rules("needs_longer"),
        obligations=_told,
        mutants=(
            mutant("texts_alone", "Texts alone are tried.", needs_longer=lambda is_text: False),
            mutant("longer_alone", "Texts made longer alone are tried.", needs_longer=lambda is_text: True),
            mutant("exchanged", "The one is tried for the other.", needs_longer=lambda is_text: is_text),
        ),
    ),
    Claim(
        name="covered_stays_home",
        scope="any two filters, all topics, by induction over the tokens",
        clauses=("PS-COVER",),
        sentence="Where no places that the tried tokens lead to show otherwise, a filter covers the other one.",
        hypotheses=("Each token is like a tried one (tokens_are_told_by_texts).", "The search ended."),
        rules=rules("is_uncovered"),
        obligations=_closed,
        mutants=(
            mutant("never", "Nothing shows otherwise.", is_uncovered=lambda narrow, wide: False),
            mutant(
                "the_other_way",
                "Covering is asked the other way.",
                is_uncovered=lambda narrow, wide: wide and not narrow,
            ),
            mutant(
                "both", "A topic that both match shows otherwise.", is_uncovered=lambda narrow, wide: narrow and wide
            ),
        ),
    ),
)
