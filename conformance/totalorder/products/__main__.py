"""`python -m scatterproof.conformance.totalorder.products [PRODUCT...] [--runs N] [--seed S] [--quiet]`: start
products, drive them at random, and judge each by what its documentation promises."""

from __future__ import annotations

import sys

from scatterproof.conformance.adapters.product_runs import run
from scatterproof.conformance.totalorder.products.etcd import PRODUCT

if __name__ == "__main__":
    sys.exit(run("python -m scatterproof.conformance.totalorder.products", (PRODUCT,)))
