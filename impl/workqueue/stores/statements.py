"""The statements of the SQL stores. Parameters are `:name`; names in braces stand for a dialect's words.

States: 1 sending, 2 waiting, 3 ready, 4 receiving (`schema`). They are literal numbers, as the planner uses a partial
index only where it sees the index's condition.

A transaction that changes which group of a correlation is the first, or whether that one or the last is closed, takes
the lock of the correlation first (`Database.lock`), and then makes the first group ready (PROMOTE). Without the lock,
the pop of the first group and the close of the second could each see the other's group as it was, and neither would
make the second one ready. Changing a group from `ready` to `receiving` and back needs only its row lock.

The statements of a call are sent together, so none can depend on the rows of another: each states in its own conditions
for which group, token and state it applies. The first one locks the group's row, and the later ones see its change.
"""

from __future__ import annotations

# The lock of the correlation is held until the commit, so that its groups become visible in the order of their numbers.
# A sequence alone does not ensure that: a group could appear ahead of one that was handed out already.
OPEN = """
INSERT INTO scatterproof_groups
  (type, priority, correlation, server, is_last, state, token, last_message, group_retries, used_ns)
VALUES (:type, :priority, :correlation, :server, :last, 1, 1, 0, 0, {now}) RETURNING group_id"""

# A group that is sent whole waits at once. Under the lock of its correlation it is the last one: so it is found again.
OPEN_WHOLE = """
INSERT INTO scatterproof_groups
  (type, priority, correlation, server, is_last, state, token, last_message, group_retries, used_ns)
VALUES (:type, :priority, :correlation, :server, :last, 2, 1, :messages, 0, {now}) RETURNING group_id"""
ADD_TO_WHOLE = """
INSERT INTO scatterproof_messages (group_id, message, body)
SELECT MAX(group_id), :message, :body FROM scatterproof_groups WHERE correlation = :correlation"""

COUNT_MESSAGE = """
UPDATE scatterproof_groups SET last_message = last_message + 1, used_ns = {now}
WHERE group_id = :group AND token = :token AND state = 1 RETURNING last_message"""
ADD_MESSAGE = """
INSERT INTO scatterproof_messages (group_id, message, body)
SELECT group_id, last_message, :body FROM scatterproof_groups
WHERE group_id = :group AND token = :token AND state = 1 RETURNING message"""

# A group's correlation never changes: no lock is needed.
CORRELATION = "SELECT correlation FROM scatterproof_groups WHERE group_id = :group"

CLOSE = """
UPDATE scatterproof_groups SET state = 2
WHERE group_id = :group AND token = :token AND state = 1 AND last_message > 0 RETURNING group_id"""
FLUSH = """
DELETE FROM scatterproof_groups WHERE group_id = :group AND token = :token AND state = 1 RETURNING group_id"""

# What comes behind the first group is not looked at: a last one that is closed was opened after it, or is it.
PROMOTE = """
UPDATE scatterproof_groups SET state = 3
WHERE state = 2 AND group_id =
  (SELECT group_id FROM scatterproof_groups WHERE correlation = :correlation ORDER BY group_id LIMIT 1)
  AND (is_last IS NULL OR EXISTS
    (SELECT 1 FROM scatterproof_groups marked
     WHERE marked.correlation = :correlation AND marked.is_last = 1 AND marked.state <> 1))
RETURNING group_id"""

NEXT = """
UPDATE scatterproof_groups
SET state = 4, token = token + 1, group_retries = group_retries + 1, server = :server, used_ns = {now}
WHERE group_id = (SELECT group_id FROM scatterproof_groups WHERE state = 3 ORDER BY priority, group_id LIMIT 1)
RETURNING group_id, token, type, priority, correlation, last_message, group_retries"""

# Once one of these has locked the group's row, nobody releases the group or hands it out before the transaction ends.
# The try counts for the first message: no other one is read before that one is gone.
USE = """
UPDATE scatterproof_groups SET used_ns = {now}, tries = tries + 1
WHERE group_id = :group AND token = :token AND state = 4 RETURNING tries"""
# Nobody but its holder changes the messages of a held group.
READ = "SELECT message, body FROM scatterproof_messages WHERE group_id = :group ORDER BY message LIMIT 1"

_FIRST = "(SELECT message FROM scatterproof_messages WHERE group_id = :group ORDER BY message LIMIT 1)"
_HELD = "(SELECT group_id FROM scatterproof_groups WHERE group_id = :group AND token = :token AND state = 4)"
# For the removal of `message`. tries: of the next message, 1 where the same call reads it, else 0.
USE_AT = f"""
UPDATE scatterproof_groups SET used_ns = {{now}}, tries = :tries
WHERE group_id = :group AND token = :token AND state = 4 AND :message = {_FIRST} RETURNING group_id"""
POP = f"""
DELETE FROM scatterproof_messages WHERE group_id = {_HELD} AND message = :message AND message = {_FIRST}
RETURNING message"""

POP_GROUP = """
DELETE FROM scatterproof_groups
WHERE group_id = :group AND token = :token AND state = 4
  AND NOT EXISTS (SELECT 1 FROM scatterproof_messages WHERE group_id = :group)
RETURNING group_id"""

# A held group stays the first of its correlation, so nothing needs promoting.
RELEASE = """
UPDATE scatterproof_groups SET state = 3, tries = CASE WHEN tries > :unread THEN tries - :unread ELSE 0 END
WHERE group_id = :group AND token = :token AND state = 4 RETURNING group_id"""
# Lock in the order of numbers: otherwise two that unlock at once could deadlock.
UNLOCK = """
UPDATE scatterproof_groups SET state = 3 WHERE state = 4 AND group_id IN
  (SELECT group_id FROM scatterproof_groups WHERE state = 4 AND {whose} ORDER BY group_id {for_update})
RETURNING group_id"""
OF_SERVER, UNUSED = "server = :server", "used_ns < :before"

SET_ASIDE = f"""
INSERT INTO scatterproof_aside (group_id, message, correlation, type, priority, tries, reason, body)
SELECT held.group_id, message, correlation, type, priority, tries, :reason, body
FROM scatterproof_groups held JOIN scatterproof_messages ON scatterproof_messages.group_id = held.group_id
WHERE held.group_id = :group AND token = :token AND state = 4 AND message = :message AND message = {_FIRST}
{{for_update}}"""

DEAD = """
SELECT group_id, correlation FROM scatterproof_groups WHERE state = 1 AND used_ns < :before ORDER BY group_id"""
# Checks the condition again: the sender may have gone on meanwhile.
REMOVE = """
DELETE FROM scatterproof_groups WHERE group_id = :group AND state = 1 AND used_ns < :before RETURNING group_id"""

NOW = "SELECT {now}"
STATES = "SELECT state, COUNT(*) FROM scatterproof_groups GROUP BY state"
MESSAGES = "SELECT COUNT(*) FROM scatterproof_messages"
ASIDES = "SELECT COUNT(*) FROM scatterproof_aside"
OLDEST = "SELECT MIN(used_ns) FROM scatterproof_groups WHERE state IN (1, 4)"
LIST_ASIDE = """
SELECT group_id, message, correlation, type, priority, tries, reason, body
FROM scatterproof_aside ORDER BY group_id, message LIMIT :most"""
