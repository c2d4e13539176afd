"""Writes ``spec/<protocol>/FINDINGS.md``, the literal rules that TLC refutes, each with its counterexample, and beside
it ``findings/NAME.json``, the counterexample as a schedule.

Both follow from ``models.toml`` and from what TLC answers, so that they cannot say anything else:
``python -m models.findings PROTOCOL`` writes them anew.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from models.expected import SPEC_FOLDER, Kind, Model, ModelRun, check_model, configuration, models_of
from models.tlc import TlcRun
from spec.errors import CannotRun, ScatterproofError
from spec.files import write_atomically
from spec.schedule import Schedule, write


def findings_markdown(protocol: str, runs: Sequence[ModelRun], models: Sequence[Model]) -> str:
    """The whole text; `runs` are those of the findings, `models` all that are listed."""
    parts = [
        f"# Findings of {protocol}\n",
        f"Written by `python -m models.findings {protocol}` from `models.toml` and from TLC's answers: do not edit.\n",
        "A finding is a rule as the source document has it that TLC refutes. *Shortest* means that the search was "
        "breadth first and that no counterexample has fewer steps. `findings/` holds as schedules those that the "
        "reference core can replay.\n",
        *(_finding(protocol, one) for one in runs),
        _mutants([model for model in models if model.kind is Kind.MUTANT]),
    ]
    return "\n".join(parts)


def run_findings(protocol: str, spec_folder: Path = SPEC_FOLDER) -> list[ModelRun]:
    """One run of TLC a finding; CannotRun when one is not what models.toml expects, as the text would be wrong."""
    runs = []
    for model in models_of(protocol, spec_folder):
        if model.kind in (Kind.FINDING, Kind.LITERAL):
            found = check_model(model, protocol, spec_folder=spec_folder)
            if found.result.differences:
                raise CannotRun(
                    f"finding {model.name}: {found.result.differences[0]}; correct models.toml or the model"
                )
            runs.append(found)
    return runs


def schedules_of_findings(
    protocol: str, runs: Sequence[ModelRun], spec_folder: Path = SPEC_FOLDER
) -> dict[str, Schedule]:
    """Schedules of those that the core can replay, by name of the finding, given a ``schedule_of_trace.py``."""
    module = _module(protocol, "schedule_of_trace")
    if module is None:
        return {}
    return {
        one.model.name: module.schedule_of_trace(one.run.trace, configuration(one.model, spec_folder, protocol))
        for one in runs
        if one.run.trace and one.model.kind is Kind.FINDING
    }


def _module(protocol: str, name: str) -> ModuleType | None:
    """``models.<protocol>.<name>``, where there is one."""
    if find_spec(f"models.{protocol}") is None or find_spec(f"models.{protocol}.{name}") is None:
        return None
    return import_module(f"models.{protocol}.{name}")


def _finding(protocol: str, one: ModelRun) -> str:
    model, run = one.model, one.run
    lines = [
        f"## {model.name}\n",
        f"{model.says}\n",
        f"Clauses {', '.join(model.clauses)}; {_replaced(model)} in `{model.cfg}`.\n",
    ]
    if model.violates is None:
        what = ", ".join(model.invariants or ()) or "everything"
        lines.append(f"`{what}` holds in all {run.distinct:,} distinct states.\n")
    else:
        steps = _narrate(protocol, run)
        kind = "found by the search for cycles, so perhaps not a shortest one" if run.liveness else "shortest"
        lines.append(f"`{model.violates}` is violated; {len(run.trace) - 1} steps, {kind}:\n")
        lines.extend(f"{number}. {step}" for number, step in enumerate(steps, start=1))
        lines.append("")
    return "\n".join(lines)


def _narrate(protocol: str, run: TlcRun) -> list[str]:
    """In the protocol's words where ``models/<protocol>/steps.py`` has them, else by the actions' names."""
    module = _module(protocol, "steps")
    if module is None:
        return [state.action for state in run.trace[1:]]
    sentences: list[str] = module.narrate(run)
    return sentences


def _replaced(model: Model) -> str:
    return ", ".join(f"`{name} <- {value}`" for name, value in model.set.items())


def _mutants(models: Sequence[Model]) -> str:
    lines = ["## Mutants\n", "| mutant | damage | outcome |", "|---|---|---|"]
    for model in models:
        outcome = f"killed by `{model.violates}`" if model.violates else f"survives: {model.because}"
        lines.append(f"| {model.name} | {_replaced(model)} in `{model.cfg}`: {model.says} | {outcome} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m models.findings PROTOCOL", file=sys.stderr)
        return 2
    (protocol,) = arguments
    try:
        runs = run_findings(protocol)
        for name, schedule in schedules_of_findings(protocol, runs).items():
            write(SPEC_FOLDER / protocol / "findings" / f"{name}.json", schedule)
        text = findings_markdown(protocol, runs, models_of(protocol))
        write_atomically(SPEC_FOLDER / protocol / "FINDINGS.md", text.encode())
    except ScatterproofError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
