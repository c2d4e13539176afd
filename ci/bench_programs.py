"""Benchmarks of reference programs over real sockets, of each protocol that has some."""

from __future__ import annotations

from impl.protocol import ImplPlugin
from spec import plugins
from spec.clauses import protocols


def programs() -> list[tuple[str, str]]:
    """What is measured, and the figure, protocol by protocol."""
    found: list[tuple[str, str]] = []
    for protocol in protocols():
        plugin = plugins.find("impl", ImplPlugin, protocol)
        if plugin is not None and plugin.bench is not None:
            found += [(f"{protocol} program, {what}", figure) for what, figure in plugin.bench()]
    return found
