"""What the suite's tests are called in pytest."""

PREFIX = "scatterproof::"
