"""`python -m scatterproof.conformance.pubsub.products [BROKER...] [--runs N] [--seed S] [--quiet] [--results DIR]`:
start brokers, drive each at random through its clients, and judge it by what its documents promise."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from scatterproof.conformance.adapters.product_runs import run
from scatterproof.conformance.adapters.products import Product
from scatterproof.conformance.pubsub.products.every import PRODUCTS


def main(words: Sequence[str] | None = None, products: Sequence[Product] = PRODUCTS) -> int:
    return run("python -m scatterproof.conformance.pubsub.products", products, words)


if __name__ == "__main__":
    sys.exit(main())
