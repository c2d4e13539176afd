"""Judges traces and implementations that it did not write: network, checks, oracles, cases, report."""

if __name__ != "scatterproof.conformance":
    raise ImportError("import scatterproof.conformance: under the folder's name alone every class would be there twice")
