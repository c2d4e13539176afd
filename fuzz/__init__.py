"""Property-based fuzzing, mutation of the rules, and the kill matrix."""
