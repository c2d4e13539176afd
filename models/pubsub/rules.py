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


def flow_is_on(was: bool, length: int, high: int, low: int) -> bool:
    """Whether flow control is on. was: before the queue had this length (PS-FLOW)."""
    return length >= high or (was and length >= low)


def is_replaced(is_its: bool, is_first: bool, is_last: bool) -> bool:
    """Whether a message that waits makes place for a new one that is conflated. is_its: it is of the same subscription.
    is_first, is_last: no other one of that is ahead of it, or behind it (PS-QOS-CONF)."""
    return is_its and is_last


def new_id(made: int, own: int) -> int:
    """The id of a configuration. made: how many any manager had made before. own: how many its own had (PS-CONFIG)."""
    return made + 1


def skips_transfer(kept: int, theirs: int) -> bool:
    """Whether a configuration is not transferred, of the ids of the kept one and the manager's (PS-CONFIG)."""
    return kept == theirs


def is_first_copy(number: int, passed: int) -> bool:
    """Whether a message is passed on, where those up to `passed` were (PS-MULTIPATH)."""
    return number > passed


rules = stated_in(__name__)
