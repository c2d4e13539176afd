"""Stores behind the access interface (`access`): in memory, and in SQL tables on SQLite and PostgreSQL.

`opening` makes a factory from an address, such as `sqlite:queue.db`.
"""
