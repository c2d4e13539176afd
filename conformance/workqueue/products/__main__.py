"""`python -m scatterproof.conformance.workqueue.products [PRODUCT...] [--runs N] [--seed S] [--quiet] [--results DIR]`:
start products, drive them at random, and judge each by what its documentation promises. What is not installed is not
run. With `--quiet` runs keep clear of the mistakes that are known: what breaks then is new, or a false alarm."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from scatterproof.conformance.adapters.product_runs import run
from scatterproof.conformance.adapters.products import Product
from scatterproof.conformance.workqueue.products.every import PRODUCTS


def main(words: Sequence[str] | None = None, products: Sequence[Product] = PRODUCTS) -> int:
    return run("python -m scatterproof.conformance.workqueue.products", products, words)


if __name__ == "__main__":
    sys.exit(main())
