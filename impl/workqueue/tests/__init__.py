"""Tests of the reference queue."""
