"""The queue with correlated message groups: kinds of runs."""
