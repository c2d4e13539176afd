"""Tests of what the fuzzer has of the queue."""
