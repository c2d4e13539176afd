"""Brokers that others have made, driven by their clients and judged by what their documents promise."""
