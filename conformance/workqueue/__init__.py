"""The queue with correlated message groups: cases, checks and oracles."""
