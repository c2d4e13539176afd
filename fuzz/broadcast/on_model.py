"""Which TLA+ operators of `spec/broadcast` say the same as a mutant of the reference rules: mutant -> (constant,
operator), as a model of models.toml sets it."""

from __future__ import annotations

ON_MODEL: dict[str, tuple[str, str]] = {
    "literal/BC-PL-PSEQ-lit-1": ("Number", "OneForAll"),
    "literal/BC-PL-MEMORY-lit-1": ("Remember", "KeepingAll"),
    "literal/BC-URB-SELF-lit-1": ("Own", "SendersOnly"),
    "literal/BC-URB-MAJ-lit-half": ("Enough", "AtLeastHalf"),
    "majority/at-once": ("Enough", "AtOnce"),
    "majority/by-all": ("Enough", "AllOfThem"),
    "enters_pending/always": ("First", "NotPending"),
    "may_begin/always": ("Pauses", "WithoutThreshold"),
    "prefix_with/over-a-gap": ("Remember", "PastGaps"),
    "literal/BC-LCB-CLOCKS-lit-after": ("Attached", "CountedFirst"),
    "counts_as_dependency/always": ("CountsDelivery", "OfAll"),
    "counts_as_dependency/never": ("CountsDelivery", "OfNobody"),
    "ready/any-entry": ("MayDeliver", "AnyEntry"),
    "look/creator-only": ("LooksAfterDelivery", "NobodyElse"),
    "link/acknowledges-before-storing": ("AnswersRefused", "Always"),
    "link/acknowledges-once": ("Answers", "OnlyNew"),
    "link/new-number-when-resent": ("ResentAs", "FreshNumber"),
}
