"""The clause catalogues, one ``<protocol>/clauses.toml`` a protocol: loaded, validated, rendered as a page.

A clause has one name in every layer: ``TimestampsRise`` is the TLA+ operator, ``timestamps_rise`` the Z3
claim, the check and the oracle, and cases cite the id. So a catalogue only says *which* layers check a clause
now; how the clause is spelled there follows from its name. Every other layer must have a reason.

``python -m scatterproof.spec.clauses`` writes CLAUSES.md; with ``--check`` it exits with 1 when the page is stale.
Faults of a catalogue raise a ``BadInput`` that names the file, the place and how to mend it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from scatterproof.spec.errors import BadInput
from scatterproof.spec.place import Place

SPEC: Path = Path(__file__).resolve().parent
"""The folder that holds one folder a protocol."""

FILE_NAME = "clauses.toml"
LAST = 1 << 30
"""The place of a catalogue that asks for none: behind all that do, by name."""


class ClauseKind(StrEnum):
    """What a clause speaks about."""

    SAFETY = "safety"
    LIVENESS = "liveness"
    FORMAT = "format"
    PERFORMANCE = "performance"


class Level(StrEnum):
    """How strongly a clause binds; the word stands in its sentence."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"


class Layer(StrEnum):
    """Where a clause can be checked."""

    TLC = "tlc"
    Z3 = "z3"
    ORACLE = "oracle"
    CHECK = "check"
    CASE = "case"


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal:
    """A rule as the source has it, and what is suspected of it."""

    id: str
    rule: str
    suspicion: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One rule of a protocol. ``layers`` and ``not_yet`` together name every layer once."""

    id: str
    name: str
    kind: ClauseKind
    level: Level
    must: str
    source: str
    environments: tuple[str, ...]
    literals: tuple[Literal, ...]
    layers: Mapping[Layer, str]
    """The layers that check the clause now, each with the clause's spelling there."""
    not_yet: Mapping[Layer, str]
    """The other layers, each with the reason."""
    explains: tuple[str, ...] = ()
    """Less specific clauses that it explains: a row that breaks it breaks them, too."""

    @property
    def snake_name(self) -> str:
        """The name as Python and Z3 spell it."""
        return snake_case(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceClaim:
    """A numbered claim of the source, in short, with the clauses that cover it."""

    id: str
    says: str
    clauses: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """All clauses of one protocol, in the order of its file."""

    protocol: str
    version: str
    title: str
    sources: Mapping[str, str]
    environments: Mapping[str, str]
    claim_groups: Mapping[str, str]
    clauses: tuple[Clause, ...]
    claims: tuple[SourceClaim, ...]

    @property
    def by_name(self) -> dict[str, Clause]:
        """The clauses by CamelCase name."""
        return {clause.name: clause for clause in self.clauses}

    @property
    def by_id(self) -> dict[str, Clause]:
        """The clauses by id."""
        return {clause.id: clause for clause in self.clauses}

    def clause(self, clause_id: str) -> Clause:
        """The clause of that id. Raises BadInput, with the nearest ids, when there is none."""
        found = self.by_id.get(clause_id)
        if found is None:
            raise BadInput(f"{self.protocol} has no clause {clause_id!r}: {_nearest(clause_id, self.by_id)}.")
        return found

    def claim(self, claim_id: str) -> SourceClaim:
        """The numbered claim with that id. Raises BadInput when the source has no such claim."""
        by_id = {claim.id: claim for claim in self.claims}
        found = by_id.get(claim_id)
        if found is None:
            raise BadInput(f"{self.protocol} has no claim {claim_id!r}: {_nearest(claim_id, by_id)}.")
        return found

    def claims_of(self, clause_id: str) -> tuple[str, ...]:
        """The ids of the source's claims that the clause covers."""
        return tuple(claim.id for claim in self.claims if clause_id in claim.clauses)


def snake_case(name: str) -> str:
    """``DeliverBelowBarrier`` as ``deliver_below_barrier``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def spelling(clause_id: str, name: str, layer: Layer) -> str:
    """How a layer spells the clause: its name, its name in snake_case, or its id."""
    match layer:
        case Layer.TLC:
            return name
        case Layer.CASE:
            return clause_id
        case Layer.Z3 | Layer.CHECK | Layer.ORACLE:
            return snake_case(name)


def protocols(folder: Path = SPEC) -> tuple[str, ...]:
    """The protocols that have a catalogue: the folders of ``folder`` that hold a clauses.toml, by their ``place``."""
    files = {path.parent.name: path for path in folder.glob(f"*/{FILE_NAME}")}
    return tuple(sorted(files, key=lambda name: (_place(files[name]), name)))


@cache
def _place(file: Path) -> int:
    """The place that a catalogue asks for, read once; last where it cannot be read, which ``load`` reports."""
    try:
        place = tomllib.loads(file.read_text(encoding="utf-8")).get("place", LAST)
    except (OSError, ValueError):
        return LAST
    return place if isinstance(place, int) else LAST


def load(protocol: str, folder: Path = SPEC) -> Catalogue:
    """The validated catalogue of a protocol, read once. Raises BadInput when there is none or when it is not sound."""
    return _kept(protocol) if folder == SPEC else _read(protocol, folder)


@cache
def _kept(protocol: str) -> Catalogue:
    return _read(protocol, SPEC)


def _read(protocol: str, folder: Path) -> Catalogue:
    known = protocols(folder)
    if protocol not in known:
        raise BadInput(
            f"There is no protocol {protocol!r}: {folder / protocol / FILE_NAME} is missing; "
            f"the protocols that exist are: {', '.join(known) or 'none so far'}."
        )
    file = folder / protocol / FILE_NAME
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{file}: not valid TOML: {error}; mend that line.") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{file}: byte {error.start} is not UTF-8; save the file as UTF-8.") from error
    except OSError as error:
        raise BadInput(f"{file}: cannot be read ({error.strerror}); make it a readable file.") from error
    return _catalogue(Place(str(file)), table, protocol)


# ------------------------------------------------------------------------------------------------ validation

ID = re.compile(r"[A-Z]+(-[A-Z0-9]+)+")
NAME = re.compile(r"([A-Z][a-z0-9]+)+")
LITERAL_ID = re.compile(r"lit-[a-z0-9]+")
LEVEL_WORD = re.compile(r"\b(MUST|SHOULD|MAY)\b")
SENTENCE_END = re.compile(r"[.!?]\s")


def _nearest(word: str, known: Collection[str]) -> str:
    import difflib  # for errors alone, and every node of a run reads the names of protocols

    near = difflib.get_close_matches(word, known, n=3, cutoff=0.5) or [*known][:3]
    return f"the nearest are {', '.join(near)}" if near else "it has none at all"


def _catalogue(at: Place, table: Mapping[str, object], protocol: str) -> Catalogue:
    at.keys(table, "protocol version title sources clause", "place environments claim_groups claims")
    if not isinstance(table.get("place", LAST), int):
        at.refuse(f"place is {table['place']!r}", "write a whole number: protocols are listed by it")
    if at.string(table, "protocol") != protocol:
        at.refuse(f"protocol is {table['protocol']!r}", f"write {protocol!r}, the name of its folder")
    sources = at.texts(table, "sources")
    environments = at.texts(table, "environments")
    clauses: list[Clause] = []
    for number, entry in enumerate(at.tables(table, "clause"), start=1):
        clause = _clause(at, entry, number, sources, environments)
        for other in clauses:
            if other.id == clause.id:
                at.refuse(f"the id {clause.id} is used twice", "ids are never reused: give one of them a new id")
            if other.name == clause.name:
                at.refuse(f"{other.id} and {clause.id} share the name {clause.name}", "rename one of them")
        clauses.append(clause)
    if not clauses:
        at.refuse("there is no clause in it", "add a [[clause]]")
    _check_explanations(at, clauses)
    groups, numbers = _claim_groups(at, table)
    return Catalogue(
        protocol=protocol,
        version=at.string(table, "version"),
        title=at.string(table, "title"),
        sources=sources,
        environments=environments,
        claim_groups=groups,
        clauses=tuple(clauses),
        claims=_claims(at, at.table(table, "claims"), numbers, [clause.id for clause in clauses]),
    )


def _clause(
    at: Place,
    entry: Mapping[str, object],
    number: int,
    sources: Mapping[str, str],
    environments: Mapping[str, str],
) -> Clause:
    if "id" not in entry:
        (at / f"clause {number} of the file").refuse("it has no id", 'add id = "..."')
    clause_id = (at / f"clause {number} of the file").string(entry, "id")
    here = at / clause_id
    if not ID.fullmatch(clause_id):
        here.refuse("this is not a clause id", "write capitals and digits in parts joined by hyphens: XX-RULE-1")
    here.keys(entry, "id name kind level must source", "environments literal layers not_yet explains")
    name = here.string(entry, "name")
    if not NAME.fullmatch(name):
        here.refuse(f"the name {name!r} is not CamelCase", "write words of at least two letters: DeliverBelow")
    level = here.member(Level, here.string(entry, "level"), "level")
    layers = [here.member(Layer, word, "layer") for word in here.strings(entry, "layers")]
    return Clause(
        id=clause_id,
        name=name,
        kind=here.member(ClauseKind, here.string(entry, "kind"), "kind"),
        level=level,
        must=_sentence(here, here.string(entry, "must"), level),
        source=_source(here, here.string(entry, "source"), sources),
        environments=_environments(here, here.strings(entry, "environments"), environments),
        literals=_literals(here, here.tables(entry, "literal")),
        layers={layer: spelling(clause_id, name, layer) for layer in Layer if layer in layers},
        not_yet=_not_yet(here, entry, layers),
        explains=here.strings(entry, "explains"),
    )


def _check_explanations(at: Place, clauses: Sequence[Clause]) -> None:
    """Refuse explanations that name an unknown clause, and those that explain each other."""
    ids = [clause.id for clause in clauses]
    for clause in clauses:
        for other in clause.explains:
            if other not in ids:
                (at / clause.id).refuse(f"it explains {other!r}, which is unknown", _nearest(other, ids))
    try:
        TopologicalSorter({clause.id: clause.explains for clause in clauses}).prepare()
    except CycleError as error:
        at.refuse(f"{', '.join(error.args[1])} explain each other", "leave one of them out of 'explains'")


def _sentence(here: Place, must: str, level: Level) -> str:
    """One sentence with the level's word, and no other level's, since a verdict hangs on the word."""
    words = set(LEVEL_WORD.findall(must))
    if level.value not in words:
        here.refuse(f"its sentence has no {level}", f"write the duty with the word {level}")
    if len(words) > 1:
        here.refuse(f"its sentence mixes {' and '.join(sorted(words))}", f"keep {level} alone")
    if not must.endswith(".") or SENTENCE_END.search(must):
        here.refuse("'must' is not one sentence", "write one sentence that ends with a full stop")
    return must


def _source(here: Place, source: str, sources: Mapping[str, str]) -> str:
    if not any(re.match(rf"{re.escape(short)}\b", source) for short in sources):
        here.refuse("its source names no document", f"begin it with one of: {'; '.join(sources)}")
    return source


def _environments(here: Place, named: tuple[str, ...], known: Mapping[str, str]) -> tuple[str, ...]:
    for environment in named:
        if environment not in known:
            here.refuse(f"unknown environment {environment!r}", f"take some of {', '.join(known) or '(none)'}")
    if known and not named:
        here.refuse("it names no environment", f"add environments, some of {', '.join(known)}")
    return named


def _literals(here: Place, entries: list[dict[str, object]]) -> tuple[Literal, ...]:
    literals: list[Literal] = []
    for entry in entries:
        here.keys(entry, "id rule suspicion")
        fields = {key: here.string(entry, key) for key in ("id", "rule", "suspicion")}
        if not LITERAL_ID.fullmatch(fields["id"]):
            here.refuse(f"{fields['id']!r} is no id of a literal rule", "write lit- and a word or number")
        if any(other.id == fields["id"] for other in literals):
            here.refuse(f"the literal rule {fields['id']} is there twice", "give one of them a new id")
        literals.append(Literal(**fields))
    return tuple(literals)


def _not_yet(here: Place, entry: Mapping[str, object], layers: list[Layer]) -> dict[Layer, str]:
    """The reason of every layer that does not check the clause; one text stands for all of them."""
    missing = [layer for layer in Layer if layer not in layers]
    if isinstance(entry.get("not_yet"), str):
        if not missing:
            here.refuse("'not_yet' is given though every layer checks the clause", "remove it")
        return dict.fromkeys(missing, here.string(entry, "not_yet"))
    reasons = {here.member(Layer, key, "layer"): text for key, text in here.texts(entry, "not_yet").items()}
    for layer in Layer:
        if layer in layers and layer in reasons:
            here.refuse(f"{layer} both checks it and is not yet there", "keep one of the two")
        if layer in missing and layer not in reasons:
            here.refuse(f"it has neither the layer {layer} nor a reason", f"add {layer} to layers, or to not_yet")
    return {layer: reasons[layer] for layer in missing}


def _claim_groups(at: Place, table: Mapping[str, object]) -> tuple[dict[str, str], list[str]]:
    """The titles of the groups, and the ids of all the claims that the source numbers."""
    titles: dict[str, str] = {}
    numbers: list[str] = []
    groups = at.table(table, "claim_groups")
    for letter in groups:
        here = at / f"claim group {letter}"
        group = here.table(groups, letter)
        here.keys(group, "count title")
        titles[letter] = here.string(group, "title")
        count = group["count"]
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            here.refuse("'count' is not a number of claims", "write how many claims the source numbers")
        numbers += [f"{letter}{number}" for number in range(1, count + 1)]
    return titles, numbers


def _claims(at: Place, table: Mapping[str, object], numbers: list[str], ids: list[str]) -> tuple[SourceClaim, ...]:
    for claim_id in table:
        if claim_id not in numbers:
            (at / "claims").refuse(f"unknown claim {claim_id!r}", "remove it, or raise the count of its group")
    claims: list[SourceClaim] = []
    for claim_id in numbers:
        here = at / f"claim {claim_id}"
        if claim_id not in table:
            here.refuse("it is missing", f"add {claim_id} to [claims]")
        entry = here.table(table, claim_id)
        here.keys(entry, "says clauses")
        clauses = here.strings(entry, "clauses")
        if not clauses:
            here.refuse("it is mapped to no clause", "name at least one")
        for clause_id in clauses:
            if clause_id not in ids:
                here.refuse(f"unknown clause {clause_id!r}", _nearest(clause_id, ids))
        claims.append(SourceClaim(id=claim_id, says=here.string(entry, "says"), clauses=clauses))
    return tuple(claims)


if __name__ == "__main__":
    from scatterproof.spec.clauses_markdown import main

    raise SystemExit(main())
