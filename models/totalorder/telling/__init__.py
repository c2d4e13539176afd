"""Counterexamples of TLC in words."""
