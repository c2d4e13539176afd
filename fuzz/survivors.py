"""The triage of mutants that nothing kills, one by one: in `fuzz/<protocol>/survivors.toml`, and of judges in
`judge_survivors.toml`.

Each entry has a standing, a reason, and the mutants by name; `scatterproof.fuzz.core_mutants` says how they are named.
The file also sets the least share of a sample that must be killed.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import msgspec

from scatterproof.spec.errors import BadInput
from scatterproof.spec.files import read_bytes

FOLDER = Path(__file__).parent


class SurvivorStanding(StrEnum):
    EQUIVALENT = "equivalent"  # no run of right neighbours can tell it, whatever the schedule
    PACE = "pace only"  # things happen sooner or later, never otherwise; no clause speaks of it
    ALLOWED = "allowed"  # it does something else, which no clause forbids: the reason says what sentence there is
    OPEN = "open"  # it breaks something, or may, and nothing shows it


class SurvivorEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    standing: SurvivorStanding
    reason: str
    mutants: tuple[str, ...]


class Triage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """at_least: the least share to kill of the mutants that can be killed, set below what was measured.
    done: areas in which every survivor has been looked at; one that is not listed is new.
    """

    at_least: float = 0.0
    done: tuple[str, ...] = ()
    survivors: tuple[SurvivorEntry, ...] = ()

    @property
    def by_mutant(self) -> dict[str, SurvivorEntry]:
        return {mutant: entry for entry in self.survivors for mutant in entry.mutants}


def file_of(protocol: str, *, judges: bool = False) -> Path:
    return FOLDER / protocol / ("judge_survivors.toml" if judges else "survivors.toml")


def triage(protocol: str, *, judges: bool = False) -> Triage:
    """The triage of core mutants, or of judge mutants. Raises BadInput for an invalid file, and for a mutant in two
    entries."""
    path = file_of(protocol, judges=judges)
    if not path.is_file():
        return Triage()
    try:
        found = msgspec.toml.decode(read_bytes(path, "survivors"), type=Triage)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: {error}; give each entry a standing, a reason and mutants") from None
    seen: set[str] = set()
    for entry in found.survivors:
        if not entry.reason.strip():
            raise BadInput(f"{path}: the entry of {entry.mutants[0] if entry.mutants else 'nothing'} has no reason")
        for mutant in entry.mutants:
            if mutant in seen:
                raise BadInput(f"{path}: {mutant} is in two entries; leave one out")
            seen.add(mutant)
    return found
