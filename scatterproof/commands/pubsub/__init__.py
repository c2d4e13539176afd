"""Commands of publish and subscribe."""
