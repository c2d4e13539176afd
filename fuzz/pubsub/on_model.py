"""Which TLA+ operators of `spec/pubsub` say the same as a mutant of the reference rules: mutant -> (constant,
operator), as a model of models.toml sets it."""

from __future__ import annotations

ON_MODEL: dict[str, tuple[str, str]] = {
    "literal/PS-COVER-lit-forgotten": ("Kept", "Forgotten"),
    "in_order/drops-first": ("InOrder", "DropsFirst"),
    "is_known/always": ("Answers", "AtOnce"),
    "stays_home/never": ("Kept", "All"),
    "is_first/any": ("Meets", "WherePathsMeet"),
    "is_first/not-the-last": ("IsFirst", "NotTheLast"),
    "is_first/never": ("IsFirst", "Never"),
    "sent_again/nothing": ("SentAgain", "Nothing"),
    "sent_again/the-last": ("SentAgain", "TheLast"),
    "is_next/any": ("Takes", "Whatever"),
    "appliance/copy-for-each-filter": ("Copies", "OneForEach"),
}
