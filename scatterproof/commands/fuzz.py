"""`scatterproof fuzz`: random schedules against an implementation, or the kill matrix of the harness itself."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import typer

from scatterproof import fuzz_report, iuts
from scatterproof.case_journal import alone_in
from scatterproof.conform_options import ProfileFile, protocol_meant
from scatterproof.conformance.case import EVERYTHING, Claims
from scatterproof.conformance.profile import read_profile
from scatterproof.console import OK, VIOLATIONS, Progress, print_json, print_table
from scatterproof.fuzz.corpus import Suited, suited
from scatterproof.fuzz.fuzzer import FuzzResult, fuzz
from scatterproof.fuzz.kill_matrix import kill_matrix
from scatterproof.fuzz.protocol import load
from scatterproof.fuzz.spread import PER_CLAUSE, SpreadResult, fuzz_spread
from scatterproof.fuzz.stopping import Signals
from scatterproof.fuzz_options import EXAMPLES, Examples, Mutants, Only, PerClause, Seconds, SharedOut
from scatterproof.layers.mutants import summarise_matrix
from scatterproof.options import RESULTS, IutName, Json, Protocol, Results, Seed, resolve
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.iut import Iut
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.topology import Role

MAX_EXAMPLES, MAX_SECONDS = 10_000_000, 10_000_000


def command(
    iut: IutName = "reference",
    profile_file: ProfileFile = None,
    examples: Examples = None,
    seconds: Seconds = None,
    mutants: Mutants = False,
    only: Only = "",
    master: SharedOut = None,
    per_clause: PerClause = PER_CLAUSE,
    seed: Seed = 1,
    protocol: Protocol = None,
    results: Results = RESULTS,
    as_json: Json = False,
) -> None:
    """Run random schedules; each failure is shrunk, and saved as a schedule that `replay` plays again.

    The same seed draws the same schedules: networks, delays, clocks, submissions, faults and failures. With --profile
    only those are drawn that your implementation can take, and clauses that it does not claim are not applicable:

        scatterproof fuzz --iut stdio:./my-node --profile my-profile.toml --seconds 60

    A failure is saved at once, as failures/CLAUSE-...-as-found.json in the results folder; then what has no part in it
    is taken away, run by run, and the rest is saved as CLAUSE-....json. Ctrl-C and SIGTERM end it: what it has found
    is saved and listed.

    Without --master one failure of each clause is kept. With it the first ones of each clause are shrunk and told
    apart: two are the same failure when their schedules are equal but for names.

    Exit codes: 0 all that is claimed was at stake, and holds; 1 a clause is broken; 4 none is, but one was never at
    stake, or a run could not be judged; 130 after Ctrl-C and 143 after SIGTERM, when nothing was found.
    """
    if mutants:
        _refuse({"--master": master}, "--mutants is tried on this machine alone")
        _refuse(
            {"--profile": profile_file, "--seconds": seconds}, "--mutants tries the reference's own rules, all of them"
        )
        raise typer.Exit(_try_mutants(resolve(protocol), seed, only, results, as_json=as_json))
    if master is not None:
        _refuse({"--seconds": seconds}, "tasks elsewhere have no clock in common")
    profile = read_profile(profile_file) if profile_file is not None else None
    how = FuzzOptions(
        protocol=protocol_meant(protocol, profile),
        iut=iut,
        claims=profile or EVERYTHING,
        roles=profile.roles if profile is not None else frozenset(Role),
        examples=EXAMPLES if examples is None and seconds is None else examples,
        seconds=seconds,
        seed=seed,
        results=results,
    )
    with alone_in(results), Progress(f"Fuzzing {iut} (seed {seed})") as progress:
        result = how.fuzz(progress) if master is None else how.fuzz_on(master, per_clause, progress)
    if as_json:
        print_json(result)
    else:
        fuzz_report.show(result, profile_file)
    raise typer.Exit(fuzz_report.exit_code(result))


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzOptions:
    """protocol, iut: by name.
    claims: what the implementation claims.
    roles: of the nodes that are its own.
    examples: how many schedules, without end for None. Raises BadInput and CannotRun for what cannot be.
    """

    protocol: str
    iut: str
    claims: Claims
    roles: Collection[Role]
    examples: int | None
    seconds: float | None
    seed: int
    results: Path

    def __post_init__(self) -> None:
        # Comparisons that are false of NaN, too.
        if self.examples is not None and not 1 <= self.examples <= MAX_EXAMPLES:
            raise BadInput(f"--examples is {self.examples}; give 1 to {MAX_EXAMPLES}, or a time with --seconds")
        if self.seconds is not None and not 0 < self.seconds <= MAX_SECONDS:
            raise BadInput(f"--seconds is {self.seconds:g}; give a number above 0, and at most {MAX_SECONDS}")
        iuts.maker(self.iut, self.protocol, self.roles)  # its errors name what is unknown
        reason = iuts.why_not_started(self.iut)
        if reason is not None:
            raise CannotRun(reason)

    def fuzz(self, progress: Progress) -> FuzzResult:
        """In this process."""
        with Signals() as signals:
            return fuzz(
                self.protocol,
                iuts.find(self.iut, self.protocol, self.results, self.roles),
                examples=self.examples,
                seed=self.seed,
                seconds=self.seconds,
                claims=self.claims,
                suits=self.suits(),
                on_progress=fuzz_report.drawing(progress, self.examples, self.seconds),
                on_shrink=fuzz_report.shrinking(progress),
                folder=self.results / "failures",
                guard=signals.guard,
            )

    def fuzz_on(self, master: str, per_clause: int, progress: Progress) -> SpreadResult:
        """In Spark tasks."""
        from scatterproof.spark.jobs import run_tasks  # not everybody has Spark
        from scatterproof.spark.session import session_on

        suits = self.suits()
        assert self.examples is not None
        with session_on(master) as session:
            return fuzz_spread(
                self.protocol,
                partial(_find_in_task, self.iut, self.protocol, self.results, self.roles),
                partial(run_tasks, session),
                examples=self.examples,
                seed=self.seed,
                claims=self.claims,
                suits=suits,
                on_progress=lambda what, done, of: progress(f"{done} of {of} {what}"),
                folder=self.results / "failures",
                per_clause=per_clause,
            )

    def suits(self) -> Suited | None:
        """The schedules that the implementation can take; None for all. BadInput when there is none."""
        if self.claims is EVERYTHING and self.iut.partition(":")[0] not in iuts.OVER_SOCKETS:
            return None
        return suited(self.protocol, partial(_why_not, self.claims, self.iut))


def _why_not(claims: Claims, iut: str, schedule: Schedule) -> str | None:
    """Why an implementation of that name, with these claims, cannot take the schedule, or None."""
    beyond = None if claims is EVERYTHING else load(schedule.protocol).beyond(schedule)
    return claims.why_not_schedule(schedule) or iuts.why_not_played(iut, schedule) or beyond


def _refuse(options: Mapping[str, object], why: str) -> None:
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise BadInput(f"{why}; leave {', '.join(given)} out")


def _try_mutants(protocol: str, seed: int, only: str, results: Path, *, as_json: bool) -> int:
    with alone_in(results), Progress("Kill matrix") as progress:
        found = kill_matrix(
            protocol,
            seed=seed,
            on_progress=lambda done, of, name: progress(f"{done} of {of}: {name}"),
            folder=results / "mutants",
            only=only,
        )
    if as_json:
        print_json(found)
    else:
        report = summarise_matrix(found)
        for table in report.details:
            print_table(f"{table.title}: {report.sentence}", table.columns, table.rows)
    return VIOLATIONS if found.open else OK


def _find_in_task(iut: str, protocol: str, results: Path, roles: Collection[Role]) -> Iut:
    """The implementation, with a folder for what its nodes write that no other process uses."""
    return iuts.find(iut, protocol, results / "tasks" / str(os.getpid()), roles)
