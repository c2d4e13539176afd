"""Judges traces and implementations that it did not write: network, checks, oracles, cases, report."""
