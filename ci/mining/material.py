"""Corpora to measure with: simulated runs, some of them damaged, and as many copies as a size asks for.

Simulating takes far longer than mining, so a corpus of any size is the same runs over and over, each copy under run
numbers and node names of its own. What is derived from a network's roles and links alone can be shared by copies.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from scatterproof.conformance.protocol import load
from scatterproof.spark.corpus import make_corpus
from scatterproof.spark.layout import MANIFEST, Manifest, RunEntry, events_path, read_manifest, runs_path
from scatterproof.spark.protocol import benchmark_of
from scatterproof.spark.read import RunSpan, parts_of, read_spans
from scatterproof.spec.files import write_atomically
from scatterproof.spec.topology import Role
from scatterproof.spec.trace import ABSENT, Header, Kind
from scatterproof.spec.trace_parquet import ROW_GROUP_ROWS, events_schema, events_writer, headers_table

SEED = 7
FILES = 4
RUNS = 120  # some 1e6 events
EVENTS_A_RUN = 8_000
DAMAGED_RUNS = 5  # every fifth run: in enough runs, each kind is damaged
DAMAGES = 12
SAID_FROM = 100  # files that take longer to write than one cares to wait in silence


@dataclass(frozen=True, slots=True)
class Base:
    """The runs that corpora are made of.

    tables: the rows of each file.
    spans: the runs of each file.
    entries: the runs in the manifest.
    """

    protocol: str
    tables: tuple[pa.Table, ...]
    spans: tuple[tuple[RunSpan, ...], ...]
    entries: tuple[RunEntry, ...]

    @property
    def events(self) -> int:
        return sum(len(table) for table in self.tables)


def simulated(protocol: str, events: int, folder: Path, master: str) -> Base:
    """Simulate runs with about `events` events, at most RUNS of them; one in DAMAGED_RUNS is damaged."""
    runs = max(2 * FILES, min(RUNS, events // EVENTS_A_RUN))
    make_corpus(protocol, runs, SEED, folder, master, files=FILES)
    parts = parts_of(folder)
    spans = tuple(tuple(read_spans(part)) for part in parts)
    tables = tuple(
        _damaged(pq.read_table(part.events), here, protocol) for part, here in zip(parts, spans, strict=True)
    )
    return Base(protocol, tables, spans, read_manifest(folder).runs)


def _damaged(table: pa.Table, spans: Sequence[RunSpan], protocol: str) -> pa.Table:
    """The rows of a file, with values changed in some rows of some runs, in the columns that the protocol names."""
    names = benchmark_of(protocol).damaged
    columns = {name: table.column(name).to_numpy().copy() for name in table.column_names}
    for span in spans:
        draw = Random(f"damage {span.header.run}")
        rows = np.arange(span.first, span.first + span.rows)
        for kind in (Kind.SENT, Kind.DELIVERED):
            places = rows[columns["kind"][rows] == kind]
            if span.header.run % DAMAGED_RUNS == DAMAGED_RUNS // 2 and len(places) > DAMAGES:
                _damage(columns, rows, places, names, draw)
    return pa.table(list(columns.values()), schema=events_schema(protocol))


def _damage(
    columns: dict[str, npt.NDArray[np.int64]],
    rows: npt.NDArray[np.int64],
    places: npt.NDArray[np.int64],
    names: Sequence[str],
    draw: Random,
) -> None:
    """Damage a run in some of these places, in one column or two. A packet is changed wherever it is on its link:
    otherwise judges would refuse the run."""
    link, number = columns["link"][rows], columns["link_seq"][rows]
    for _ in range(DAMAGES):
        at, other = (int(places[draw.randrange(len(places))]) for _ in range(2))
        here = at - rows[0]
        same = rows[(link == link[here]) & (number == number[here])] if number[here] != ABSENT else at
        for name in draw.sample(names, draw.choice((1, 2))):
            columns[name][same] = max(-1, columns[name][other] + draw.choice((-1, 0, 1)))


def enlarged(base: Base, events: int, corpus: Path, say: Callable[[str], None] = lambda line: None) -> int:
    """Make a corpus of about `events` events, and return how many it has. The files of `networks` are made, too. say:
    takes a line for each tenth of a large one."""
    copies = max(1, round(events / base.events))
    for folder in (corpus / "events", corpus / "runs"):
        folder.mkdir(parents=True)
    numbers = [(copy, file) for copy in range(copies) for file in range(len(base.tables))]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        headers: list[Header] = []
        for done, of_file in enumerate(threads.map(partial(_write_copy, base, corpus), *zip(*numbers, strict=True)), 1):
            headers += of_file
            if done * 10 // len(numbers) > (done - 1) * 10 // len(numbers) and len(numbers) >= SAID_FROM:
                say(f"{corpus.name} events: {done * 100 // len(numbers)} % written")
    entries = tuple(
        msgspec.structs.replace(
            entry, run=_renumbered(base, entry.run, copy), file=copy * len(base.tables) + entry.file
        )
        for copy in range(copies)
        for entry in base.entries
    )
    total = copies * base.events
    manifest = Manifest(protocol=base.protocol, seed=SEED, files=len(numbers), events=total, runs=entries)
    write_atomically(corpus / MANIFEST, msgspec.json.encode(manifest))
    _write_networks(headers, corpus)
    return total


def _renumbered(base: Base, run: int, copy: int) -> int:
    return run + copy * len(base.entries)


def _write_copy(base: Base, corpus: Path, copy: int, file: int) -> list[Header]:
    table, number = base.tables[file], copy * len(base.tables) + file
    run = pa.array(table.column("run").to_numpy() + copy * len(base.entries))
    table = table.set_column(0, table.schema.field("run"), run)
    with events_writer(events_path(corpus, number), table.schema) as writer:
        writer.write_table(table, row_group_size=ROW_GROUP_ROWS)
    headers = [_header(base, span.header, copy) for span in base.spans[file]]
    pq.write_table(headers_table(headers, [span.rows for span in base.spans[file]]), runs_path(corpus, number))
    return headers


def _header(base: Base, header: Header, copy: int) -> Header:
    nodes = tuple(msgspec.structs.replace(node, name=f"{node.name}.{copy}") for node in header.topology.nodes)
    topology = msgspec.structs.replace(header.topology, nodes=nodes)
    return msgspec.structs.replace(header, run=_renumbered(base, header.run, copy), topology=topology)


def networks(corpus: Path) -> tuple[Path, Path]:
    """Paths of two tables with what the headers say, for tools that read tables: (run, each parameter as an integer,
    and for each clause whether it applies), and (run, node, is_host)."""
    return corpus / "networks" / "runs.parquet", corpus / "networks" / "nodes.parquet"


def _write_networks(headers: Sequence[Header], corpus: Path) -> None:
    plugin = load(headers[0].protocol)
    clauses = [check.clause for check in plugin.checks]
    runs = [
        {
            "run": header.run,
            **plugin.parameters(header.parameters),
            **{clause: plugin.not_applicable(clause, header.parameters) is None for clause in clauses},
        }
        for header in headers
    ]
    nodes = [
        {"run": header.run, "node": number, "is_host": node.role is Role.HOST}
        for header in headers
        for number, node in enumerate(header.topology.nodes)
    ]
    for path, rows in zip(networks(corpus), (runs, nodes), strict=True):
        path.parent.mkdir(exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows), path)
