"""Adapters: implementations under test that are processes of their own, behind the contract of spec/adapter.py."""
