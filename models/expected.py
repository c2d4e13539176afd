"""What TLC must find in each model, as data beside the models, and the comparison of a run with it.

``spec/<protocol>/models.toml`` lists the models. A model is a module, a .cfg and replacements of its lines (`set`,
`invariants`, `properties`): a mutant or a literal rule is one replaced line, never another copy of a module. A result
that differs from what is expected, also in its count of states, is a failure. A `RefutingMutant` is a short entry for
a mutant that shows that a property can be violated.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import msgspec

from scatterproof.models.class_archive import make_archive
from scatterproof.models.java import find_java
from scatterproof.models.progress import ModelNews, OnProgress
from scatterproof.models.tlc import TlcOutcome, TlcRun, Walks, find_jar, listed, run_tlc
from scatterproof.spec.errors import BadInput, CannotRun

FOLDERS = ("", "modules", "instances")  # of a protocol, where modules and configurations are
SPEC_FOLDER = Path(__file__).resolve().parent.parent / "spec"
TIMEOUT_S = 1800.0

# Up to this weight Java's quick compiler takes no more time than the thorough one, and mostly far less.
SHORT = 15
# States a second of processor time, where a model says nothing of its cost.
STATES_A_SECOND = 2_500
# From this number of models on, an archive of classes saves more than it costs.
WORTH_AN_ARCHIVE = 12

Checked = Callable[["ModelResult"], None]
Counted = Callable[[str, int], None]


class ModelKind(StrEnum):
    INSTANCE = "instance"  # the corrected rules: everything holds
    REACH = "reach"  # a sentence that TLC must refute, so that the instance is not empty
    FINDING = "finding"  # a literal rule of the source document
    LITERAL = "literal"  # the same, where there is no schedule yet that the core could replay
    MUTANT = "mutant"  # a damaged rule


class Tier(StrEnum):
    """The first three are in rising order: checking one checks those listed above it, too."""

    QUICK = "quick"  # every day: decides a clause, a finding or a damaged rule, where nothing cheaper does
    FULL = "full"  # takes seconds, too, but repeats what other models show
    DEEP = "deep"  # large instances
    RANDOM = "random"  # random behaviours of what is too large to enumerate

    @property
    def included(self) -> frozenset[Tier]:
        order = [Tier.QUICK, Tier.FULL, Tier.DEEP]
        return frozenset(order[: order.index(self) + 1] if self in order else [self])


class Model(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run of TLC and what it must find.

    violates: the property that TLC must report; none means that all must hold.
    distinct, depth: of the whole state graph where all hold.
    trace: states in the counterexample, counting the initial one.
    because: why a mutant survives; a survivor without a reason is refused.
    behaviours, length: in the random tier, how many behaviours are tried, and the most states of each.
    cost: its time, about, as a multiple of the smallest model's, where its number of states does not tell.
    """

    name: str
    module: str
    cfg: str
    says: str
    kind: ModelKind = ModelKind.INSTANCE
    tier: Tier = Tier.QUICK
    set: dict[str, str] = {}
    invariants: tuple[str, ...] | None = None
    properties: tuple[str, ...] | None = None
    clauses: tuple[str, ...] = ()
    violates: str | None = None
    distinct: int | None = None
    depth: int | None = None
    trace: int | None = None
    because: str | None = None
    every_action: bool = False
    behaviours: int = 0
    length: int = 100
    cost: float | None = None

    @property
    def weight(self) -> float:
        """Its cost; guessed from the states where none is given."""
        return self.cost or 1 + (self.distinct or 0) / STATES_A_SECOND

    @property
    def short(self) -> bool:
        # Nobody has measured how long a refuted deep model takes.
        return self.tier in Tier.FULL.included and self.weight <= SHORT

    @property
    def walks(self) -> Walks | None:
        return Walks(self.behaviours, self.length) if self.tier is Tier.RANDOM else None


class RefutingMutant(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mutant that a property of another model must refute: `of` names that model, from which only the lines in `set`
    differ. `trace` counts the states of a shortest counterexample, and is left out where it is a loop."""

    property: str
    of: str
    set: dict[str, str]
    says: str
    tier: Tier = Tier.DEEP
    trace: int | None = None
    cost: float | None = None

    def model(self, base: Model, spec_folder: Path, protocol: str) -> Model:
        """The model that it stands for; BadInput where `base` does not hold that property."""
        text = configuration(base, spec_folder, protocol)
        sections = [section for section in ("INVARIANTS", "PROPERTIES") if self.property in listed(text, section)]
        if base.violates is not None or not sections:
            raise BadInput(
                f"{spec_folder / protocol / 'models.toml'}: {self.property} is to be refuted in {base.name!r}, which "
                "does not hold it; name a model that lists it and in which all holds"
            )
        alone = (self.property,)
        lines = "_and_".join(f"{_snake(name)}_is_{_snake(value)}" for name, value in self.set.items())
        return msgspec.structs.replace(
            base,
            name=f"{_snake(self.property)}_in_{base.name}_where_{lines}",
            says=self.says,
            kind=ModelKind.MUTANT,
            tier=self.tier,
            set=base.set | self.set,
            invariants=alone if sections == ["INVARIANTS"] else (),
            properties=alone if sections == ["PROPERTIES"] else (),
            clauses=(),
            violates=self.property,
            distinct=None,
            depth=None,
            trace=self.trace,
            every_action=False,
            cost=self.cost,
        )


def _snake(name: str) -> str:
    return re.sub(r"\W+", "", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)).lower()


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    result: str
    violates: str | None
    distinct: int
    depth: int
    trace: int
    seconds: float
    shortest: bool
    generated: int = 0


class ModelResult(msgspec.Struct, frozen=True, kw_only=True):
    """`differences` is empty where TLC found what it must; each is a sentence."""

    name: str
    kind: ModelKind
    tier: Tier
    says: str
    clauses: tuple[str, ...]
    replaced: dict[str, str]
    expected: dict[str, int | str | None]
    seen: Seen
    differences: tuple[str, ...]
    steps: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        return not self.differences


class _File(msgspec.Struct, forbid_unknown_fields=True):
    model: list[Model]
    refuted: list[RefutingMutant] = []


@dataclass(frozen=True, slots=True)
class ModelRun:
    """A result together with the run that it sums up, for callers that need the states."""

    model: Model
    run: TlcRun
    result: ModelResult


def models_of(protocol: str, spec_folder: Path = SPEC_FOLDER) -> tuple[Model, ...]:
    """The models of a protocol; BadInput, with file and place, for what is malformed, and CannotRun for a protocol
    without models."""
    path = spec_folder / protocol / "models.toml"
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if path.parent.is_dir():
            raise CannotRun(f"protocol {protocol!r} has no models yet; give it spec/{protocol}/{path.name}") from None
        raise BadInput(f"{path}: no models for protocol {protocol!r}; name one that has them") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: not TOML: {error}") from None
    try:
        file = msgspec.convert(content, _File)
    except msgspec.ValidationError as error:
        raise BadInput(f"{path}: {error}; see the fields of Model in models/expected.py") from None
    models: dict[str, Model] = {}
    for model in file.model:
        _check(path, model, models)
        models[model.name] = model
    for refutation in file.refuted:
        if refutation.of not in models:
            raise BadInput(f"{path}: {refutation.property} is to be refuted in {refutation.of!r}, which is not listed")
        model = refutation.model(models[refutation.of], spec_folder, protocol)
        _check(path, model, models)
        models[model.name] = model
    return tuple(models.values())


def _check(path: Path, model: Model, names: Collection[str]) -> None:
    place = f"{path}: model {model.name!r}"
    if model.name in names:
        raise BadInput(f"{place} is listed twice; give each model its own name")
    for name in (f"{model.module}.tla", model.cfg):
        find(path.parent, name, place)
    if model.kind is ModelKind.MUTANT and len(model.set) == 0:
        raise BadInput(f"{place} is a mutant that replaces nothing; name the rule under `set`")
    if model.kind is ModelKind.MUTANT and (model.violates is None) == (model.because is None):
        raise BadInput(f"{place} needs either `violates` (what kills it) or `because` (why it survives)")
    if (model.tier is Tier.RANDOM) != (model.behaviours > 0):
        raise BadInput(f"{place}: `behaviours` says how many random ones to try, in the tier random and in no other")
    if model.kind is ModelKind.REACH and model.violates is None:
        raise BadInput(f"{place} is a reach model that expects no violation; name the sentence that TLC must refute")


def find(folder: Path, name: str, place: str) -> Path:
    """The file of that name in a protocol's folder or in one of its FOLDERS; BadInput, which begins with `place`, where
    there is none."""
    for within in FOLDERS:
        if (file := folder / within / name).is_file():
            return file
    raise BadInput(f"{place} names {name}, which is not in {folder}; correct the name")


def library(folder: Path) -> list[Path]:
    """The folders of a protocol that modules may be in."""
    return [folder / within for within in FOLDERS]


def configuration(model: Model, spec_folder: Path, protocol: str) -> str:
    """The text of the model's .cfg with its lines replaced; BadInput where a section to replace is missing."""
    text = find(spec_folder / protocol, model.cfg, f"model {model.name!r}").read_text(encoding="utf-8")
    added = []
    for name, value in model.set.items():
        text, count = re.subn(rf"^(  {re.escape(name)} (?:<-|=)) .*$", rf"\1 {value}", text, flags=re.MULTILINE)
        if count == 0:
            added.append(f"CONSTANT {name} <- {value}\n")
    for section, names in (("INVARIANTS", model.invariants), ("PROPERTIES", model.properties)):
        if names is not None:
            text = re.sub(rf"^{section}\n(?:  .*\n)*", "", text, flags=re.MULTILINE)
            text += "".join(f"{section}\n" + "".join(f"  {name}\n" for name in names) for _ in names[:1])
    return text + "".join(added)


def models_in(protocol: str, tier: Tier = Tier.QUICK, spec_folder: Path = SPEC_FOLDER) -> tuple[Model, ...]:
    """The models that this tier checks, in the order of the file: its own, and those of the tiers above it."""
    return tuple(model for model in models_of(protocol, spec_folder) if model.tier in tier.included)


def check_model(
    model: Model, protocol: str, *, spec_folder: Path = SPEC_FOLDER, on_progress: Counted | None = None
) -> ModelRun:
    """Run one model and compare. `on_progress` gets its name and the distinct states so far."""
    folder = spec_folder / protocol
    run = run_tlc(
        find(folder, f"{model.module}.tla", f"model {model.name!r}"),
        configuration(model, spec_folder, protocol),
        library=library(folder),
        timeout_s=TIMEOUT_S,
        coverage=model.every_action,
        short=model.short,
        walks=model.walks,
        on_progress=None if on_progress is None else lambda distinct: on_progress(model.name, distinct),
    )
    return ModelRun(model, run, compare(model, run))


def make_ready(models: Sequence[Model]) -> None:
    """Make the archive that shortens each start of TLC, where there are enough models for it to pay."""
    if len(models) >= WORTH_AN_ARCHIVE:
        make_archive(find_java(), find_jar())


def check_models(
    protocol: str,
    tier: Tier = Tier.QUICK,
    *,
    jobs: int = 2,
    on_progress: OnProgress | None = None,
    on_result: Checked | None = None,
    spec_folder: Path = SPEC_FOLDER,
) -> list[ModelResult]:
    """Run the protocol's models of this tier (see `models_in`), `jobs` at a time, the longest first; results in the
    order of the file.

    `on_progress` is called as models begin, count and end, from several threads when there are several jobs, but never
    from two at once; `on_result` gets each result as soon as it is there.
    """
    chosen = models_in(protocol, tier, spec_folder)
    make_ready(chosen)
    news = ModelNews((model.weight for model in chosen), on_progress)

    def check(model: Model) -> ModelResult:
        news.tell(model.name, 0)
        result = check_model(model, protocol, spec_folder=spec_folder, on_progress=news.tell).result
        news.end(model.name, model.weight, result.seen.distinct)
        return result

    results: dict[str, ModelResult] = {}
    pool = ThreadPoolExecutor(max_workers=jobs)
    try:
        longest_first = sorted(chosen, key=lambda model: -model.weight)
        for ended in as_completed([pool.submit(check, model) for model in longest_first]):
            result = ended.result()
            results[result.name] = result
            if on_result is not None:
                on_result(result)
    finally:
        # After an error or an interrupt, what has not begun is not begun any more.
        pool.shutdown(cancel_futures=True)
    return [results[model.name] for model in chosen]


def compare(model: Model, run: TlcRun) -> ModelResult:
    """The result of a run, with a sentence for each difference from what the model expects."""
    differences = list(_differences(model, run))
    return ModelResult(
        name=model.name,
        kind=model.kind,
        tier=model.tier,
        says=model.says,
        clauses=model.clauses,
        replaced=model.set,
        expected={
            "result": "holds" if model.violates is None else "violated",
            "violates": model.violates,
            "distinct": model.distinct,
            "depth": model.depth,
            "trace": model.trace,
        },
        seen=Seen(
            result="not refuted" if model.walks and run.outcome is TlcOutcome.HOLDS else run.outcome.value,
            violates=run.violated,
            distinct=run.distinct,
            depth=run.depth,
            trace=len(run.trace),
            seconds=round(run.seconds, 2),
            shortest=not run.liveness and model.tier is not Tier.RANDOM,
            generated=run.generated,
        ),
        differences=tuple(differences),
        steps=tuple(state.action for state in run.trace),
    )


def _differences(model: Model, run: TlcRun) -> list[str]:
    if run.outcome not in (TlcOutcome.HOLDS, TlcOutcome.VIOLATED):
        return [f"TLC gave no verdict: {run.problem or run.outcome.value}"]
    seen = run.violated
    if seen != model.violates:
        return [f"expected {model.violates or 'that all holds'}, found {seen or 'that all holds'}"]
    told = []
    if model.walks and run.generated == 0:
        told.append("TLC walked through no state at all")
    if model.violates is None:
        told += [
            f"expected {wanted} {what}, found {found}"
            for what, wanted, found in (
                ("distinct states", model.distinct, run.distinct),
                ("levels of depth", model.depth, run.depth),
            )
            if wanted is not None and wanted != found
        ]
    elif model.trace is not None and model.trace != len(run.trace):
        told.append(f"expected a counterexample of {model.trace} states, found {len(run.trace)}")
    if model.every_action:
        told += [f"action {name} was never taken" for name, times in run.actions.items() if times == 0]
        told += [] if run.actions else ["TLC told nothing of the actions taken"]
    return told
