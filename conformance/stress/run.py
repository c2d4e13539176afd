"""One run of programs under stress: files, relay, start, the plan's steps, the end, and what came of each process."""

from __future__ import annotations

import secrets
import shlex
import shutil
import signal
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from scatterproof.conformance.relay.faults import Faults
from scatterproof.conformance.relay.ports import free_addresses
from scatterproof.conformance.relay.relay import Counts, Relay
from scatterproof.conformance.stress.contract import Course, EndedProcess, Tester, Workload
from scatterproof.conformance.stress.gathering import PLACEHOLDERS, gathering
from scatterproof.conformance.stress.plan import ENDINGS, Act, PlannedStep
from scatterproof.conformance.stress.program import BOUNDS, Bounds, Program, kill_marked, marked
from scatterproof.spec.errors import BadInput, CannotRun

_TICK_S = 0.02  # how often the end of a process is looked for while programs are asked to end
_LOOK_S = 0.1  # how often the output is looked at
_SETTLE_S = 0.5  # how long everything must have been there before a run ends early
_SIGNALS = {Act.PAUSE: signal.SIGSTOP, Act.RESUME: signal.SIGCONT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stress:
    """wake_s: how long to wait for the first datagram of the slowest program.
    seconds: when programs are asked to end, at the latest.
    due: what is missing then counts as lost.
    patience_s: for their end.
    """

    faults: Faults
    steps: tuple[PlannedStep, ...] = ()
    wake_s: float = 10.0
    seconds: float = 30.0
    due: bool = False
    patience_s: float = 10.0
    bounds: Bounds = BOUNDS

    @property
    def window_s(self) -> float:
        """How long nothing new must have moved for a run to be at a stand."""
        return min(10.0, max(1.0, self.seconds / 4), self.seconds / 2)


def split(command: str, placeholders: Sequence[str]) -> list[str]:
    """The command's words; BadInput when it is none, or does not say where a file or a number goes; CannotRun when it
    is not there."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadInput(f"--iut-command {command!r} is no shell command: {error}") from None
    missing = [name for name in placeholders if not any(f"{{{name}}}" in word for word in words)]
    if not words or missing:
        wanted = " ".join(f"{{{name}}}" for name in missing or placeholders)
        raise BadInput(f"--iut-command {command!r} lacks {wanted}; write them where the program expects their values")
    if "{" not in words[0] and shutil.which(words[0]) is None:
        what = "is no file that may be executed" if Path(words[0]).exists() else "is not there"
        raise CannotRun(f"{words[0]}: cannot be started: it {what}; check the command")
    return words


def fresh_folders(folder: Path, processes: int) -> list[Path]:
    """An empty folder a process; what an earlier run left there is removed, or it would be judged again."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
        found = [(folder / f"process-{process + 1}").absolute() for process in range(processes)]
        for each in found:
            each.mkdir(parents=True)
    except OSError as error:
        raise CannotRun(f"{folder}: cannot be made anew: {error.strerror}; give another --results folder") from None
    return found


def run(
    command: Sequence[str],
    tester: Tester,
    workload: Workload,
    stress: Stress,
    folders: Sequence[Path],
    progress: Callable[[str], None] = lambda _: None,
) -> Course:
    """Run the programs to their end; whatever they do, none is left, and what they did comes back as a value."""
    with ExitStack() as stack:
        addresses = stack.enter_context(free_addresses(workload.processes))
        relay = stack.enter_context(Relay(addresses, stress.faults, workload.seed))
        gathered = any(f"{{{name}}}" in word for word in command for name in PLACEHOLDERS)
        places = stack.enter_context(gathering(workload.processes)) if gathered else {}
        words = [
            _fill(
                command,
                {**places, **tester.write(process, [relay.address(process, b) for b in range(workload.processes)])},
            )
            for process in range(workload.processes)
        ]
        running = _Run(secrets.token_hex(8), relay, tester, stress, progress)
        stack.callback(running.clear)
        for process, own in enumerate(words):
            running.start(process, own, folders[process])
        running.wake()
        running.go()
        running.end()
        return running.course()


def _fill(command: Sequence[str], values: Mapping[str, str]) -> list[str]:
    words = list(command)
    for name, value in values.items():
        words = [word.replace(f"{{{name}}}", value) for word in words]
    return words


@dataclass(slots=True)
class _Fate:
    """What is known of one process so far."""

    ending: PlannedStep | None = None
    crashed: str = ""
    exited: bool = False
    stubborn: str = ""
    left: int = 0
    deadline: float = 0.0  # when a process that the plan ended is killed


@dataclass(slots=True)
class _Run:
    mark: str
    relay: Relay
    tester: Tester
    stress: Stress
    progress: Callable[[str], None]
    programs: list[Program] = field(default_factory=list)
    fates: list[_Fate] = field(default_factory=list)
    began: float = 0.0
    talked_at: float = 0.0  # when the first datagram was seen, by time.monotonic()
    seconds: float = 0.0
    complete: bool = False
    size: int = 0
    deliveries: int = 0
    grew: float = 0.0  # when the output last did
    busy: float = 0.0  # when a delivery was last seen
    moved: float = 0.0  # when something new last got through, or was about to
    traffic: int = 0  # datagrams until then
    at_home: set[int] | None = field(default_factory=set)  # whose own address was ever opened
    ask_at: float = 0.0  # when to ask again who opened his, by time.monotonic()

    def start(self, process: int, words: Sequence[str], folder: Path) -> None:
        self.began = time.monotonic()
        self.programs.append(Program(f"process-{process + 1}", words, folder, self.mark, self.stress.bounds))
        self.fates.append(_Fate())

    def wake(self) -> None:
        """Wait until each program has sent something or ended: the plan's times count from then, or a program that
        takes long to start would be killed before it did anything."""
        deadline = time.monotonic() + self.stress.wake_s
        silent = set(range(len(self.programs)))
        while silent and time.monotonic() < deadline:
            self.relay.run(time.monotonic() + _TICK_S)
            self._watch(self._now())
            self._look_for_homes()
            talking = self._talking()
            silent = {process for process in silent - talking if self.programs[process].is_running()}
            if talking and not self.talked_at:
                self.talked_at = time.monotonic()
        self.relay.start()
        self.began = time.monotonic()

    def go(self) -> None:
        """Follow the plan until the time is over, everything is there or at a stand, or nobody runs any more."""
        steps = list(self.stress.steps)
        expected = [p for p in range(len(self.programs)) if not any(s.process == p and s.act in ENDINGS for s in steps)]
        last_end = max(
            (*(step.time_s for step in steps), *(each.end_ns / 1e9 for each in self.stress.faults.partitions)),
            default=0.0,
        )
        look, since = 0.0, 0.0
        while True:
            now = self._now()
            while steps and steps[0].time_s <= now:
                self._take(steps.pop(0))
            self._watch(now)
            if now >= look:
                self._look(now, expected)
                over = not steps and now >= last_end
                since = (since or now) if self.complete and over else 0.0
                if over and self._is_at_a_stand(now, last_end):
                    break
                look = self._now() + _LOOK_S
            if now >= self.stress.seconds or not any(program.is_running() for program in self.programs):
                break
            if since and now - since >= _SETTLE_S:
                break
            self._carry_until(min([look, self.stress.seconds, *(step.time_s for step in steps[:1])]))
        self.seconds = self._now()

    def end(self) -> None:
        """SIGTERM for all, and SIGKILL for those that are left when patience is over, with all that they started."""
        asked = [process for process, program in enumerate(self.programs) if program.is_running()]
        for process in asked:
            self._terminate(process)
        deadline = self._now() + self.stress.patience_s
        while (left := self._left(asked)) and self._now() < deadline:
            self._watch(self._now())
            self._carry_until(self._now() + _TICK_S)
        for process, running in left.items():
            fate, program = self.fates[process], self.programs[process]
            if program.is_running():
                fate.stubborn = fate.stubborn or f"did not end within {self.stress.patience_s:g} s of SIGTERM"
            else:
                fate.left = max(fate.left, running)
        self.clear()

    def clear(self) -> None:
        """Kill and collect everything."""
        for program in self.programs:
            program.collect()
        kill_marked(self.mark)

    def course(self) -> Course:
        counts = self.relay.counts()
        return Course(
            outcomes=tuple(self._outcome(process, counts) for process in range(len(self.programs))),
            seconds=self.seconds,
            still_s=self.seconds - self.grew,
            quiet_s=self.seconds - self.moved,
            window_s=self.stress.window_s,
            complete=self.complete,
            due=self.stress.due,
            busy_s=self.busy,
            woke_s=max(0.0, self.began - self.talked_at) if self.talked_at else 0.0,
            faults=_sums(counts, self.relay.dropped_by_system()),
            steps=self.stress.steps,
        )

    def _now(self) -> float:
        return time.monotonic() - self.began

    def _carry_until(self, time_s: float) -> None:
        self.relay.run(self.began + time_s)

    def _take(self, step: PlannedStep) -> None:
        program, fate = self.programs[step.process], self.fates[step.process]
        if not program.is_running():
            return
        if step.act in _SIGNALS:
            program.signal(_SIGNALS[step.act])
            return
        fate.ending = step
        if step.act is Act.TERMINATE:
            self._terminate(step.process)
            fate.deadline = self._now() + self.stress.patience_s
        else:
            program.signal(signal.SIGKILL)
            kill_marked(self.mark, [program.mark])

    def _terminate(self, process: int) -> None:
        self.programs[process].signal(signal.SIGTERM)
        self.programs[process].signal(signal.SIGCONT)  # a stopped process would not see it

    def _watch(self, now: float) -> None:
        """Note who ended unasked, end whom patience is over for, keep logs short."""
        for program, fate in zip(self.programs, self.fates, strict=True):
            program.trim_logs()
            running = program.is_running()
            if fate.ending is not None:
                if running and fate.deadline and now >= fate.deadline:
                    fate.stubborn = f"did not end within {self.stress.patience_s:g} s of SIGTERM"
                    program.signal(signal.SIGKILL)
                    kill_marked(self.mark, [program.mark])
            elif not running and not fate.crashed and not fate.exited and not self.seconds:
                how = program.how_it_ended()
                fate.exited = how == "ended with exit code 0"
                if not fate.exited:
                    words = program.last_words()
                    fate.crashed = f"{how} after {now:.1f} s" + (f" (stderr ends: {words})" if words else "")

    def _look(self, now: float, expected: Sequence[int]) -> None:
        standing = self.tester.look(expected)
        if standing.size != self.size:
            self.size, self.grew = standing.size, now
        if standing.deliveries != self.deliveries:
            self.deliveries, self.busy = standing.deliveries, now
        self.complete = standing.complete
        news, traffic = self.relay.news, self.relay.traffic()
        moved = now if news.is_due(time.monotonic_ns()) else news.latest_ns / 1e9 - self.began
        if moved > self.moved:
            self.moved, self.traffic = moved, traffic
        self._look_for_homes()
        self.progress(
            f"{now:.0f} of at most {self.stress.seconds:g} s, {standing.deliveries} deliveries, {traffic} datagrams"
        )

    def _is_at_a_stand(self, now: float, last_end: float) -> bool:
        """Whether nothing new has moved for a window since the plan's last step, though programs repeat themselves.
        Where one has not spoken yet, or none does any more, they may be waiting for a processor."""
        if now - max(last_end, self.grew, self.moved) < self.stress.window_s:
            return False
        running = {process for process, program in enumerate(self.programs) if program.is_running()}
        return self.relay.traffic() > self.traffic and running <= self._talking()

    def _talking(self) -> set[int]:
        return {source for (source, _), each in self.relay.counts().items() if each.received}

    def _look_for_homes(self) -> None:
        """Seldom where it takes long: the relay waits meanwhile."""
        asked = time.monotonic()
        if self.at_home is not None and len(self.at_home) < len(self.programs) and asked >= self.ask_at:
            found = self.relay.at_home()
            self.at_home = None if found is None else self.at_home | found
            self.ask_at = time.monotonic() + 10 * (time.monotonic() - asked)

    def _left(self, asked: Collection[int]) -> dict[int, int]:
        """Running processes by the program that they belong to; the children of programs that ended, too."""
        ours = marked(self.mark)
        left = {}
        for process, program in enumerate(self.programs):
            pids = ours.get(program.mark, ())
            if pids or (process in asked and program.is_running()):
                left[process] = len(pids)
        return left

    def _outcome(self, process: int, counts: Mapping[tuple[int, int], Counts]) -> EndedProcess:
        fate = self.fates[process]
        return EndedProcess(
            process=process,
            ending=fate.ending,
            crashed=fate.crashed,
            exited=fate.exited,
            stubborn=fate.stubborn,
            left=fate.left,
            sent=sum(each.received for (source, _), each in counts.items() if source == process),
            received=sum(each.sent for (_, target), each in counts.items() if target == process),
            heard=tuple(sorted(a for (a, b), each in counts.items() if b == process and each.sent)),
            at_home=None if self.at_home is None else process in self.at_home,
            stderr=self.programs[process].last_words(),
            raised=self.programs[process].first_raised(),
            logs_cut=self.programs[process].logs_cut,
        )


def _sums(counts: Mapping[tuple[int, int], Counts], dropped: int | None) -> dict[str, int]:
    sums: dict[str, int] = {}
    for each in counts.values():
        for name, count in each.plain().items():
            sums[name] = sums.get(name, 0) + count
    return sums if dropped is None else {**sums, "dropped_by_system": dropped}
