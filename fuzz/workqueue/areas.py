"""The parts of the queue's cores, by purpose: the areas by which core mutants are counted."""

from __future__ import annotations

_CORE = "scatterproof.impl.workqueue"
CALLS = "queue: calls asked and answered"
TABLES = "queue: which call does what"
SELECTION = "queue: selection"
SENDING = "queue: sending groups"
PROCESSING = "queue: processing groups"
RECOVERY = "queue: recovery"
LEASES = "queue: leases"
DEDUPLICATION = "queue: deduplication"

_AREAS = {
    "client": CALLS,
    "store": CALLS,
    "store:Store.__init__": TABLES,
    "store:Store._open_group": SENDING,
    "store:Store._send_message": SENDING,
    "store:Store._close_group": SENDING,
    "store:Store._flush_group": SENDING,
    "store:Store._next_group": SELECTION,
    "store:Store._read_message": PROCESSING,
    "store:Store._pop_message": PROCESSING,
    "store:Store._pop_group": PROCESSING,
    "store:Store._unlock_server_groups": RECOVERY,
    "store:Store._clean": RECOVERY,
    "store:Store._is_dead": RECOVERY,
    "storage": PROCESSING,
    "storage:StoredGroup.standing": SELECTION,
    "selection": SELECTION,
    "rules": SELECTION,
    "rules:is_new": CALLS,
    "rules:next_message": SENDING,
    "rules:may_pop": PROCESSING,
    "rules:is_finished": PROCESSING,
    "rules:tries_with": PROCESSING,
    "rules:next_token": RECOVERY,
    "rules:is_current": RECOVERY,
    "rules:is_freed": RECOVERY,
    "rules:is_dead": RECOVERY,
    "lease_client": LEASES,
    "lease_store": LEASES,
    "lease_store:LeaseStore.__init__": TABLES,
    "lease_store:LeaseStore.handle": CALLS,
    "lease_store:LeaseStore._put": DEDUPLICATION,
    "lease_rules": LEASES,
    "lease_rules:key_of": DEDUPLICATION,
    "lease_rules:is_seen": DEDUPLICATION,
}
AREAS = {f"{_CORE}.{place}": area for place, area in _AREAS.items()}
