"""Fuzzing of the broadcast stack: strategies, mutants, and why some of them are equivalent to the rule."""
