"""The wire formats of protocols (spec/<protocol>/wire.toml), as judges read them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from struct import Struct
from typing import Any

from scatterproof.spec.clauses import SPEC

_CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}


def wire_of(protocol: str) -> Mapping[str, Any]:
    return tomllib.loads((SPEC / protocol / "wire.toml").read_text(encoding="utf-8"))


class Layout:
    """Fields in network order, one after another."""

    def __init__(self, fields: Sequence[Mapping[str, Any]]) -> None:
        self._names = [field["name"] for field in fields]
        self._struct = Struct("!" + "".join(_CODES[field["bytes"]] for field in fields))
        self.size = self._struct.size

    def read(self, datagram: bytes, at: int = 0) -> dict[str, int]:
        return dict(zip(self._names, self._struct.unpack_from(datagram, at), strict=True))
