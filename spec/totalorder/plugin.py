"""Total order, as `spec` sees it."""

from __future__ import annotations

from spec.protocol import SpecPlugin
from spec.totalorder.messages import Delivery, Packet

PLUGIN = SpecPlugin(packet=Packet, delivery=Delivery)
