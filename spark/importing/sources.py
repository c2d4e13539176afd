"""Which files are which runs: single files by the ends of their names; a folder with one file a node as one run, where
the mapping has a pattern for their names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path

import msgspec

from scatterproof.spark.importing.node_files import CAPTURES
from scatterproof.spark.mapping import Mapping
from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import NodeId


class SourceKind(StrEnum):
    NDJSON = "ndjson"
    CSV = "csv"
    HISTORY = "history"
    CAPTURE = "capture"
    LOG = "log"
    NODES = "nodes"


_ENDINGS = {".ndjson": SourceKind.NDJSON, ".jsonl": SourceKind.NDJSON, ".csv": SourceKind.CSV}
_ENDINGS[".edn"] = SourceKind.HISTORY
_ENDINGS |= dict.fromkeys(CAPTURES, SourceKind.CAPTURE)


class NodeFile(msgspec.Struct, frozen=True):
    path: Path
    node: NodeId


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """What one task item reads: a file, or for kind NODES the files of a run's nodes.

    run: its number, unless the file numbers runs itself.
    """

    path: Path
    kind: SourceKind
    bytes: int
    run: int = 0
    files: tuple[NodeFile, ...] = ()


class FoundSources(msgspec.Struct, frozen=True):
    """passed_over: files in the folders that are no source."""

    sources: tuple[Source, ...]
    passed_over: tuple[Path, ...]


def find_sources(given: Sequence[Path], mapping: Mapping) -> FoundSources:
    """The sources, in order, numbered. BadInput for a path that does not exist, and where nothing can be read."""
    sources: list[Source] = []
    passed_over: list[Path] = []
    for path in given:
        if not path.exists():
            raise BadInput(f"{path}: no such file or folder; give one that exists")
        if path.is_dir():
            sources += _of_folder(path.absolute(), mapping, passed_over)
        else:
            kind = _kind_of(path, mapping)
            if kind is None:
                known = ", ".join(_ENDINGS)
                raise BadInput(f"{path}: what it holds is not known by its name; end it with one of {known}, or map it")
            sources.append(Source(path=path.absolute(), kind=kind, bytes=path.stat().st_size))
    if not sources:
        tried = ", ".join(map(str, given))
        raise BadInput(f"{tried}: nothing to import; give traces (.ndjson, .csv), captures (.pcap), or map logs")
    _refuse_headerless(sources, mapping)
    numbered = [msgspec.structs.replace(source, run=run) for run, source in enumerate(sources)]
    return FoundSources(tuple(numbered), tuple(passed_over))


def _of_folder(folder: Path, mapping: Mapping, passed_over: list[Path]) -> Iterator[Source]:
    """Below `folder`, by path: with [files] node, each folder that holds files of nodes is one run."""
    if mapping.node is None:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            kind = _kind_of(path, mapping)
            if kind is None:
                passed_over.append(path)
            else:
                yield Source(path=path, kind=kind, bytes=path.stat().st_size)
        return
    for place in sorted([folder, *(path for path in folder.rglob("*") if path.is_dir())]):
        files = _files_of_nodes(place, mapping, passed_over)
        if files:
            size = sum(file.path.stat().st_size for file in files)
            yield Source(path=place, kind=SourceKind.NODES, bytes=size, files=files)


def _files_of_nodes(folder: Path, mapping: Mapping, passed_over: list[Path]) -> tuple[NodeFile, ...]:
    assert mapping.node is not None
    found: list[NodeFile] = []
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        (named,) = mapping.node.search([os.fsencode(path.name)])
        if named is None:
            passed_over.append(path)
            continue
        node = mapping.nodes.get(named["node"])
        if node is None:
            known = ", ".join(mapping.nodes) or "none"
            raise BadInput(f"{path}: is of node {named['node']!r}, which is not in the header; there are {known}")
        other = next((one.path.name for one in found if one.node == node), None)
        if other is not None:
            raise BadInput(f"{path}: is of node {named['node']!r}, as {other} is; put both into one file")
        found.append(NodeFile(path, node))
    return tuple(found)


def _kind_of(path: Path, mapping: Mapping) -> SourceKind | None:
    suffix = path.suffix.lower()
    if suffix in CAPTURES:
        return SourceKind.CAPTURE
    if mapping.lines or mapping.json:
        return SourceKind.LOG
    return _ENDINGS.get(suffix)


def _refuse_headerless(sources: Sequence[Source], mapping: Mapping) -> None:
    """BadInput for a source without a header where the mapping has none: only traces and histories bring their own."""
    if mapping.header is None:
        for source in sources:
            if source.kind not in (SourceKind.NDJSON, SourceKind.HISTORY):
                raise BadInput(f"{source.path}: does not say which network it is of; give --mapping with a header")
