"""For each clause a mutant that breaks it in one of the cases that are about it: no clause is checked in vain."""

from __future__ import annotations

BREAKS = {
    "Q-LOCK-SEND": "is_ready/always",
    "Q-ATOMIC": "answer/other-body",
    "Q-META": "literal/Q-META-lit-1",
    "Q-ORDER-MSG": "store/last-first",
    "Q-ORDER-CORR": "literal/Q-ORDER-CORR-lit-end",
    "Q-CORR-LAST": "literal/Q-CORR-LAST-lit-1",
    "Q-PRIORITY": "literal/Q-PRIORITY-lit-position",
    "Q-NEXT": "is_listed/never",
    "Q-POISON": "sets_aside/never",
    "Q-ONCE": "store/keeps-popped",
    "Q-RETRY": "answer/first-try",
    "Q-CRASH-SEND": "store/cleans-in-words",
    "Q-CRASH-BOOT": "literal/Q-CRASH-BOOT-lit-1",
    "Q-CRASH-DEAD": "literal/Q-CRASH-DEAD-lit-1",
    "Q-DURABLE": "store/forgets",
    "Q-CALL-ONCE": "is_new/always",
    "Q-ANSWER": "is_new/never",
    "Q-LEASE": "back/at-the-end",
    "Q-LEASE-ALL": "is_held/always",
    "Q-RECEIPT": "is_good/any",
    "Q-DEDUP": "is_seen/while-it-is-there",
    "Q-ACK-ORDER": "back/at-its-place",
    "Q-CONSUMER-ONE": "is_left/always",
    "Q-BATCH": "is_whole/always",
    "Q-AS-PUT": "lease-store/another-body",
    "Q-DEADLETTER": "lease-store/sets-aside-at-once",
}
