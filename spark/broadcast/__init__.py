"""The broadcast stack: what its corpora draw that the shared modules know nothing of."""
