"""Whether a clause is at stake: what a reader said of traces at the edge of it, in `fuzz/<protocol>/at_stake.toml`.

Oracles say which rows break a clause, and not whether anything could have broken it. So this is written by hand, from
the clause's sentence: of a labelled trace, or of one that is damaged as `scatterproof.fuzz.damages` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from scatterproof.fuzz.damages import titled
from scatterproof.spec.errors import BadInput
from scatterproof.spec.files import read_bytes
from scatterproof.spec.trace import Trace


class Stakes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """By trace, clauses. A trace is named as `damages.titled` has it.

    at_stake: those that it puts at stake, and that hold.
    idle: those that it does not put at stake.
    """

    at_stake: dict[str, tuple[str, ...]] = {}
    idle: dict[str, tuple[str, ...]] = {}


def stakes_file(name: str) -> Path:
    return Path(__file__).parent / name / "at_stake.toml"


def stakes_of(name: str) -> Stakes:
    """What is said of the traces of a protocol. Raises BadInput for an invalid file."""
    path = stakes_file(name)
    if not path.is_file():
        return Stakes()
    try:
        return msgspec.toml.decode(read_bytes(path, "stakes"), type=Stakes)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: {error}; give clauses for each trace below [at_stake] or [idle]") from None


def staked(name: str) -> Iterator[tuple[str, Trace, tuple[str, ...]]]:
    """The traces, with a title each, and the clauses that something is said of. Raises BadInput for one that is not
    there any more."""
    stakes = stakes_of(name)
    for title in {**stakes.at_stake, **stakes.idle}:
        clauses = *stakes.at_stake.get(title, ()), *stakes.idle.get(title, ())
        yield title, titled(name, title, stakes_file(name)), clauses
