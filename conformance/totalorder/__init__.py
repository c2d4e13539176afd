"""Total order: checks, oracles, cases, and what the shared machinery needs to know about its packets."""
