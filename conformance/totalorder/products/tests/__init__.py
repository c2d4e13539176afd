"""Tests of products that order messages by timestamps of their own."""
