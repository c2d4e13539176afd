"""The products that are driven here as queues."""

from __future__ import annotations

from scatterproof.conformance.adapters.products import Product
from scatterproof.conformance.workqueue.products import (
    beanstalkd,
    bullmq,
    embedded,
    emulators,
    graphile_worker,
    groupmq,
    pg_boss,
    pgq,
    pgqueuer_jobs,
    procrastinate_jobs,
    rabbitmq_node,
    redis_queues,
)

PRODUCTS: tuple[Product, ...] = (
    *emulators.PRODUCTS,
    *rabbitmq_node.PRODUCTS,
    procrastinate_jobs.PRODUCT,
    pg_boss.PRODUCT,
    graphile_worker.PRODUCT,
    bullmq.PRODUCT,
    groupmq.PRODUCT,
    beanstalkd.PRODUCT,
    pgq.PRODUCT,
    pgqueuer_jobs.PRODUCT,
    *embedded.PRODUCTS,
    *redis_queues.PRODUCTS,
)
