"""Corpora of simulated runs, and mining them for violations, on Spark."""
