"""Publish and subscribe: the contract."""
