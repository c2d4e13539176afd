"""What `corpus --plant` takes: a mutant that the kill matrix knows, or an altered row, and in how many runs."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Sequence
from functools import partial

from scatterproof.conformance import protocol as protocols
from scatterproof.conformance.network.run import MakeNode
from scatterproof.iuts import mutants
from scatterproof.spark.layout import ROW
from scatterproof.spark.plants import Wish, row_wish
from scatterproof.spec.errors import BadInput

SHARE = 0.01
_COUNT, _SHARED = re.compile(r"[0-9]{1,9}"), re.compile(r"[0-9]{0,9}\.[0-9]{1,9}")


def wishes_of(given: Sequence[str], protocol: str) -> list[Wish]:
    """The wishes that are given as `MUTANT[:RATE]`. Raises BadInput for an unknown mutant or clause, with near ones,
    and for a wrong rate."""
    return [_wish(text, protocol) for text in given]


def _wish(text: str, protocol: str) -> Wish:
    name, colon, rate = text.partition(":")
    wanted = _rate(text, rate) if colon else SHARE
    if name.startswith(ROW):
        clause = name.removeprefix(ROW)
        clauses = [check.clause for check in protocols.load(protocol).checks]
        if clause != "any":
            _refuse_unknown(name, [f"{ROW}{known}" for known in clauses], f"{ROW}any takes any clause")
        return row_wish("" if clause == "any" else clause, wanted)
    _refuse_unknown(name, mutants(protocol), "`fuzz --mutants` lists all")
    return Wish(name=name, wanted=wanted, nodes=partial(mutant_nodes, protocol, name))


def _rate(text: str, rate: str) -> int | float:
    """A share of the runs with a point, a number of runs without."""
    if _COUNT.fullmatch(rate):
        return int(rate)
    if _SHARED.fullmatch(rate):
        return float(rate)
    raise BadInput(f"--plant {text!r}: {rate!r} is no rate; give a share of the runs such as 0.001, or how many as 1")


def _refuse_unknown(name: str, known: Collection[str], further: str) -> None:
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.0)
        raise BadInput(f"--plant {name!r} is unknown; near it are {', '.join(near)} ({further})")


def mutant_nodes(protocol: str, name: str) -> MakeNode:
    """The reference core with one mutation, as the kill matrix names it."""
    return mutants(protocol)[name]
