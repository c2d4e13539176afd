"""Limits that the core and the codec share."""

from __future__ import annotations

# What a UDP datagram over IPv4 has room for behind the packet's header (spec/totalorder/wire.toml).
MAX_PAYLOAD_BYTES = 65_435
# How long the payload of an adjusted packet is: one value in network order.
DURATION_BYTES = 8
