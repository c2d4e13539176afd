"""Broadcast stack: how programs, traces and implementations of it are judged."""
