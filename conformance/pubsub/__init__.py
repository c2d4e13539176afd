"""Publish and subscribe: checks and oracles, cases, and what makes rows of runs."""
