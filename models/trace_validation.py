"""TLC as a judge of traces: it reads the rows of recorded runs as steps of a protocol's trace module.

The module says what an observer may see; TLC accepts a run after its last row, or rejects it at the first row that no
step explains, naming the clauses. The inner state of nodes is in no trace and is compared with nothing. Many runs go
through one TLC, as starting it costs more than reading thousands of rows.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

from scatterproof.models.expected import SPEC_FOLDER, find, library
from scatterproof.models.java import find_java
from scatterproof.models.protocol import TraceModule, load
from scatterproof.models.tla_values import Function, Value, parse_value
from scatterproof.models.tlc import TlcOutcome, run_tlc
from scatterproof.models.validation import Reader
from scatterproof.spec.clauses import load as load_clauses
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.scratch import scratch_folder
from scatterproof.spec.trace import ABSENT, Header, Kind, Trace

TIMEOUT_S = 600.0
# TLC 2.15 counts the steps of a behaviour in 16 bits.
MOST_ROWS = 65_000
# Rows for one TLC: beyond, reading the text costs memory, and starting another TLC hardly counts.
ROWS_AT_ONCE = 40_000
_UNREADABLE = "TLC ended with 150"  # how `scatterproof.models.tlc` reports a module that does not parse
_NOTHING = "Nothing"  # what TraceReplay puts before the first action; no action has that name


class Judgement(StrEnum):
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    CANNOT_RUN = "cannot run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """What TLC says of one trace.

    position: the row that it rejects.
    action: what that row would have been.
    broken: the operators that it breaks, clauses by name.
    clauses: the ids of those that are clauses.
    actions, pairs: those that an accepted trace takes, one and one after the other.
    reason: the sentence for all but an accepted trace.
    """

    judgement: Judgement
    position: int | None = None
    action: str = ""
    broken: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    actions: frozenset[str] = frozenset()
    pairs: frozenset[tuple[str, str]] = frozenset()
    reason: str = ""


def validate(trace: Trace) -> Validation:
    """What TLC says of the trace; `cannot run` where something that the module reads, TLC or Java is missing."""
    return validate_all([trace])[0]


def validate_all(traces: Sequence[Trace]) -> list[Validation]:
    """The same for many traces of one protocol, in their order, with few starts of TLC."""
    verdicts: dict[int, Validation] = {}
    readers: dict[int, tuple[Trace, Reader]] = {}
    for number, trace in enumerate(traces):
        try:
            readers[number] = (trace, _reader_of(trace))
        except (BadInput, CannotRun) as error:
            verdicts[number] = Validation(judgement=Judgement.CANNOT_RUN, reason=str(error))
    for batch in _batches(readers):
        verdicts |= _read_or_say_why(batch)
    return [verdicts[number] for number in range(len(traces))]


def uncovered(protocol: str, validations: Iterable[Validation]) -> list[str]:
    """The actions of the protocol that none of these traces takes: so far nothing is known of them."""
    taken = {action for one in validations for action in one.actions}
    return [action for action in _module(protocol).actions if action not in taken]


def _module(protocol: str) -> TraceModule:
    traces = load(protocol).traces
    if traces is None:
        raise CannotRun(f"protocol {protocol!r} has no module that reads traces")
    return traces()


def _reader_of(trace: Trace) -> Reader:
    module = _module(trace.header.protocol)
    _refuse_unrecorded(trace.header)
    if len(trace.rows) > MOST_ROWS:
        raise CannotRun(f"the trace has {len(trace.rows)} rows; TLC follows at most {MOST_ROWS}: cut it")
    return module.reader_of(trace)


def recorded(header: Header, kind: Kind) -> frozenset[int]:
    """The nodes whose events of that kind are all in the trace."""
    return frozenset(header.complete.get(kind.name.lower(), ()))


def _refuse_unrecorded(header: Header) -> None:
    """CannotRun for a trace that records no kind of event in full at any node. Where only some events are recorded,
    what would be compared with the others is accepted."""
    if not any(recorded(header, kind) for kind in (Kind.SENT, Kind.ARRIVED, Kind.DELIVERED, Kind.CALLED)):
        raise CannotRun("the trace records all that is sent, arrives, is delivered or called of no node at all")


def _batches(readers: Mapping[int, tuple[Trace, Reader]]) -> Iterable[dict[int, tuple[Trace, Reader]]]:
    """Runs that one TLC can read together: the same module and configuration, and not too many rows."""
    together: dict[tuple[str, str, str], list[dict[int, tuple[Trace, Reader]]]] = {}
    for number, (trace, reader) in readers.items():
        kept = together.setdefault((trace.header.protocol, reader.module, reader.configuration), [{}])
        if sum(len(other.rows) for other, _ in kept[-1].values()) + len(trace.rows) > ROWS_AT_ONCE:
            kept.append({})
        kept[-1][number] = (trace, reader)
    return [batch for batches in together.values() for batch in batches if batch]


def _read_or_say_why(batch: Mapping[int, tuple[Trace, Reader]]) -> dict[int, Validation]:
    """One TLC over the batch. Where it fails, the batch is halved: one run must not take the others with it."""
    try:
        return _read(batch)
    except CannotRun as error:
        if len(batch) == 1 or _UNREADABLE in str(error):  # no half of the batch would fare better
            return dict.fromkeys(batch, Validation(judgement=Judgement.CANNOT_RUN, reason=str(error)))
    half = len(batch) // 2
    runs = list(batch.items())
    return _read_or_say_why(dict(runs[:half])) | _read_or_say_why(dict(runs[half:]))


def _read(batch: Mapping[int, tuple[Trace, Reader]]) -> dict[int, Validation]:
    """One TLC over all runs of the batch."""
    find_java()  # without one, no half of the batch would fare better
    (first, reader), *_ = batch.values()
    numbers = list(batch)
    with scratch_folder("traces") as folder:
        for source in (SPEC_FOLDER / "common", *library(SPEC_FOLDER / first.header.protocol)):
            for module in source.glob("*.tla"):
                shutil.copy(module, folder)
        (folder / "Recorded.tla").write_text(_data([one.text for _, one in batch.values()]), encoding="ascii")
        path = folder / "MCRecorded.tla"
        path.write_text(
            f"---- MODULE MCRecorded ----\nEXTENDS Recorded, {', '.join((reader.module, *reader.rules))}\n====\n",
            encoding="ascii",
        )
        configuration = find(SPEC_FOLDER / first.header.protocol, reader.configuration, "the reader").read_text("utf-8")
        run = run_tlc(path, configuration, timeout_s=TIMEOUT_S, short=True)
    if run.outcome is not TlcOutcome.HOLDS:
        raise CannotRun(f"TLC could not read the trace: {run.problem or run.outcome.value}")
    last: dict[int, tuple[Value, ...]] = {}
    for line in run.printed:
        told = parse_value(line)
        assert isinstance(told, tuple)
        assert isinstance(told[1], int)
        number = numbers[told[1] - 1]
        last[number] = _furthest(last.get(number, told), told)
    found = {number: _validation(told, *batch[number]) for number, told in last.items()}
    if missing := [number for number in numbers if number not in found]:
        raise CannotRun(f"TLC ended without a word of trace {missing[0]}")
    return found


def _furthest(one: tuple[Value, ...], other: tuple[Value, ...]) -> tuple[Value, ...]:
    """The better of two ways in which a module explains a run: one that accepts it, or the one that comes further.
    Where both stop at one row, the clauses broken by either are kept."""
    if _how_far(one) != _how_far(other) or one[0] == "accepted":
        return max(one, other, key=_how_far)
    *told, wanted = one
    return (*told, Function({**cast(Function, wanted), **cast(Function, other[-1])}))


def _how_far(told: tuple[Value, ...]) -> tuple[bool, int]:
    return told[0] == "accepted", cast(int, told[2]) if told[0] == "rejected" else 0


def _data(runs: Sequence[str]) -> str:
    """The module of the runs alone. TLC evaluates it first, and once, where no other module's operators are in it."""
    definitions = "\n".join(f"Run{number} ==\n  {run}" for number, run in enumerate(runs, 1))
    names = ", ".join(f"Run{number}" for number in range(1, len(runs) + 1))
    return f"---- MODULE Recorded ----\nEXTENDS Integers\n{definitions}\nRecordedRuns == <<{names}>>\n====\n"


def _validation(told: tuple[Value, ...], trace: Trace, reader: Reader) -> Validation:
    if told[0] == "accepted":
        pairs = cast("frozenset[tuple[str, str]]", told[2])
        return Validation(
            judgement=Judgement.ACCEPTED,
            actions=frozenset(action for _, action in pairs),
            pairs=frozenset(pair for pair in pairs if pair[0] != _NOTHING),
        )
    _, _, at, action, wanted = told
    assert isinstance(at, int)
    assert isinstance(action, str)
    assert isinstance(wanted, Function)
    position = reader.positions[at - 1] if reader.positions else at - 1
    ids = {clause.name: clause.id for clause in load_clauses(trace.header.protocol).clauses}
    broken = tuple(sorted(cast("dict[str, int]", wanted)))
    sentences = [_sentence(name, wanted[name], ids, reader) for name in broken]
    return Validation(
        judgement=Judgement.REJECTED,
        position=position,
        action=action,
        broken=broken,
        clauses=tuple(sorted(ids[name] for name in broken if name in ids)),
        reason=f"row {position} is no step {action}: {'; '.join(sentences)}",
    )


def _sentence(name: str, wanted: Value, ids: Mapping[str, str], reader: Reader) -> str:
    said = f"{ids[name]} {name}" if name in ids else reader.reasons.get(name, name)
    if wanted == ABSENT:
        return said
    return f"{said} (the bound is {reader.times.get(cast(int, wanted), 'between two recorded times')})"
