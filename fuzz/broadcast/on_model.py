"""Which TLA+ operators of `spec/broadcast` say the same as a mutant of the reference rules: mutant -> (constant,
operator), as a model of models.toml sets it."""

from __future__ import annotations

ON_MODEL: dict[str, tuple[str, str]] = {
    "literal/BC-PL-PSEQ-lit-1": ("Number", "OneForAll"),
    "literal/BC-PL-MEMORY-lit-1": ("Remember", "KeepingAll"),
    "literal/BC-URB-SELF-lit-1": ("Own", "SendersOnly"),
    "literal/BC-URB-MAJ-lit-half": ("Enough", "AtLeastHalf"),
    "majority/at-once": ("Enough", "AtOnce"),
    "link/acknowledges-before-storing": ("AnswersRefused", "Always"),
}
