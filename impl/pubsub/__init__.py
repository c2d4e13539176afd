"""Publish and subscribe: the reference."""
