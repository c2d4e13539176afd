"""How the switch's P4Runtime server says no."""

from __future__ import annotations


class WriteRefused(Exception):
    """The server refused a write. code: P4Runtime's canonical code. message: its words."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message


class Silent(Exception):
    """The server does not answer, or closed the stream."""
