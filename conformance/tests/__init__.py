"""Tests of the judge, its checks and its oracles. They alone may use the reference implementation here."""
