"""Tests of brokers as products."""
