"""Total order: parameters to draw, hand-written mutants, and what the shared fuzzer needs to know."""
