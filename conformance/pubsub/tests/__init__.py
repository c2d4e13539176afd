"""Tests of what judges publish and subscribe."""
