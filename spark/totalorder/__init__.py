"""Total order: what its corpora draw that the shared modules know nothing of."""
