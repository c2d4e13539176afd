"""All brokers that can be judged: third-party ones, and our own appliance."""

from __future__ import annotations

from scatterproof.conformance.adapters.products import Product
from scatterproof.conformance.pubsub.products import rabbitmq, servers

PRODUCTS: tuple[Product, ...] = (*servers.PRODUCTS, rabbitmq.PRODUCT)
