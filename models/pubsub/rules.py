"""The corrected rules of publish and subscribe as the Z3 claims read them: plain Python, run on terms by
`scatterproof.models.symbolic.lift`.

They are stated here a second time on purpose: the models do not import the reference implementation. A count is how
many tokens a step of a filter stands for: 1 for one, 2 for one or none, 3 for any number.
"""

from __future__ import annotations

from scatterproof.models.claim import stated_in

ONE, UP_TO_ONE, MANY = 1, 2, 3


def takes(is_text: bool, begins: bool, whole: bool) -> bool:
    """Whether a step takes a token. is_text: it is the step's text. begins: it begins with that (PS-MATCH)."""
    return is_text if whole else begins


def may_pass(count: int) -> bool:
    """Whether a step may stand for no token (PS-MATCH)."""
    return count != ONE


def may_stay(count: int) -> bool:
    """Whether a step that has taken a token may take one more (PS-MATCH)."""
    return count == MANY


def is_kept_back(marked: bool, wild: bool) -> bool:
    """Whether a topic is hidden from a filter. marked: its first token begins with the grammar's mark. wild: the filter
    begins with a wildcard (PS-GRAMMAR)."""
    return marked and wild


def needs_longer(is_text: bool) -> bool:
    """Whether the longest text that a token begins with must be made longer to stand for the token (PS-COVER)."""
    return not is_text


def is_uncovered(narrow: bool, wide: bool) -> bool:
    """Whether a topic shows that a filter does not cover another one, by which of the two match it (PS-COVER)."""
    return narrow and not wide


rules = stated_in(__name__)
