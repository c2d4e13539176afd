"""Rules as document 001 has them, each wrong in one way that spec/pubsub/clauses.toml names."""

from __future__ import annotations

from dataclasses import replace

from scatterproof.impl.pubsub.rules import RULES, Rules


def by_its_text(contained: bool, part: bool) -> bool:
    """PS-COVER lit-part: what is a part of the whole string is a subset."""
    return part


def when_it_is_new(fresh: bool, uncovered: bool) -> bool:
    """PS-COVER lit-forgotten: nothing brings a covered subscription out again."""
    return fresh


LITERAL: dict[str, Rules] = {
    "PS-COVER-lit-part": replace(RULES, counts_as_covered=by_its_text),
    "PS-COVER-lit-forgotten": replace(RULES, is_told=when_it_is_new),
}
"""The literal rules that the reference can be given, by clause and id."""
