"""Calls in one statement each, as PostgreSQL can change several tables in one: to send a statement costs client and
server about as much as to carry it out. They do what those of `statements` do one after the other.

All parts of a statement see the tables as they were at its beginning, and what another part returns. So the part that
changes the row of the group comes first: it waits for whoever has that row, and then looks at its state and token anew.
What the later parts see of the messages is still right then: only who holds the group takes any away.
"""

from __future__ import annotations

# The lock of the correlation is held: no group of it comes or goes meanwhile.
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

# The lock of the correlation is held.
CLOSE_WHOLE = """
UPDATE scatterproof_groups SET state = CASE WHEN EXISTS
  (SELECT FROM scatterproof_groups other WHERE other.correlation = :correlation AND other.group_id < :group)
  THEN 2 ELSE 3 END
WHERE group_id = :group AND token = :token AND state = 1 AND last_message > 0 RETURNING state"""

USE_AND_READ = """
WITH used AS
  (UPDATE scatterproof_groups SET used_ns = {now}, tries = tries + 1
   WHERE group_id = :group AND token = :token AND state = 4 RETURNING tries)
SELECT message, body, tries FROM used LEFT JOIN LATERAL
  (SELECT message, body FROM scatterproof_messages WHERE group_id = :group ORDER BY message LIMIT 1) first ON TRUE"""

# Of several that pop one message at once, with one token, one finds it.
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

# The lock of the correlation is held. A group that was held was the first.
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
   RETURNING group_id)
SELECT (SELECT group_id FROM ready) FROM gone"""

TAKE = """
WITH first AS MATERIALIZED
  (SELECT group_id FROM scatterproof_groups WHERE state = 3 ORDER BY priority, group_id LIMIT 1 FOR UPDATE SKIP LOCKED),
taken AS
  (UPDATE scatterproof_groups
   SET state = 4, token = token + 1, group_retries = group_retries + 1, server = :server, used_ns = {now},
       tries = tries + 1
   WHERE group_id = (SELECT group_id FROM first)
   RETURNING group_id, token, type, priority, correlation, last_message, group_retries, tries)
SELECT taken.*, message, body FROM taken LEFT JOIN LATERAL
  (SELECT message, body FROM scatterproof_messages WHERE scatterproof_messages.group_id = taken.group_id
   ORDER BY message LIMIT 1) first_message ON TRUE"""
