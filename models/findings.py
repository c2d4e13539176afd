"""Writes ``spec/<protocol>/FINDINGS.md``: what the source document says, what TLC and Z3 find, what takes its place.

It is made from ``findings.toml``, ``models.toml`` and TLC's answers, so that it cannot contradict them; the diagrams
are those that ``python -m scatterproof.fuzz.findings`` left in ``findings/``. ``python -m
scatterproof.models.findings PROTOCOL`` writes it anew.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from scatterproof.models.expected import SPEC_FOLDER, Model, ModelKind, ModelRun, check_model, models_of
from scatterproof.models.finding import Finding, Suspicion, findings_of
from scatterproof.models.protocol import load
from scatterproof.models.steps import steps
from scatterproof.models.tlc import TlcRun
from scatterproof.models.z3_claims import claims_of
from scatterproof.spec.errors import BadInput, CannotRun, ScatterproofError
from scatterproof.spec.files import write_atomically

Say = Callable[[str], None]


def run_findings(protocol: str, spec_folder: Path = SPEC_FOLDER, say: Say = lambda name: None) -> dict[str, ModelRun]:
    """The runs of TLC that decide the findings, by model; CannotRun when one is not what models.toml expects, as the
    text would be wrong."""
    models = {model.name: model for model in models_of(protocol, spec_folder)}
    runs: dict[str, ModelRun] = {}
    for finding in findings_of(protocol, spec_folder):
        for name in finding.models:
            if name in runs:
                continue
            if name not in models:
                raise BadInput(f"finding {finding.name} names model {name}, which models.toml does not list")
            say(name)
            one = check_model(models[name], protocol, spec_folder=spec_folder)
            if one.result.differences:
                raise CannotRun(f"model {name}: {one.result.differences[0]}; correct models.toml or the model")
            runs[name] = one
    return runs


def findings_markdown(
    protocol: str,
    findings: Sequence[Finding],
    runs: Mapping[str, ModelRun],
    models: Sequence[Model],
    folder: Path | None = None,
) -> str:
    """The whole text. models: all that are listed. folder: where the protocol's specification is, with the diagrams in
    ``findings/``."""
    rows = [
        f"| [{finding.number}](#{finding.number}-{_anchor(finding.title)}) | {finding.title} | "
        f"{', '.join(finding.clauses)} | {_verdict(finding)} | {_length(finding, runs)} |"
        for finding in findings
    ]
    parts = [
        f"# Findings of {protocol}\n",
        f"Written by `python -m scatterproof.models.findings {protocol}` from `findings.toml`, `models.toml` and "
        "TLC's answers: do not edit.\n",
        "A finding is a rule as the source document has it that was suspected to be wrong. Each was modelled as the "
        "document has it and checked. *Confirmed* means that it is wrong: TLC gives a counterexample, or Z3 refutes "
        "it. A counterexample is called *shortest* where TLC's search was breadth first and ended there; searches for "
        f"cycles are not.{_legend(protocol)}{_rules_page(folder)}\n",
        "Where there is a diagram, the reference implementation was run with the rule as the document has it: the "
        "schedule is 1-minimal (no submission, message, fault or host can be left out, and no time but the "
        "intervals be lowered, without losing the failure), and the implementation with the corrected rule "
        "passes it.\n",
        "| | rule | clauses | suspicion | steps |\n|---|---|---|---|---|\n" + "\n".join(rows) + "\n",
        *(_section(protocol, finding, runs, folder) for finding in findings),
        _mutants([model for model in models if model.kind is ModelKind.MUTANT]),
    ]
    return "\n".join(parts)


def _verdict(finding: Finding) -> str:
    told = finding.suspicion.value
    return told if finding.expected else f"{told}, not expected"


def _length(finding: Finding, runs: Mapping[str, ModelRun]) -> str:
    lengths = [len(runs[name].run.trace) - 1 for name in finding.models if name in runs and runs[name].run.trace]
    if lengths:
        return ", ".join(map(str, lengths))
    return "Z3" if finding.claims else "none"


def _anchor(title: str) -> str:
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -_")
    return kept.replace(" ", "-")


def _section(protocol: str, finding: Finding, runs: Mapping[str, ModelRun], folder: Path | None) -> str:
    lines = [
        f"## {finding.number} {finding.title}\n",
        f"**The document.** {finding.rule} ({finding.source}.)\n",
        f"**What comes of it.** {finding.happens}\n",
        *(_counterexample(protocol, runs[name]) for name in finding.models),
    ]
    if finding.claims:
        scopes = {claim.name: claim.scope for claim in claims_of(protocol)}
        named = "; ".join(f"`{name}` ({scopes[name]})" for name in finding.claims)
        lines.append(f"**Proof.** Z3: {named}.\n")
    lines.append(_replay(protocol, finding, folder))
    kept = "kept as it is" if finding.suspicion is Suspicion.REFUTED else "corrected"
    lines.append(f"**The rule, {kept}.** {finding.corrected}\n")
    lines.append(f"**Why no weaker one.** {finding.weakest}\n")
    return "\n".join(lines)


def _counterexample(protocol: str, one: ModelRun) -> str:
    model, run = one.model, one.run
    where = f"{_replaced(model)} in `{model.cfg}`" if model.set else f"`{model.cfg}`"
    if model.violates is None:
        what = ", ".join(f"`{name}`" for name in (*(model.invariants or ()), *(model.properties or ()))) or "everything"
        return (
            f"**Model `{model.name}`** ({where}). {model.says} {what} holds in all {run.distinct:,} distinct states.\n"
        )
    kind = "found by the search for cycles, so perhaps not a shortest one" if run.liveness else "shortest"
    found = f"`{model.violates}` is violated; {len(run.trace) - 1} steps, {kind}:"
    head = f"**Model `{model.name}`** ({where}). {model.says} {found}\n"
    lines = [f"{number}. {step}" for number, step in enumerate(_narrate(protocol, run), start=1)]
    return "\n".join([head, *lines, ""])


def _replay(protocol: str, finding: Finding, folder: Path | None) -> str:
    if finding.unplayed:
        return f"**On the reference implementation.** Not played: {finding.unplayed}\n"
    picture = None if folder is None else folder / "findings" / f"{finding.name}.txt"
    if picture is None or not picture.is_file():
        return f"**On the reference implementation.** `scatterproof conform --iut mutant:{finding.mutant}`\n"
    name = finding.name
    return (
        f"**On the reference implementation**, with `mutant:{finding.mutant}` ([schedule](findings/{name}.json), "
        f"[drawing](findings/{name}.svg)):\n\n```text\n{picture.read_text(encoding='utf-8').rstrip()}\n```\n"
    )


def _legend(protocol: str) -> str:
    told = load(protocol).narration
    legend = "" if told is None else told().legend
    return f" {legend}" if legend else ""


def _rules_page(folder: Path | None) -> str:
    if folder is None or not (folder / "RULES.md").is_file():
        return ""
    return " The corrected rules together are [RULES.md](RULES.md)."


def _narrate(protocol: str, run: TlcRun) -> list[str]:
    """In the protocol's words where it has them, else by the actions and what they change."""
    told = load(protocol).narration
    return steps(run) if told is None else told().narrate(run)


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
        print("usage: python -m scatterproof.models.findings PROTOCOL", file=sys.stderr)
        return 2
    (protocol,) = arguments
    try:
        runs = run_findings(protocol, say=lambda name: print(name, file=sys.stderr))
        folder = SPEC_FOLDER / protocol
        text = findings_markdown(protocol, findings_of(protocol), runs, models_of(protocol), folder)
        write_atomically(folder / "FINDINGS.md", text.encode())
    except ScatterproofError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
