"""`scatterproof brokers`: brokers that others have made, and our own appliance, judged by one command."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count, takewhile
from pathlib import Path
from typing import Annotated

import typer

from scatterproof.app import command_group
from scatterproof.conformance.adapters.product_runs import judged_runs, was_at_stake
from scatterproof.conformance.adapters.products import Product
from scatterproof.conformance.pubsub.products.every import PRODUCTS
from scatterproof.conformance.verdict import Verdict
from scatterproof.console import Progress, err, out, print_json, print_table
from scatterproof.fuzz.pubsub import against_brokers
from scatterproof.options import Json, Results, Seed
from scatterproof.spec.errors import BadInput, ScatterproofError

app = command_group(
    "Judge brokers of MQTT, NATS and AMQP by what their documentation promises: all of them against all clauses."
    "\n\nOur own appliance is among them. Each is started on loopback, and driven by its own client; what is not"
    " installed is not run, with what installs it."
    "\n\nAll brokers against all clauses, in four minutes:"
    "\n\n    scatterproof brokers matrix"
    "\n\nTheir filters against the matchers, a million pairs each:"
    "\n\n    scatterproof brokers filters --pairs 1000000",
)
Named = Annotated[list[str] | None, typer.Argument(help="Brokers by name; all when left out.", show_default=False)]


@dataclass(slots=True, kw_only=True)
class Line:
    """What came of one broker.

    not_run: why it was not, with what installs it; or None.
    runs: how many there were.
    stakes, broken: by clause, in how many of them it was at stake, or broken.
    first: by clause, what was said of it first, with the seed.
    """

    broker: str
    not_run: str | None = None
    runs: int = 0
    stakes: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)


def judged(product: Product, seconds: float, seed: int, folder: Path, *, quiet: bool) -> Line:
    """Of runs that begin within that time, one at least."""
    line = Line(broker=product.name, not_run=product.why_not())
    if line.not_run is not None:
        return line
    until = time.monotonic() + seconds
    seeds = takewhile(lambda number: number == seed or time.monotonic() < until, count(seed))
    try:
        for number, _, results in judged_runs(product, seeds, folder, quiet=quiet):
            line.runs += 1
            for result in results:
                line.stakes[result.clause] += int(was_at_stake(result))
                if result.verdict is Verdict.FAIL:
                    line.broken[result.clause] += 1
                    line.first.setdefault(result.clause, f"seed {number}: {result.violations[0].sentence}")
    except ScatterproofError as error:
        line.not_run = str(error)
    return line


def chosen(names: Sequence[str] | None) -> list[Product]:
    known = {product.name: product for product in PRODUCTS}
    for name in names or ():
        if name not in known:
            raise BadInput(f"broker {name!r} is unknown; choose of {', '.join(known)}")
    return [known[name] for name in names or known]


def cell(line: Line, clause: str) -> str:
    """Empty where the broker's profile does not claim the clause."""
    if line.not_run is not None or clause not in line.stakes:
        return "not run" if line.not_run is not None else ""
    if line.broken[clause]:
        return f"fail ({line.broken[clause]} of {line.stakes[clause]})"
    return f"pass ({line.stakes[clause]})" if line.stakes[clause] else "not at stake"


@app.command()
def matrix(
    brokers: Named = None,
    seconds: Annotated[
        float, typer.Option(min=0, help="For all of them; each has an equal part of what is left.")
    ] = 240.0,
    quiet: Annotated[bool, typer.Option("--quiet", help="Keep clear of the mistakes that are known.")] = False,
    seed: Seed = 0,
    results: Results = Path("results/brokers"),
    json: Json = False,
) -> None:
    """Drive brokers at random, and show all of them against all clauses: in how many runs a clause was at stake, or
    broken. Traces are kept in the folder of results."""
    products = chosen(brokers)
    left = sum(product.why_not() is None for product in products)
    lines: list[Line] = []
    until = time.monotonic() + seconds
    with Progress("brokers") as progress:
        for product in products:
            progress(product.name)
            part = max(0.0, until - time.monotonic()) / max(1, left)
            lines.append(judged(product, part, seed, results / product.name, quiet=quiet))
            left -= lines[-1].runs > 0
    if json:
        print_json(lines)
    else:
        _show(lines)
    if any(line.broken for line in lines):
        raise typer.Exit(1)
    if any(line.not_run for line in lines):
        raise typer.Exit(3)


def _show(lines: Sequence[Line]) -> None:
    clauses = list(dict.fromkeys(clause for line in lines for clause in line.stakes))
    ran = [line for line in lines if line.not_run is None]
    rows = [(line.broker, line.runs, *(cell(line, clause) for clause in clauses)) for line in ran]
    if rows:
        short = [clause.removeprefix("PS-").lower() for clause in clauses]
        print_table(
            "Brokers against clauses (PS-), by runs in which each was at stake", ["broker", "runs", *short], rows
        )
    for line in lines:
        for clause in clauses:
            if clause in line.first:
                out.print(f"{line.broker}: {line.first[clause]}", highlight=False, markup=False)
    for line in lines:
        if line.not_run is not None:
            err.print(f"{line.broker}: not run: {line.not_run}", highlight=False, markup=False)


@app.command()
def filters(
    brokers: Named = None,
    pairs: Annotated[int, typer.Option(min=1, help="Of a filter and a topic, a broker.")] = 100_000,
    seed: Seed = 1,
) -> None:
    """Hold who is sent what by each broker against the matchers of its grammar, pair by pair."""
    words = [*(brokers or ()), "--pairs", str(pairs), "--seed", str(seed)]
    raise typer.Exit(against_brokers.main(words))
