"""Publish and subscribe: what the fuzzer draws, and what mutants are made of."""
