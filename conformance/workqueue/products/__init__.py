"""Products that are queues with leases, driven by their client libraries and judged."""
