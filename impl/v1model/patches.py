"""Fields written into the number that holds their header: all that one run of statements changes, in one step.

Assigning a field leaves a `Patch`. Here patches of one header are put off until something looks at the header, or
control may go elsewhere, and are then done at once.
"""

from __future__ import annotations

from scatterproof.impl.v1model.code import Block, If, Loop, Patch, Statement
from scatterproof.impl.v1model.liveness import effect


def merged(block: Block) -> Block:
    """The block with its patches as lines."""
    done: Block = []
    pending: dict[str, list[Patch]] = {}

    def flush(names: set[str] | None = None) -> None:
        for raw in list(pending):
            if names is None or raw in names:
                done.append(_line(pending.pop(raw)))

    for statement in block:
        match statement:
            case Patch():
                flush(set(effect(statement.code).reads) - {statement.raw})
                pending.setdefault(statement.raw, []).append(statement)
            case str():
                told = effect(statement)
                flush(None if told.leaves else {*told.reads, *told.writes})
                done.append(statement)
            case If(branches, otherwise):
                flush(_mentioned(statement))
                done.append(If([(test, merged(body)) for test, body in branches], merged(otherwise)))
            case Loop(body):
                flush(_mentioned(statement))
                done.append(Loop(merged(body)))
    flush()
    return done


def _mentioned(statement: Statement) -> set[str] | None:
    """All names inside; None when control may leave from inside."""
    match statement:
        case Patch():
            return {statement.raw, *effect(statement.code).reads}
        case str():
            told = effect(statement)
            return None if told.leaves else {*told.reads, *told.writes}
        case Loop(body):
            inner, names = body, set[str]()
        case If(branches, otherwise):
            inner = [one for _, body in branches for one in body] + otherwise
            names = {name for test, _ in branches for name in effect(test).reads}
    for one in inner:
        found = _mentioned(one)
        if found is None:
            return None
        names |= found
    return names


def _line(patches: list[Patch]) -> str:
    """One assignment; of several patches to one field the last counts."""
    last = {patch.shift: patch for patch in patches}
    raw = patches[0].raw
    keep = patches[0].full
    terms = []
    for patch in last.values():
        keep &= ~(patch.mask << patch.shift)
        if patch.code != "0":
            terms.append(f"{patch.code} << {patch.shift}" if patch.shift else patch.code)
    if keep or not terms:
        terms.insert(0, f"{raw} & {keep:#x}" if keep else "0")
    return f"{raw} = {' | '.join(terms)}"
