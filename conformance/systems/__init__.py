"""Real systems under test: started and stopped here on loopback, used by a small node program a host, and judged by the
logs that these write. `python -m scatterproof.conformance.systems` runs them and prints a table; RESULTS.md is one such
table."""
