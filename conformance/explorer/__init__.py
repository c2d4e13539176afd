"""Stepping through a recorded run, of any length: its rows by window, and what each node has come to at a row."""
