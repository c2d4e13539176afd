"""The broadcast stack, as `spec` sees it."""

from __future__ import annotations

from scatterproof.spec.broadcast.messages import Beginning, Delivery, Packet
from scatterproof.spec.protocol import SpecPlugin

PLUGIN = SpecPlugin(packet=Packet, delivery=Delivery, beginning=Beginning)
