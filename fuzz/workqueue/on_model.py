"""Which TLA+ operators of `spec/workqueue` say the same as a mutant of the reference rules: mutant -> (constant,
operator), as a model of models.toml sets it."""

from __future__ import annotations

ON_MODEL: dict[str, tuple[str, str]] = {
    "literal/Q-NEXT-lit-priority": ("Listed", "AllOfFree"),
    "literal/Q-NEXT-lit-send": ("TakenAs", '"send"'),
    "literal/Q-CORR-LAST-lit-1": ("Whole", "AnyTime"),
    "literal/Q-CRASH-BOOT-lit-1": ("Unlocks", "OwnSendLocks"),
    "literal/Q-CRASH-DEAD-lit-1": ("MayCall", "Anybody"),
    "is_ready/always": ("Skips", "Nothing"),
    "is_listed/always": ("Listed", "Everything"),
    "sets_aside/never": ("SetsAside", "Never"),
    "rank/lowest-first": ("Before", "ByLowestPriority"),
}
