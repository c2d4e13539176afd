"""The two ways in which a user's request ends without a verdict, each with its exit code."""

from __future__ import annotations


class ScatterproofError(Exception):
    """One sentence for the user: what is wrong, where, and how to mend it. Never shown as a traceback."""

    exit_code: int = 3


class BadInput(ScatterproofError):
    """A file, name or option is not usable as given (exit code 2)."""

    exit_code = 2


class CannotRun(ScatterproofError):
    """The request is sound, but something that it needs is missing on this machine (exit code 3)."""

    exit_code = 3


class MachineBusy(CannotRun):
    """What runs in real time did not get the processor in time, however slowly it was played."""
