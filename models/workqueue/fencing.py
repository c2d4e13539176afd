"""Q-CRASH-DEAD, Q-CRASH-SEND: fencing tokens, for any number of locks of a group.

TLA+: ``NextToken``, ``MayCall``. The store hands out a token with each lock of a group, be it for sending or receiving;
a client that was declared dead keeps the one it has.
"""

from __future__ import annotations

from collections.abc import Iterable

import z3

from scatterproof.models.claim import Claim, Obligation, Rules, mutant
from scatterproof.models.symbolic import lift
from scatterproof.models.workqueue.rules import rules

_SCOPE = "one group, any number of locks, by induction over them"


def _rising(using: Rules) -> Iterable[Obligation]:
    next_token = lift(using["next_token"])
    present, earlier = z3.Ints("present earlier")
    yield Obligation(
        "a_lock_has_a_higher_token_than_all_before_it",
        (earlier <= present,),
        earlier < next_token(present),
        show={"earlier": earlier, "present": present, "next": next_token(present)},
    )


def _fenced(using: Rules) -> Iterable[Obligation]:
    next_token, is_accepted = lift(using["next_token"]), lift(using["is_accepted"])
    before, old, server, old_server = z3.Ints("before old server old_server")
    there, kind = z3.Bools("there of_its_kind")
    present = next_token(before)
    yield Obligation(
        "an_earlier_holder_is_refused",
        (old <= before,),
        z3.Not(is_accepted(there, kind, old, present, old_server, server)),
        show={"token": old, "present": present, "its server": old_server, "present server": server},
    )
    yield Obligation(
        "nobody_is_carried_out_on_what_is_gone_or_not_locked_so",
        (z3.Or(z3.Not(there), z3.Not(kind)),),
        z3.Not(is_accepted(there, kind, old, present, old_server, server)),
        show={"there": there, "of its kind": kind},
    )
    yield Obligation(
        "the_present_holder_is_not",
        (there, kind, old == present, old_server == server),
        is_accepted(there, kind, old, present, old_server, server),
        show={"token": old, "present": present},
    )


CLAIMS = (
    Claim(
        name="tokens_rise",
        scope=_SCOPE,
        clauses=("Q-CRASH-DEAD", "Q-CRASH-SEND"),
        sentence="The token of a lock is strictly above those of all earlier locks of the group.",
        hypotheses=("No earlier token is above the present one, which is so by induction.",),
        rules=rules("next_token"),
        obligations=_rising,
        mutants=(
            mutant("same_token", "The token stays.", next_token=lambda token: token),
            mutant("falling_token", "The token falls.", next_token=lambda token: token - 1),
        ),
    ),
    Claim(
        name="dead_holder_is_fenced",
        scope=_SCOPE,
        clauses=("Q-CRASH-DEAD", "Q-CRASH-SEND"),
        sentence="Once a group was locked again, or is gone, every call of an earlier holder is refused, and none of "
        "the present one.",
        hypotheses=("Earlier tokens are at or below the one before the present one (tokens_rise).",),
        rules=rules("next_token", "is_accepted"),
        obligations=_fenced,
        mutants=(
            mutant(
                "unfenced",
                "The document has no token: whoever calls is heard.",
                is_accepted=lambda there, kind, token, present, server, now: True,
            ),
            mutant(
                "by_server",
                "A call is held against the server that has the lock, as the document marks it.",
                is_accepted=lambda there, kind, token, present, server, now: there and kind and server == now,
            ),
            mutant(
                "not_above",
                "A token that is not above the present one will do.",
                is_accepted=lambda there, kind, token, present, server, now: there and kind and token <= present,
            ),
            mutant("same_token", "The token stays.", next_token=lambda token: token),
        ),
    ),
)
