"""What fuzzing says of publish and subscribe."""
