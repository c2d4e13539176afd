"""Latency in simulation: the published figures again, and curves of our own."""
