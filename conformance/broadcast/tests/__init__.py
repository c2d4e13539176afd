"""Tests of the judges of the broadcast stack."""
