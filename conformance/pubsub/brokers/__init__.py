"""Brokers that others have made: how each is started on loopback, and who gets what there."""
