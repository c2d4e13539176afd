"""Runs at products: what they keep, and the mistakes of the track record that come in each run, each 1-minimal."""

from __future__ import annotations

from collections.abc import Sequence

from scatterproof.conformance.adapters.products import Product
from scatterproof.conformance.systems.track_record import known
from scatterproof.conformance.systems.track_runs import sides
from scatterproof.conformance.workqueue.cases.building import (
    deletes,
    extends,
    gives_back,
    puts,
    receives,
    receives_aside,
)
from scatterproof.conformance.workqueue.products.beanstalkd import Move as TubeMove
from scatterproof.conformance.workqueue.products.beanstalkd import Step as Tube
from scatterproof.conformance.workqueue.products.bullmq import Move as KeptMove
from scatterproof.conformance.workqueue.products.bullmq import Step as KeptStep
from scatterproof.conformance.workqueue.products.embedded import Move as FileMove
from scatterproof.conformance.workqueue.products.embedded import Step as File
from scatterproof.conformance.workqueue.products.every import PRODUCTS
from scatterproof.conformance.workqueue.products.graphile_worker import Move as NamedMove
from scatterproof.conformance.workqueue.products.graphile_worker import Step as Named
from scatterproof.conformance.workqueue.products.groupmq import Move as GroupMove
from scatterproof.conformance.workqueue.products.groupmq import Step as Group
from scatterproof.conformance.workqueue.products.history import SECOND_NS
from scatterproof.conformance.workqueue.products.pg_boss import Move as JobsMove
from scatterproof.conformance.workqueue.products.pg_boss import Step as Jobs
from scatterproof.conformance.workqueue.products.pgq import CONSUMER, OTHER_SENDER
from scatterproof.conformance.workqueue.products.pgq import Move as BatchMove
from scatterproof.conformance.workqueue.products.pgq import Step as Batch
from scatterproof.conformance.workqueue.products.procrastinate_jobs import Move as WorkerMove
from scatterproof.conformance.workqueue.products.procrastinate_jobs import Step as Worker
from scatterproof.conformance.workqueue.products.rabbitmq_steps import LEASE_NS, Move, Step
from scatterproof.spec.schedule import Call

Kept = tuple[Product, str, Sequence[object]]
Broken = tuple[Product, str, str, Sequence[object]]


def _receives(client: int, most: int = 1, seconds: int = 30) -> Call:
    return receives(0, client, most, seconds * SECOND_NS)


def _receives_aside(client: int, most: int = 1) -> Call:
    return receives_aside(0, client, most, 30 * SECOND_NS)


def _takes(client: int, most: int = 1) -> Call:
    return receives(0, client, most, LEASE_NS)


_of = {product.name: product for product in PRODUCTS}
_moto, _local = _of["moto"], _of["local-aws-sqs"]
_classic, _quorum = _of["rabbitmq-classic"], _of["rabbitmq-quorum"]
_procrastinate, _pg_boss, _bullmq = _of["procrastinate"], _of["pg-boss"], _of["bullmq"]
_beanstalkd, _pgq, _groupmq = _of["beanstalkd"], _of["pgq"], _of["groupmq"]

_GIVES_BACK = [puts(0, 1), _receives(2), gives_back(0, 2), _receives(3), deletes(0, 3)]
_FAIL_BOTH = [_receives(2, 2), gives_back(0, 2), gives_back(0, 2)]
_PUT_TWICE = [puts(0, 1, dedup=5), puts(0, 2, dedup=5), _receives(3, 5), deletes(0, 3), _receives(3)]
_TWO_CONSUMERS = [Step(Move.SINGLE), Step(Move.JOIN, 2), Step(Move.JOIN, 3), puts(0, 1), puts(0, 1)]
_TAKES_ASIDE = [receives_aside(0, 3, 2, LEASE_NS), deletes(0, 3), deletes(0, 3), receives_aside(0, 3, 2, LEASE_NS)]
_GIVES_BOTH = [_takes(2, 2), gives_back(0, 2), gives_back(0, 2)]
_GOES_IN_TURN = [puts(0, 1), puts(0, 1), _takes(2, 2), gives_back(0, 2, newest=1), gives_back(0, 2), _takes(2)]
_START_2, _START_3, _STALLED = Worker(WorkerMove.START, 2), Worker(WorkerMove.START, 3), Worker(WorkerMove.STALLED)
_GIVE_UP = KeptStep(KeptMove.GIVE_UP, 2)
_TWO_JOBS = [_START_2, puts(0, 1), puts(0, 1)]
_OPEN, _WAIT, _LATE = File(FileMove.OPEN), File(FileMove.WAIT), File(FileMove.LATE, 2)
_TUBE_ANEW = Tube(TubeMove.RESTART)
_GROUP_2, _GROUP_3 = Group(GroupMove.START, 2), Group(GroupMove.START, 3)
_NAMED_2, _NAMED_3 = Named(NamedMove.START, 2), Named(NamedMove.START, 3)
_BATCH, _BACK = receives(0, CONSUMER, 100, LEASE_NS), gives_back(0, CONSUMER)
_STOP, _FINISH = Batch(BatchMove.STOP), Batch(BatchMove.FINISH)
KEPT: list[Kept] = [
    (_moto, "Q-LEASE", [puts(0, 1), _receives(2), puts(0, 1), _receives(3), deletes(0, 2), _receives(3)]),
    (_moto, "Q-RECEIPT", _GIVES_BACK),
    (_moto, "Q-DEDUP", _PUT_TWICE),
    (
        _moto,
        "Q-DEADLETTER",
        [puts(0, 1), puts(0, 1), *_FAIL_BOTH * 2, _receives(2), _receives_aside(3, 2), deletes(0, 3)],
    ),
    (_local, "Q-LEASE", [puts(0, 1), puts(0, 1), _receives(2, 2), gives_back(0, 2), gives_back(0, 2), _receives(3)]),
    (_local, "Q-RECEIPT", _GIVES_BACK),
    (_local, "Q-DEDUP", _PUT_TWICE),
    (_local, "Q-DEADLETTER", [puts(0, 1), *[_receives(2, 1, 1), 1.3] * 2, _receives_aside(3), deletes(0, 3)]),
    (_classic, "Q-LEASE", [*_TWO_CONSUMERS, _takes(2), Step(Move.LEAVE, 2), _takes(3), deletes(0, 3), _takes(3)]),
    (_classic, "Q-LEASE", _GOES_IN_TURN),
    (_classic, "Q-CONSUMER-ONE", [*_TWO_CONSUMERS, _takes(2), Step(Move.RESTART), Step(Move.JOIN, 3), _takes(3)]),
    (_classic, "Q-DEADLETTER", [Step(Move.ASIDE), puts(0, 1), puts(0, 1), *_GIVES_BOTH, _takes(2), *_TAKES_ASIDE]),
    (_quorum, "Q-DEADLETTER", [Step(Move.ASIDE), puts(0, 1), puts(0, 1), *_GIVES_BOTH * 2, _takes(2), *_TAKES_ASIDE]),
    (_quorum, "Q-LEASE", [*_TWO_CONSUMERS, _takes(2), gives_back(0, 2), _takes(2), deletes(0, 2), _takes(2)]),
    (_quorum, "Q-CONSUMER-ONE", [*_TWO_CONSUMERS, _takes(2), Step(Move.FINISH, 2), _takes(3)]),
    (_quorum, "Q-CONSUMER-ONE", [*_TWO_CONSUMERS, _takes(2), Step(Move.RESTART), Step(Move.JOIN, 3), _takes(3)]),
    (_procrastinate, "Q-LEASE", [*_TWO_JOBS, gives_back(0, 2), _START_3, deletes(0, 2)]),
    (_procrastinate, "Q-LEASE", [puts(0, 1), puts(0, 1), _START_2, Worker(WorkerMove.KILL, 2), _START_3]),
    (_procrastinate, "Q-LEASE-ALL", [*_TWO_JOBS, Worker(WorkerMove.KILL, 2), _STALLED, _START_3]),
    (_pg_boss, "Q-LEASE", [puts(0, 1), puts(0, 1), _takes(2), gives_back(0, 2), _takes(3), deletes(0, 3), _takes(2)]),
    (_pg_boss, "Q-LEASE-ALL", [puts(0, 1), puts(0, 1), puts(0, 1, 2), Jobs(JobsMove.BOTH), _takes(2)]),
    (_pg_boss, "Q-RECEIPT", [puts(0, 1), _takes(2), Jobs(JobsMove.EXPIRE), _takes(3), deletes(0, 2), deletes(0, 3)]),
    (_bullmq, "Q-LEASE", [puts(0, 1), _takes(2), puts(0, 1), _takes(3), gives_back(0, 2), _takes(3), deletes(0, 3)]),
    (_bullmq, "Q-LEASE-ALL", [puts(0, 1), _takes(2), *[puts(0, 1)] * 3, _GIVE_UP, _takes(3)]),
    (
        _bullmq,
        "Q-LEASE-ALL",
        [puts(0, 1), _takes(2), puts(0, 1), KeptStep(KeptMove.STALL), _takes(3), deletes(0, 3), _takes(3)],
    ),
    (_beanstalkd, "Q-LEASE", [puts(0, 1), puts(0, 1), _takes(2), gives_back(0, 2, newest=1), _takes(3)]),
    (_beanstalkd, "Q-LEASE", [puts(0, 1), puts(0, 1), _takes(2), Tube(TubeMove.BURIED, 2), _takes(3)]),
    (_beanstalkd, "Q-LEASE-ALL", [puts(0, 1), _takes(2), _TUBE_ANEW, _takes(3)]),
    (
        _beanstalkd,
        "Q-RECEIPT",
        [puts(0, 1), _takes(2), extends(0, 2, LEASE_NS, 1), deletes(0, 2, 1), _TUBE_ANEW, _takes(3)],
    ),
    (_pgq, "Q-LEASE-ALL", [puts(0, OTHER_SENDER), *[_BATCH, _BACK, _FINISH] * 3, _BATCH]),
    (
        _pgq,
        "Q-LEASE-ALL",
        [Batch(BatchMove.BEGIN), puts(0, OTHER_SENDER), _BATCH, Batch(BatchMove.COMMIT), _STOP, _BATCH],
    ),
    (_groupmq, "Q-LEASE", [puts(0, 1), puts(0, 1), _GROUP_2, gives_back(0, 2), _GROUP_3, deletes(0, 2), deletes(0, 3)]),
    (_groupmq, "Q-LEASE-ALL", [puts(0, 1), puts(0, 1, 2), _GROUP_2, _GROUP_3, deletes(0, 2), puts(0, 1)]),
    (_of["graphile-worker"], "Q-LEASE", [puts(0, 1), puts(0, 1), Named(NamedMove.POOL), deletes(0, 2), deletes(0, 3)]),
    (_of["graphile-worker"], "Q-LEASE-ALL", [_NAMED_2, puts(0, 1), _NAMED_3, Named(NamedMove.LATER), deletes(0, 3)]),
    *(
        (_of[name], "Q-LEASE", [puts(0, 1), puts(0, 1), _takes(2), gives_back(0, 2, newest=1), _OPEN, _takes(3)])
        for name in ("localqueue", "simplebroker", "persist-queue", "redis-streams", "redis-lists")
    ),
    (_of["localqueue"], "Q-RECEIPT", [puts(0, 1), _receives(2, seconds=1), _WAIT, _receives(3, seconds=1), _LATE]),
    (_of["persist-queue"], "Q-LEASE-ALL", [puts(0, 1), _takes(2), _OPEN, _takes(3)]),
    (_of["redis-streams"], "Q-LEASE-ALL", [puts(0, 1), _receives(2, seconds=1), _OPEN, _WAIT, _receives(3, seconds=1)]),
    (_of["pgqueuer"], "Q-LEASE", [puts(0, 1), puts(0, 1), _takes(2), _takes(3), gives_back(0, 2, newest=1), _takes(3)]),
]

_FALLING = ("ffffffff-0000-4000-8000-000000000000", "00000000-0000-4000-8000-000000000000")
_RECORDED = [one for one in known() if one.protocol == "workqueue" and one.seen is None]
BROKEN: list[Broken] = [
    *((bad.product, bad.of.clause, bad.of.says, bad.steps) for bad, _ in map(sides, _RECORDED)),
    (_pg_boss, "Q-LEASE", "put into its group before it", [Jobs(JobsMove.INSERT, 1, 2, _FALLING), _takes(3)]),
]
