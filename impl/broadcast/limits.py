"""Limits that cores, codec and program share."""

from __future__ import annotations

# What a UDP datagram over IPv4 has room for behind the header of a datagram and that of one packet, with the clock of
# few processes (spec/broadcast/wire.toml).
MAX_PAYLOAD_BYTES = 60_000
# Processes are numbered in 16 bits.
MAX_PROCESSES = 1 << 16
# A packet's clock and payload share a datagram: clocks are for this many processes at the most.
MAX_CLOCK = 1_024
# Messages and packets are numbered in 32 bits.
MAX_NUMBER = (1 << 32) - 1
# Messages of one run: what one forged packet could make a process deliver.
MAX_RUN = 4_096
