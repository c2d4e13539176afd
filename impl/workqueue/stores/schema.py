"""The tables of the SQL stores, and their versions.

Two tables are the source's: groups and messages. Two are added: `scatterproof_aside` for messages set aside (Q-POISON),
and `scatterproof_schema` for the version. A group has these columns beyond the source's:

- state: what may happen to the group next. The source has only locks, and its selection goes through all groups. Here
  a group is marked when it becomes ready, and the partial index `scatterproof_ready` holds only these groups, in the
  order of selection: taking one is logarithmic in the number of ready groups, whatever else waits.
- token: the fencing token of its last lock.
- group_retries: how often it was handed out.
- is_last: 1 for the last group of its correlation, 0 for one that waits for that, NULL for neither (Q-CORR-LAST).
- used_ns: when its lock was last used, in ns of the store's clock.
- tries: how often its first message was read; no other one was. It is here, as this row changes with each message
  anyway: in the message's row, counting would write the body again.
"""

from __future__ import annotations

SENDING, WAITING, READY, RECEIVING = 1, 2, 3, 4

# By version, from 1: the statements that migrate to it from the version below. Names in braces are a dialect's words.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE scatterproof_groups (
             group_id {identity},
             type BIGINT NOT NULL,
             priority BIGINT NOT NULL,
             correlation TEXT NOT NULL,
             server TEXT NOT NULL,
             state SMALLINT NOT NULL,
             token BIGINT NOT NULL,
             last_message BIGINT NOT NULL,
             group_retries BIGINT NOT NULL,
             used_ns BIGINT NOT NULL
           )""",
        """CREATE TABLE scatterproof_messages (
             group_id BIGINT NOT NULL REFERENCES scatterproof_groups ON DELETE CASCADE,
             message BIGINT NOT NULL,
             tries BIGINT NOT NULL,
             body {bytes} NOT NULL,
             PRIMARY KEY (group_id, message)
           )""",
        """CREATE TABLE scatterproof_aside (
             group_id BIGINT NOT NULL,
             message BIGINT NOT NULL,
             correlation TEXT NOT NULL,
             type BIGINT NOT NULL,
             priority BIGINT NOT NULL,
             tries BIGINT NOT NULL,
             reason TEXT NOT NULL,
             body {bytes} NOT NULL,
             PRIMARY KEY (group_id, message)
           )""",
        "CREATE INDEX scatterproof_ready ON scatterproof_groups (priority, group_id) WHERE state = 3",
        "CREATE UNIQUE INDEX scatterproof_correlation ON scatterproof_groups (correlation, group_id)",
        "CREATE INDEX scatterproof_sending ON scatterproof_groups (used_ns) WHERE state = 1",
        # At most one group of a correlation is ready or held: the database refuses what would break Q-ORDER-CORR.
        "CREATE UNIQUE INDEX scatterproof_first ON scatterproof_groups (correlation) WHERE state IN (3, 4)",
        "CREATE INDEX scatterproof_receiving ON scatterproof_groups (server) WHERE state = 4",
    ),
    (
        # No index has `used_ns`, which changes with each message of a group: so PostgreSQL can keep a row's new version
        # on the same page, and updates no index.
        "DROP INDEX scatterproof_sending",
        "CREATE INDEX scatterproof_sending ON scatterproof_groups (group_id) WHERE state = 1",
    ),
    (
        "ALTER TABLE scatterproof_groups ADD COLUMN tries BIGINT NOT NULL DEFAULT 0",
        """UPDATE scatterproof_groups SET tries = COALESCE(
             (SELECT m.tries FROM scatterproof_messages m WHERE m.group_id = scatterproof_groups.group_id
              ORDER BY m.message LIMIT 1), 0)""",
        "ALTER TABLE scatterproof_messages DROP COLUMN tries",
    ),
    (
        "ALTER TABLE scatterproof_groups ADD COLUMN is_last SMALLINT",
        # Whether the last group of a correlation came is found at once, however many wait for it.
        "CREATE INDEX scatterproof_last ON scatterproof_groups (correlation) WHERE is_last = 1",
    ),
)
VERSION = len(MIGRATIONS)
VERSION_TABLE = "CREATE TABLE IF NOT EXISTS scatterproof_schema (version BIGINT NOT NULL)"
