"""Calls in one statement each: PostgreSQL can change several tables in one, and sending a statement costs client and
server about as much as running it. Each does what the statements of the call in `statements` do in turn.

All parts of a statement see the tables as they were at its beginning, and what other parts return. So the part that
changes the group's row comes first: it waits for the row's lock, and then checks state and token again. What the later
parts see of the messages is still right then: only the holder of the group removes any.
"""

from __future__ import annotations

# Needs the lock of the correlation: no group of it comes or goes meanwhile.
SEND_WHOLE = """
WITH opened AS
  (INSERT INTO scatterproof_groups
     (type, priority, correlation, server, state, token, last_message, group_retries, used_ns)
   VALUES (:type, :priority, :correlation, :server,
           CASE WHEN EXISTS (SELECT FROM scatterproof_groups WHERE correlation = :correlation) THEN 2 ELSE 3 END,
           1, :messages, 0, {now})
   RETURNING group_id, state),
added AS
  (INSERT INTO scatterproof_messages (group_id, message, body)
   SELECT group_id, message, body FROM opened, unnest(:bodies::BYTEA[]) WITH ORDINALITY AS given (body, message))
SELECT group_id, state FROM opened"""

SEND = """
WITH counted AS
  (UPDATE scatterproof_groups SET last_message = last_message + 1, used_ns = {now}
   WHERE group_id = :group AND token = :token AND state = 1 RETURNING group_id, last_message)
INSERT INTO scatterproof_messages (group_id, message, body)
SELECT group_id, last_message, :body FROM counted RETURNING message"""

# Needs the lock of the correlation. What waits for the last group, or is that, is left to the statements in turn: its
# end may make another group ready.
CLOSE_WHOLE = """
UPDATE scatterproof_groups SET state = CASE WHEN EXISTS
  (SELECT FROM scatterproof_groups other WHERE other.correlation = :correlation AND other.group_id < :group)
  THEN 2 ELSE 3 END
WHERE group_id = :group AND token = :token AND state = 1 AND last_message > 0 AND is_last IS NULL RETURNING state"""

USE_AND_READ = """
WITH used AS
  (UPDATE scatterproof_groups SET used_ns = {now}, tries = tries + 1
   WHERE group_id = :group AND token = :token AND state = 4 RETURNING tries)
SELECT message, body, tries FROM used LEFT JOIN LATERAL
  (SELECT message, body FROM scatterproof_messages WHERE group_id = :group ORDER BY message LIMIT 1) first ON TRUE"""

# Where several pop the same message at once with one token, only one finds it.
POP_AND_READ = """
WITH used AS
  (UPDATE scatterproof_groups SET used_ns = {now}, tries = 1
   WHERE group_id = :group AND token = :token AND state = 4 AND :message =
     (SELECT message FROM scatterproof_messages WHERE group_id = :group ORDER BY message LIMIT 1)
   RETURNING group_id, tries),
popped AS
  (DELETE FROM scatterproof_messages USING used
   WHERE scatterproof_messages.group_id = used.group_id AND message = :message RETURNING tries)
SELECT following.message, body, tries FROM popped LEFT JOIN LATERAL
  (SELECT message, body FROM scatterproof_messages WHERE group_id = :group AND message > :message
   ORDER BY message LIMIT 1) following ON TRUE"""

# Needs the lock of the correlation. A held group is the first of its correlation.
FINISH = """
WITH gone AS
  (DELETE FROM scatterproof_groups
   WHERE group_id = :group AND token = :token AND state = 4
     AND NOT EXISTS (SELECT FROM scatterproof_messages WHERE group_id = :group)
   RETURNING group_id),
ready AS
  (UPDATE scatterproof_groups SET state = 3
   WHERE state = 2 AND EXISTS (SELECT FROM gone) AND group_id =
     (SELECT group_id FROM scatterproof_groups WHERE correlation = :correlation AND group_id <> :group
      ORDER BY group_id LIMIT 1)
     AND (is_last IS NULL OR EXISTS
       (SELECT FROM scatterproof_groups marked
        WHERE marked.correlation = :correlation AND marked.is_last = 1 AND marked.state <> 1
          AND marked.group_id <> :group))
   RETURNING group_id)
SELECT (SELECT group_id FROM ready) FROM gone"""

# Takers exclude each other by an advisory lock a group, which nobody else takes: a group that one skips is being taken.
# A row's lock would not say so. A call that waits for the row of a group that is being released keeps the row's lock
# until its own commit, though it is then refused: the group would be skipped, and nobody has it. Here the taker waits
# for that call. Queues in other schemas have tables, and so locks, of their own; groups 2^31 numbers apart share one.
_MINE = "pg_try_advisory_xact_lock('scatterproof_groups'::REGCLASS::OID::INT, (group_id & 2147483647)::INT) AS mine"
_READY = "SELECT priority, group_id FROM scatterproof_groups WHERE state = 3"
_FIRST = "ORDER BY priority, group_id LIMIT 1"
_WALK = f"""
WITH RECURSIVE walk AS
  (SELECT priority, group_id, {_MINE} FROM ({_READY} {_FIRST}) first
   UNION ALL
   SELECT following.* FROM walk CROSS JOIN LATERAL
     (SELECT priority, group_id, {_MINE} FROM
       ({_READY} AND (priority, group_id) > (walk.priority, walk.group_id) {_FIRST}) first) following
   WHERE NOT walk.mine),"""
_TAKEN = """
taken AS
  (UPDATE scatterproof_groups
   SET state = 4, token = token + 1, group_retries = group_retries + 1, server = :server, used_ns = {now}%s
   WHERE group_id = (SELECT group_id FROM walk WHERE mine) AND state = 3
   RETURNING group_id, token, type, priority, correlation, last_message, group_retries, tries)"""

# These return a row of NULL where another took the group after the statement had begun: to be tried again.
NEXT = f"""{_WALK}{_TAKEN % ""}
SELECT taken.* FROM walk LEFT JOIN taken ON TRUE WHERE mine"""

TAKE = f"""{_WALK}{_TAKEN % ", tries = tries + 1"}
SELECT taken.*, message, body FROM walk LEFT JOIN taken ON TRUE LEFT JOIN LATERAL
  (SELECT message, body FROM scatterproof_messages WHERE scatterproof_messages.group_id = taken.group_id
   ORDER BY message LIMIT 1) first_message ON TRUE
WHERE mine"""
