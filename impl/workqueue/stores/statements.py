"""The statements of the SQL stores. Parameters are `:name`; what braces hold is a dialect's.

States: 1 sending, 2 waiting, 3 ready, 4 receiving (`schema`). They stand here as numbers, as a partial index is used
only where the planner sees its condition.

Whatever changes which group of a correlation is the first, or whether that one is closed, first takes the lock of the
correlation (`Database.lock`), and then says anew which group is ready (PROMOTE). Without it two transactions that pass
each other, the pop of the first group and the close of the second, would each see the other's group as it was, and
nobody would make the second one ready. A row `ready` changes to `receiving` and back under its row lock alone.

The statements of a call are sent together, so that none may ask what another one found: each says in its own conditions
for which group, token and state it holds. The first of them locks the group's row, and the later ones see it so.
"""

from __future__ import annotations

# With the lock of the correlation held until the commit, groups of one correlation become visible in the order of their
# numbers. Numbers from a sequence alone do not: a group could come before one that was handed out already.
OPEN = """
INSERT INTO scatterproof_groups
  (type, priority, correlation, server, state, token, last_message, group_retries, used_ns)
VALUES (:type, :priority, :correlation, :server, 1, 1, 0, 0, {now}) RETURNING group_id"""

# A group that comes whole waits at once. It is the last of its correlation, whose lock is held: so it is found again.
OPEN_WHOLE = """
INSERT INTO scatterproof_groups
  (type, priority, correlation, server, state, token, last_message, group_retries, used_ns)
VALUES (:type, :priority, :correlation, :server, 2, 1, :messages, 0, {now}) RETURNING group_id"""
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

# The correlation never changes, so that it may be read without a lock.
CORRELATION = "SELECT correlation FROM scatterproof_groups WHERE group_id = :group"

CLOSE = """
UPDATE scatterproof_groups SET state = 2
WHERE group_id = :group AND token = :token AND state = 1 AND last_message > 0 RETURNING group_id"""
FLUSH = """
DELETE FROM scatterproof_groups WHERE group_id = :group AND token = :token AND state = 1 RETURNING group_id"""

PROMOTE = """
UPDATE scatterproof_groups SET state = 3
WHERE state = 2 AND group_id =
  (SELECT group_id FROM scatterproof_groups WHERE correlation = :correlation ORDER BY group_id LIMIT 1)
RETURNING group_id"""

# A row that another receiver is just locking is passed over; it is that one's.
NEXT = """
WITH first AS {materialized}
  (SELECT group_id FROM scatterproof_groups WHERE state = 3 ORDER BY priority, group_id LIMIT 1 {skip_locked})
UPDATE scatterproof_groups
SET state = 4, token = token + 1, group_retries = group_retries + 1, server = :server, used_ns = {now}
WHERE group_id = (SELECT group_id FROM first)
RETURNING group_id, token, type, priority, correlation, last_message, group_retries"""

# Nobody releases the group or hands it out until the end of the transaction, once its row is locked by one of these.
# The try counts for the first message: another one is read only when that one is gone.
USE = """
UPDATE scatterproof_groups SET used_ns = {now}, tries = tries + 1
WHERE group_id = :group AND token = :token AND state = 4 RETURNING tries"""
# Of a group that is held nobody else changes the messages.
READ = "SELECT message, body FROM scatterproof_messages WHERE group_id = :group ORDER BY message LIMIT 1"

_FIRST = "(SELECT message FROM scatterproof_messages WHERE group_id = :group ORDER BY message LIMIT 1)"
_HELD = "(SELECT group_id FROM scatterproof_groups WHERE group_id = :group AND token = :token AND state = 4)"
# `message` goes; tries: of the one behind it, 1 where that is read in the same step.
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

# A group that is held is the first of its correlation, and stays so.
RELEASE = """
UPDATE scatterproof_groups SET state = 3, tries = CASE WHEN tries > :unread THEN tries - :unread ELSE 0 END
WHERE group_id = :group AND token = :token AND state = 4 RETURNING group_id"""
# In the order of numbers: otherwise two that unlock at once could wait for each other.
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
# The condition again: its sender may have gone on meanwhile.
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
