"""What the tests of `spark` must know of publish and subscribe."""
