"""Publish and subscribe: kinds of runs."""
