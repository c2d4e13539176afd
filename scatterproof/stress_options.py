"""Options of the commands that run programs under stress, and what they come to when left out."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

from scatterproof.conformance.stress.contract import Workload
from scatterproof.conformance.stress.plan import plan
from scatterproof.spec.errors import BadInput

if TYPE_CHECKING:
    from scatterproof.conformance.stress.run import Stress

IUT_COMMAND_HELP = (
    "Command of a program of your own, started once a process, with places for what it needs, such as 'prog --id {id}"
    " --hosts {hosts} --output {output} {config}'; it is judged by its output. The course's form of 2020 has"
    " '--barrier {barrier} --signal {signal}', too."
)

_T = TypeVar("_T")
_MOST_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StressOptions:
    """Options as given; None where left out.

    delay, jitter: ms.
    partition, seconds, patience: s.
    """

    level: Annotated[
        str | None, typer.Option("--level", help="Level of the protocol at which programs are judged.")
    ] = None
    processes: Annotated[
        int | None, typer.Option("--processes", help="How many processes (5).", show_default=False)
    ] = None
    messages: Annotated[int | None, typer.Option("--messages", help="Messages of each process (1000).")] = None
    loss: Annotated[
        float | None,
        typer.Option(
            "--loss",
            help="Share of the datagrams that is lost (0.1). 0 makes a clean network: delay, jitter, reorder and"
            " duplicate are 0, too, unless they are given.",
            show_default=False,
        ),
    ] = None
    delay: Annotated[float | None, typer.Option("--delay", help="Delay of each datagram, ms (10).")] = None
    jitter: Annotated[float | None, typer.Option("--jitter", help="Greatest random delay beside it, ms (5).")] = None
    reorder: Annotated[float | None, typer.Option("--reorder", help="Share that is held back and overtaken (0.1).")] = (
        None
    )
    duplicate: Annotated[float | None, typer.Option("--duplicate", help="Share that arrives twice (0.05).")] = None
    partition: Annotated[float | None, typer.Option("--partition", help="Seconds for which some are cut off (0).")] = (
        None
    )
    kill: Annotated[int | None, typer.Option("--kill", help="Processes ended while all run (as many as may be).")] = (
        None
    )
    pause: Annotated[int | None, typer.Option("--pause", help="How often a process is stopped for a while (5).")] = None
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            help="Seconds until programs are asked to end (30); earlier where all is there, or where nothing new has"
            " moved for a quarter of this, at most 10 s: then what is missing is lost.",
            show_default=False,
        ),
    ] = None
    deadline: Annotated[
        bool, typer.Option("--deadline", help="What lacks when the seconds are over counts as lost.")
    ] = False
    patience: Annotated[
        float | None, typer.Option("--patience", help="Seconds they have to end after SIGTERM (10).")
    ] = None
    seed: Annotated[int | None, typer.Option("--seed", help="Seed of everything random (1).")] = None

    @property
    def given(self) -> list[str]:
        """The options that were not left out, as they are written."""
        return [f"--{field.name}" for field in fields(self) if getattr(self, field.name) not in (None, False)]

    def workload(self, levels: tuple[str, ...]) -> Workload:
        if self.level not in levels:
            said = "is needed" if self.level is None else f"{self.level!r} is unknown"
            raise BadInput(f"--level {said}; choose one of: {', '.join(levels)}")
        return Workload(
            level=self.level,
            processes=_or(self.processes, 5),
            messages=_or(self.messages, 1000),
            seed=_or(self.seed, 1),
        )

    def stress(self, workload: Workload, spared: frozenset[int]) -> Stress:
        """What the relay and the plan do; `spared` are not killed. BadInput for what is out of range."""
        from scatterproof.conformance.relay.faults import (  # late: a list of cases has these options, too
            Faults,
            partition,
        )
        from scatterproof.conformance.stress.run import Stress

        seconds = _span("--seconds", _or(self.seconds, 30.0), least=0.1)
        active = min(seconds / 3, 10.0)
        usual = 0.0 if self.loss == 0 else 1.0  # no loss, and nothing else given, asks for a clean network
        delay, jitter = (
            _span(name, value / 1000)
            for name, value in (("--delay", _or(self.delay, 10.0 * usual)), ("--jitter", _or(self.jitter, 5.0 * usual)))
        )
        apart = _span("--partition", _or(self.partition, 0.0))
        cut = partition(workload.seed, workload.processes, int(2e8), int(active * 1e9), int(apart * 1e9))
        faults = Faults(
            loss=_or(self.loss, 0.1),
            duplicate=_or(self.duplicate, 0.05 * usual),
            reorder=_or(self.reorder, 0.1 * usual),
            delay_ns=int(delay * 1e9),
            jitter_ns=int(jitter * 1e9),
            # Longer than any drawn delay, so that whatever follows overtakes it.
            hold_ns=int((2 * (delay + jitter) + 0.01) * 1e9),
            partitions=(cut,) if apart else (),
        )
        steps = plan(
            seed=workload.seed,
            processes=workload.processes,
            kills=_or(self.kill, max(0, (workload.processes - 1) // 2)),
            pauses=_or(self.pause, 5),
            active_s=active,
            spared=spared,
        )
        return Stress(
            faults=faults,
            steps=steps,
            wake_s=min(10.0, seconds),
            seconds=seconds,
            due=self.deadline,
            patience_s=_span("--patience", _or(self.patience, 10.0)),
        )


def with_stress(command: Callable[..., None]) -> Callable[..., None]:
    """The command with each field of its parameter `stress` as an option, after its own options."""
    signature, hints = inspect.signature(command), get_type_hints(command, include_extras=True)
    added = get_type_hints(StressOptions, include_extras=True)
    own = [one.replace(annotation=hints[one.name]) for one in signature.parameters.values() if one.name != "stress"]
    more = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=added[field.name]
        )
        for field in fields(StressOptions)
    ]

    @wraps(command)
    def wrapped(**given: Any) -> None:
        command(stress=StressOptions(**{name: given.pop(name) for name in added}), **given)

    wrapped.__annotations__ = {one.name: one.annotation for one in (*own, *more)}
    wrapped.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
    return wrapped


def _or(value: _T | None, default: _T) -> _T:
    return default if value is None else value


def _span(name: str, seconds: float, least: float = 0.0) -> float:
    """A length of time in seconds; NaN is refused, too."""
    if not least <= seconds <= _MOST_SECONDS:
        raise BadInput(f"{name} comes to {seconds:g} s; give {least:g} to {_MOST_SECONDS:g} s")
    return seconds
