"""The contract: clauses, TLA+ modules, trace schema, wire layout and the types that all other packages share.

Imports nothing of ours, so that judge and implementation can both rest on it.
"""
