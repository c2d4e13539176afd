"""Brokers, driven through their clients and judged by what their documents promise."""
