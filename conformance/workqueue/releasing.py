"""What releases of receive locks and cleaning show of the store's groups (see `knowledge`)."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.step import State, TableState
from scatterproof.conformance.checks.tables import change, field, find, put, room, used
from scatterproof.conformance.workqueue.records import (
    ABOUT_SERVER,
    BOOTED,
    BY_BOOT,
    BY_CLEANING,
    CALLED_NS,
    CLEAN,
    CLOSE,
    CLOSE_ASKED,
    CLOSED_NS,
    CORRELATION,
    FLUSH,
    FLUSH_ASKED,
    FOREVER,
    FREED,
    FREED_NS,
    HAND_NS,
    HELD,
    HSERVER,
    KNOWN,
    LOOSE_NEXT,
    LOOSE_OPEN,
    LOOSE_OPENS,
    LOOSE_RELEASE,
    MARKED_NS,
    NEVER,
    NEXT,
    OPEN,
    POP_ASKED,
    POP_GROUP,
    REMOVED_NS,
    RISK,
    SERVER,
    SURE,
    UNLOCK,
    Book,
    others_calling,
)


@register_jitable
def note_change(correlation: int, time_ns: int, loose: int, correlations: TableState) -> None:
    """Note that the groups of a correlation stand otherwise since this time, in ns. loose: how many of its open_group
    calls end unknown: where one does nothing is sure, whatever the time. Calls return in the order of their times."""
    slot = find(correlations, (correlation,))
    before = field(correlations, slot, LOOSE_OPENS) if slot >= 0 else 0
    marked = field(correlations, slot, MARKED_NS) if slot >= 0 else NEVER
    put(correlations, (correlation,), (time_ns, before + loose, marked))


@register_jitable
def note_release(groups: TableState, call: int, server: int) -> None:
    """From its call on, a release may have released locks, and cleaning may have removed groups that are not closed."""
    for slot in range(room(groups)):
        if not used(groups, slot):
            continue
        if call == CLEAN or field(groups, slot, HSERVER) == server:
            change(groups, slot, SURE, 0)
        if call == CLEAN and field(groups, slot, CLOSED_NS) == FOREVER:
            change(groups, slot, RISK, 2 if field(groups, slot, RISK) else 1)
        own = field(groups, slot, KNOWN) == 1 and field(groups, slot, SERVER) == server
        if call == UNLOCK and own and field(groups, slot, CLOSE_ASKED) == 0:
            change(groups, slot, BOOTED, 1)


@register_jitable
def learn_unlock(own: int, time_ns: int, book: Book) -> None:
    groups, _, _, clients, correlations, _, _, released_ns, _ = book
    server, called_ns = field(clients, own, ABOUT_SERVER), field(clients, own, CALLED_NS)
    released_ns[0] = time_ns
    for slot in range(room(groups)):
        if not used(groups, slot) or field(groups, slot, HELD) == 0 or field(groups, slot, HSERVER) != server:
            continue
        if field(groups, slot, HAND_NS) < called_ns:
            free(slot, BY_BOOT, time_ns, groups, correlations)
        else:  # the release may have come before or after the hand-out
            change(groups, slot, HELD, 2)


@register_jitable
def free(slot: int, how: int, time_ns: int, groups: TableState, correlations: TableState) -> None:
    """Note that the group is surely no longer locked for receiving. how: BY_BOOT or BY_CLEANING."""
    change(groups, slot, HELD, 0)
    change(groups, slot, FREED, how)
    change(groups, slot, FREED_NS, time_ns)
    note_change(field(groups, slot, CORRELATION), time_ns, 0, correlations)


@register_jitable
def is_there(groups: TableState, slot: int) -> bool:
    """Whether the slot has a group that cleaning has not surely removed."""
    return used(groups, slot) and field(groups, slot, REMOVED_NS) == FOREVER


@register_jitable
def is_definite(groups: TableState, slot: int) -> bool:
    """Whether it is certain if the group is locked, and how."""
    if field(groups, slot, KNOWN) == 0 or field(groups, slot, HELD) == 2 or field(groups, slot, POP_ASKED) > 0:
        return False
    unsure = field(groups, slot, CLOSE_ASKED) > 0 or field(groups, slot, FLUSH_ASKED) > 0
    return field(groups, slot, CLOSED_NS) < FOREVER or not (unsure or field(groups, slot, RISK) == 2)


@register_jitable
def undisturbed(
    node: int, called_ns: int, node_count: int, clients: TableState, loose: State, stirred_ns: State
) -> bool:
    """Whether all other calls that change how groups stand are known, and were over when this call began."""
    for call in (OPEN, CLOSE, FLUSH, NEXT, POP_GROUP, UNLOCK, CLEAN):
        if others_calling(clients, node, call, node_count):
            return False
    return stirred_ns[0] < called_ns and loose[LOOSE_NEXT] + loose[LOOSE_OPEN] + loose[LOOSE_RELEASE] == 0


@register_jitable
def standing(groups: TableState) -> tuple[int, int, bool]:
    """How many groups may be locked for sending, and how many for receiving; and whether both are certain."""
    sending, held, definite = 0, 0, True
    for slot in range(room(groups)):
        if is_there(groups, slot):
            definite = definite and is_definite(groups, slot)
            sending += int(field(groups, slot, CLOSED_NS) == FOREVER)
            held += int(field(groups, slot, HELD) > 0)
    return sending, held, definite


@register_jitable
def learn_clean(
    node: int,
    time_ns: int,
    called_ns: int,
    told: tuple[int, int, int, int, int, int],
    node_count: int,
    book: Book,
) -> None:
    """Learn from a cleaning: which groups it removed or released is known where it was none or all that it could."""
    groups, _, _, clients, correlations, loose, stirred_ns, released_ns, cleaned_ns = book
    removed, released = told[4], told[5]
    sending, held, definite = standing(groups)
    sure = definite and undisturbed(node, called_ns, node_count, clients, loose, stirred_ns)
    released_ns[0] = cleaned_ns[0] = time_ns
    for slot in range(room(groups)):
        if not is_there(groups, slot):
            continue
        if removed == 0 and field(groups, slot, RISK) == 1:
            change(groups, slot, RISK, 0)
        if sure and removed == sending and field(groups, slot, CLOSED_NS) == FOREVER:
            change(groups, slot, REMOVED_NS, time_ns)
            note_change(field(groups, slot, CORRELATION), time_ns, 0, correlations)
        if field(groups, slot, HELD) > 0 and released != 0:
            if sure and released == held:
                free(slot, BY_CLEANING, time_ns, groups, correlations)
            else:
                change(groups, slot, HELD, 2)


@register_jitable
def is_miscounted(count: int, there: int, definite: bool, before_ns: int) -> bool:
    """Whether cleaning counts more or fewer dead than it can, where `there` were locked: everybody is dead where its
    limit is FOREVER, nobody where it is 0 or below."""
    if before_ns <= 0:
        return count != 0
    return count > there or (definite and before_ns == FOREVER and count != there)
