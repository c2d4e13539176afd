"""The contract: clauses, TLA+ modules, trace schema, wire layout and the types that all other packages share.

Imports nothing of ours, so that judge and implementation can both rest on it.
"""

if __name__ != "scatterproof.spec":
    raise ImportError("import scatterproof.spec: under the folder's name alone every class would be there twice")
