"""The broadcast stack, as `spec` sees it."""

from __future__ import annotations

from spec.broadcast.messages import Beginning, Delivery, Packet
from spec.protocol import SpecPlugin

PLUGIN = SpecPlugin(packet=Packet, delivery=Delivery, beginning=Beginning)
