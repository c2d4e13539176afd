"""Tests of the queue's judges."""
