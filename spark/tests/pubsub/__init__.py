"""What is particular to publish and subscribe in the tests of mining."""
