"""Logs of a run that somebody else has made: a folder with a log a node, judged afterwards.

    run.json                    protocol, network and parameters: a `RecordedRun`
    <number>-<name>.log.ndjson  a log for each node: trace rows as in spec/trace_ndjson.py, without a header
    befell.ndjson               what befell nodes, links and packets, if anything did: rows crashed, restarted and lost
    <number>-<name>.1.log.ndjson  the log of a node's second life, when it has crashed and begun anew; and so on

A node whose log is missing is not recorded: the log of one switch can be judged alone. Programs in datagram mode leave
such a folder behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from scatterproof.conformance.adapters.lives import joined
from scatterproof.conformance.adapters.logs import NodeLog, ended_row, in_flight, merge
from scatterproof.conformance.adapters.recorded_run import VERSION, RecordedRun
from scatterproof.conformance.checks.rows import row_rules
from scatterproof.conformance.network.run import catalogue_version
from scatterproof.conformance.protocol import load
from scatterproof.spec.errors import BadInput
from scatterproof.spec.files import read_bytes, write_atomically
from scatterproof.spec.protocol import refuse_network
from scatterproof.spec.topology import NodeId, Topology, validate
from scatterproof.spec.trace import ABSENT, CLEAN, QUIESCENT, Header, Kind, Order, Row, Trace, schema
from scatterproof.spec.trace_ndjson import decode_row, encode_row

RUN_FILE = "run.json"
BEFELL_FILE = "befell.ndjson"
SUFFIX = ".log.ndjson"
# What a node can log of itself. Failures are the doing of whoever runs it.
LOGGED = (Kind.SUBMITTED, Kind.SENT, Kind.ARRIVED, Kind.DELIVERED, Kind.REFUSED, Kind.BEGUN)
CALLS = (Kind.CALLED, Kind.RETURNED)  # and a client alone
_BEFALLS = (Kind.CRASHED, Kind.RESTARTED, Kind.LOST)


def log_path(folder: Path, node: NodeId, topology: Topology, life: int = 0) -> Path:
    """life: from 0, how often the node has begun anew."""
    return folder / f"{node}-{topology.nodes[node].name}{f'.{life}' if life else ''}{SUFFIX}"


def write_run(folder: Path, run: RecordedRun) -> None:
    write_atomically(folder / RUN_FILE, msgspec.json.format(msgspec.json.encode(run), indent=1) + b"\n")


def write_befell(folder: Path, befell: Sequence[Row], protocol: str) -> None:
    """Write what befell nodes, links and packets; no file when nothing did."""
    if befell:
        write_atomically(folder / BEFELL_FILE, b"".join(encode_row(row, schema(protocol)) + b"\n" for row in befell))


def read_befell(folder: Path, run: RecordedRun) -> list[Row]:
    """What befell nodes, links and packets; nothing when there is no file. BadInput for rows of anything else."""
    path = folder / BEFELL_FILE
    if not path.is_file():
        return []
    names, rules = schema(run.protocol), row_rules(run.protocol, run.topology)
    kind_at = names.index("kind")
    rows: list[Row] = []
    for number, line in enumerate(read_bytes(path, "record").splitlines(), 1):
        row = decode_row(line, names, f"{path}: line {number}")
        if row[kind_at] not in _BEFALLS or rules.flaw(row) is not None:
            kinds = ", ".join(kind.name.lower() for kind in _BEFALLS)
            raise BadInput(f"{path}: line {number} does not befall anything of the run; give rows of {kinds}, each of "
                           "a node or a link that is there")  # fmt: skip
        rows.append(row)
    return rows


def read_run(folder: Path) -> RecordedRun:
    """The folder's run file; BadInput names it, and what is wrong with it."""
    path = folder / RUN_FILE
    try:
        run = msgspec.json.decode(read_bytes(path, "run"), type=RecordedRun)
    except msgspec.DecodeError as error:
        raise BadInput(f"{path}: does not describe a run: {error}") from None
    if run.format != VERSION:
        raise BadInput(f"{path}: format is {run.format}, this version reads {VERSION}; write the file anew")
    nodes = range(len(run.topology.nodes))
    try:
        load(run.protocol).parameters(run.parameters)
        validate(run.topology)
        refuse_network(run.protocol, run.topology)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    if schema(run.protocol).calls and run.order is not Order.GLOBAL and len(run.topology.clients()) > 1:
        raise BadInput(f'{path}: calls of several clients are compared by their times, and order is "link"; write '
                       '"order": "global" where time_ns of all logs is of one clock')  # fmt: skip
    for kind, recorded in (run.complete or {}).items():
        if kind not in schema(run.protocol).kinds or not set(recorded) <= set(nodes):
            kinds = ", ".join(schema(run.protocol).kinds)
            raise BadInput(f"{path}: complete names {kind!r} of nodes {list(recorded)}; kinds are {kinds}, nodes "
                           f"0 to {len(nodes) - 1}")  # fmt: skip
    return run


def read_logs(folder: Path, name: str) -> Trace:
    """The trace of the folder's logs, merged. A log with a flaw counts up to there, and the run as cut: nobody knows
    what else happened. BadInput for a folder without a usable run file or without logs."""
    run = read_run(folder)
    befell = read_befell(folder, run)
    everybody = range(len(run.topology.nodes))
    paths = [
        [log_path(folder, node, run.topology, life) for life in range(1 + _begun_anew(befell, node, run.protocol))]
        for node in everybody
    ]
    known = {path for own in paths for path in own}
    strangers = sorted(path.name for path in folder.glob(f"*{SUFFIX}") if path not in known)
    if strangers:
        expected = ", ".join(own[0].name for own in paths[:3])
        raise BadInput(f"{folder / strangers[0]}: is the log of no node of {RUN_FILE}; names are {expected}, ...")
    there = [node for node in everybody if all(path.is_file() for path in paths[node])]
    if not there:
        raise BadInput(f"{folder}: there is no log in it; one of them would be {paths[0][0].name}")
    lives = [[NodeLog(path, node, run.protocol, run.topology) for path in paths[node]] for node in everybody]
    for log in (log for own in lives for log in own):
        log.read_more()
    complete = run.complete
    if complete is None:
        complete = _complete(run, there) if run.clean else {}
        if run.clean and len(there) == len(everybody) and load(run.protocol).fifo_links:
            # A packet that later ones on its link overtook, or that never arrived in a run that settled.
            complete[Kind.LOST.name.lower()] = tuple(there)
    header = Header(
        protocol=run.protocol,
        topology=run.topology,
        parameters=run.parameters,
        complete=complete,
        order=run.order,
        iut=name,
        seed=run.seed,
        catalogue=catalogue_version(run.protocol),
        notes=run.notes,
    )
    return assemble(lives, befell, header, (), clean=run.clean)


def _complete(run: RecordedRun, there: Sequence[NodeId]) -> dict[str, tuple[NodeId, ...]]:
    """What the logs of these nodes have all of, where the run was clean."""
    complete = {kind.name.lower(): tuple(there) for kind in LOGGED}
    if schema(run.protocol).calls:
        silent = set(run.topology.clients()) - set(there)
        called = tuple(node for node in range(len(run.topology.nodes)) if node not in silent)
        complete |= {kind.name.lower(): called for kind in CALLS}
    return complete


def _begun_anew(befell: Sequence[Row], node: NodeId, protocol: str) -> int:
    """How often the node has begun anew."""
    at = [schema(protocol).index(name) for name in ("kind", "node", "link")]
    return sum([row[place] for place in at] == [Kind.RESTARTED, node, ABSENT] for row in befell)


def assemble(
    lives: Sequence[Sequence[NodeLog]], befell: Sequence[Row], header: Header, failures: Sequence[str], *, clean: bool
) -> Trace:
    """The trace of what the logs hold so far, by node and life. It ends clean when the run did (`clean`), nothing
    failed and no log has a flaw; quiescent when besides no message was on its way; what is known of the nodes is less
    when it is neither."""
    protocol = header.protocol
    names = schema(protocol)
    digest_at, time_at, kind_at = names.index("digest"), names.index("time_ns"), names.index("kind")
    link_at, seq_at = names.index("link"), names.index("link_seq")
    lost = {(row[link_at], row[seq_at]) for row in befell if row[kind_at] == Kind.LOST}
    logs = joined([[log.rows for log in own] for own in lives], befell, protocol, header.topology)
    rows, contradictions = merge(logs, protocol, lost)
    flaws = (log.flaw for own in lives for log in own if log.flaw is not None)
    failures = [*failures, *flaws, *contradictions]
    clean = clean and not failures
    # A packet with the contents of what was handed over carries a message; others are always on their way when the
    # nodes stop.
    contents = {row[digest_at] for row in rows if row[kind_at] == Kind.SUBMITTED} - {ABSENT}
    quiescent = clean and not any(row[digest_at] in contents for row in in_flight(rows, protocol))
    last = max((row[time_at] for row in rows), default=0)
    rows.append(ended_row(protocol, last, (CLEAN if clean else 0) | (QUIESCENT if quiescent else 0)))
    complete = header.complete
    if failures:
        # Nobody knows what else happened at nodes that did not end as they should.
        complete = {}
    elif not quiescent:
        complete = {kind: nodes for kind, nodes in complete.items() if kind != Kind.LOST.name.lower()}
    return Trace(msgspec.structs.replace(header, complete=complete, notes=(*failures, *header.notes)), rows)
