"""The queue with correlated message groups: the contract."""
