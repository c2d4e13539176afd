"""The queue with correlated message groups: what the fuzzer draws, and what mutants are made of."""
