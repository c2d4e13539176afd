"""Limits that the core and the codec share."""

from __future__ import annotations

# What a UDP datagram over IPv4 has room for behind the packet's header (spec/totalorder/wire.toml).
MAX_PAYLOAD_BYTES = 65_451
