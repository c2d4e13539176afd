"""The brokers of others that are driven here."""

from __future__ import annotations

from scatterproof.conformance.adapters.products import Product
from scatterproof.conformance.pubsub.products import servers

PRODUCTS: tuple[Product, ...] = servers.PRODUCTS
