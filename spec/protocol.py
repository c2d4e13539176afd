"""What a protocol gives to `spec`, beside its files (clauses.toml, trace.toml, parameters.toml, models.toml)."""

from __future__ import annotations

from dataclasses import dataclass

from spec import plugins


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecPlugin:
    """What nodes exchange with one another and with the harness, as msgspec types.

    packet: what is put on a link.
    delivery: what is handed to an application.
    beginning: what a node says when it begins with a message by itself; None where none does.
    """

    packet: type
    delivery: type
    beginning: type | None = None

    @property
    def messages(self) -> dict[str, type]:
        """Those that there are, by what they are called in the adapter contract."""
        named = {"Packet": self.packet, "Delivery": self.delivery, "Beginning": self.beginning}
        return {name: kind for name, kind in named.items() if kind is not None}


def load(protocol: str) -> SpecPlugin:
    """BadInput for an unknown protocol, CannotRun for one whose messages have no types yet."""
    return plugins.load("spec", SpecPlugin, protocol, "has no messages yet; choose another")
