"""What is known of a protocol's mutants by their names: `fuzz/<protocol>/mutants.toml`."""

from __future__ import annotations

import msgspec

from scatterproof.fuzz.survivors import FOLDER


class Tables(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """breaks: for each clause the name of a mutant that breaks it in one of the cases that are about it, so that no
        clause is checked in vain.
    on_model: by mutant name, the operator of the TLA+ modules that says the same, as (constant, operator).
    sentences: what hand-written mutants do, where their module does not say it.
    areas: where core mutants are made, `module` or `module:function`, and by which area they are counted.
    """

    breaks: dict[str, str]
    on_model: dict[str, tuple[str, str]]
    areas: dict[str, str]
    sentences: dict[str, str] = {}


def tables_of(protocol: str) -> Tables:
    found = msgspec.toml.decode((FOLDER / protocol / "mutants.toml").read_bytes(), type=Tables)
    areas = {f"scatterproof.impl.{protocol}.{place}": area for place, area in found.areas.items()}
    return msgspec.structs.replace(found, areas=areas)
