"""The judgement on programs by their output files, the course of their run, and what the relay counted.

Safety is judged line by line (`scan`), liveness when the run is over, by how it ended (`ending`).
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from scatterproof.conformance.broadcast.parameters import not_applicable
from scatterproof.conformance.broadcast.programs.lines import Output
from scatterproof.conformance.broadcast.programs.scan import Marks, Scan, Sort
from scatterproof.conformance.broadcast.programs.sentences import SORTS, Sentences
from scatterproof.conformance.broadcast.programs.workload import Task
from scatterproof.conformance.stress.contract import Course, EndedProcess, ProgramJudgement, known_to
from scatterproof.conformance.stress.ending import Ending
from scatterproof.conformance.stress.tally import ProgramTally
from scatterproof.conformance.verdict import ClauseResult, Verdict
from scatterproof.spec import clauses
from scatterproof.spec.broadcast.messages import Level

# A program that held back more than this until it was asked to end cannot be followed at work.
_HELD_BACK_BYTES = 1 << 16

# By level, the clauses that output files do not show there, each with the reason: those of lower levels, too.
_REASONS = tomllib.loads(Path(__file__).with_name("unseen.toml").read_text(encoding="utf-8"))
UNSEEN: Mapping[Level, Mapping[str, str]] = {
    level: {clause: reason for lower in list(Level)[: at + 1] for clause, reason in _REASONS.get(lower, {}).items()}
    for at, level in enumerate(Level)
}


class Judge:
    """Judges one run, once. `seen_sizes`: bytes of each output when programs were asked to end."""

    def __init__(self, task: Task, paths: Sequence[Path], course: Course, seen_sizes: Sequence[int]) -> None:
        self._task, self._course = task, course
        self._outputs = [Output(path) for path in paths]
        self._scan = Scan(task, self._outputs)
        self._say = Sentences(task, self._outputs)
        self._tallies = {clause: ProgramTally(clause, _names()[clause]) for clause in _seen_at(task.level)}
        ended = zip(self._outputs, seen_sizes, strict=True)
        held_back = any(
            output.size - seen > _HELD_BACK_BYTES or (output.size > 0 and seen == 0) for output, seen in ended
        )
        self._ending = Ending(course, held_back)
        self._layer = "PL" if task.level is Level.PL else "URB"
        self._real = self._real_messages()
        self._lacks_reference = False

    def judgement(self) -> ProgramJudgement:
        self._judge_lines()
        self._judge_invented()
        if self._task.level is Level.PL:
            self._judge_links()
        else:
            self._judge_broadcast()
            self._judge_minorities()
        self._judge_begun()
        for outcome in self._course.outcomes:
            self._judge_files(outcome)
            self._judge_hosts(outcome)
        self._judge_stress()
        deliveries = sum(findings.deliveries for findings in self._scan.findings)
        nothing = "nothing that could break it was written" if deliveries else "no delivery was written"
        return ProgramJudgement(
            clauses=self._results(nothing),
            deliveries=deliveries,
            seconds=self._course.woke_s + self._ending.last_delivery_s,
            lacks_reference=self._lacks_reference,
            notes=tuple(self._ending.notes()),
        )

    def _results(self, nothing: str) -> tuple[ClauseResult, ...]:
        """The result of every clause of the level, in the order of the catalogue."""
        results = {clause: tally.result(nothing) for clause, tally in self._tallies.items()}
        unseen = {**UNSEEN[self._task.level]}
        minority = results.get("BC-URB-MINORITY")
        if minority is not None and minority.verdict is Verdict.INCONCLUSIVE:
            unseen["BC-URB-MINORITY"] = "every process could hear of a majority, be it by way of others"
        for clause, reason in unseen.items():
            results[clause] = ClauseResult(clause, _names()[clause], Verdict.NOT_APPLICABLE, 0, (), reason)
        return tuple(results[clause] for clause in _names() if clause in results)

    def _clause(self, sort: Sort) -> str:
        """The clause that a line of this sort breaks at this level."""
        order = {Level.FIFO: "BC-FIFO-ORDER", Level.LCB: "BC-LCB-FIFO"}.get(self._task.level, "")
        return SORTS[sort][0].replace("LAYER", self._layer).replace("ORDER", order)

    def _judge_lines(self) -> None:
        for process, findings in enumerate(self._scan.findings[1:], 1):
            broken = Counter[str]()
            for sort in Sort:
                clause, count, shown = self._clause(sort), int(findings.counts[sort]), findings.shown(sort)
                if clause not in self._tallies:
                    continue
                broken[clause] += count
                for found in shown:
                    more = count - len(shown) if found is shown[-1] else 0
                    sentence, witness = self._say.of_line(process, found)
                    self._tallies[clause].breaks(
                        sentence, count=1 + more, position=found.line, found=found.number, witness=witness
                    )
            for clause in {self._clause(sort) for sort in Sort if sort >= Sort.NO_SUCH_SENDER} & self._tallies.keys():
                self._tallies[clause].held += max(0, findings.deliveries - broken[clause])

    def _real_messages(self) -> Marks:
        """The messages that may be delivered, as far as outputs show: bits by creator and number."""
        real = self._scan.begun.copy()
        for outcome in self._course.outcomes:
            if not self._outputs[outcome.process].is_whole(outcome):
                real[outcome.process + 1, 1:] = 1
        return np.packbits(real, axis=1)

    def _judge_invented(self) -> None:
        tally = self._tallies[f"BC-{self._layer}-REAL"]
        for process in range(1, self._task.processes + 1):
            # One that no process has, or that comes before the own beginning, was told already.
            invented = self._scan.delivered(process) & ~self._real
            invented[process] = 0
            for creator, number, count in _first_ones(invented):
                tally.held = max(0, tally.held - count)
                tally.breaks(self._say.never_begun(process, creator, number, count), count=count, found=number)

    def _judge_links(self) -> None:
        """BC-PL-RELIABLE: what correct processes sent, at the receiver."""
        receiver, begun = self._task.receiver, np.packbits(self._scan.begun, axis=1)
        for outcome in self._course.outcomes:
            sender = outcome.process + 1
            if outcome.correct and sender != receiver:
                self._judge_due("BC-PL-RELIABLE", _only(sender, begun), receiver, (receiver, sender))

    def _judge_broadcast(self) -> None:
        """BC-URB-VALID and BC-URB-AGREE: what correct processes lack."""
        begun = np.packbits(self._scan.begun, axis=1)
        everywhere = [self._scan.delivered(process) for process in range(self._task.processes + 1)]
        somewhere = np.bitwise_or.reduce(everywhere) & self._real
        for outcome in self._course.outcomes:
            process = outcome.process + 1
            if outcome.correct:
                self._judge_due("BC-URB-AGREE", somewhere, process, (process,), everywhere)
                self._judge_due("BC-URB-VALID", _only(process, begun), process, (process,))

    def _judge_due(
        self, clause: str, due: Marks, process: int, between: Sequence[int], everywhere: Sequence[Marks] = ()
    ) -> None:
        """What this process has of what is due to it, and lacks; `everywhere`, what others delivered shows it."""
        tally, here = self._tallies[clause], self._scan.delivered(process)
        tally.held += _ones(due & here)
        for creator, number, count in _first_ones(due & ~here):
            witness = next((p for p, marks in enumerate(everywhere) if _has(marks, creator, number)), 0)
            sentence = self._say.lost(process, creator, number, witness, count)
            self._lacks(tally, between, count, sentence, found=number, witness=witness or -1)

    def _judge_minorities(self) -> None:
        """BC-URB-MINORITY: who could hear of no majority, itself among them, delivered nothing."""
        tally, count = self._tallies["BC-URB-MINORITY"], self._task.processes
        for outcome in self._course.outcomes:
            known = known_to(outcome.process, self._course.outcomes)
            if known is None or 2 * len(known) > count:
                continue
            process = outcome.process + 1
            delivered = _ones(self._scan.delivered(process))
            if delivered:
                creator, number, _ = _first_ones(self._scan.delivered(process))[0]
                sentence = self._say.alone(process, creator, number, delivered, len(known))
                tally.breaks(sentence, count=delivered, found=len(known), expected=count // 2 + 1)
            else:
                tally.held += 1

    def _judge_begun(self) -> None:
        """BC-IO-CONFIG, or BC-FIFO-FLOW for a process that stopped: how many messages correct processes began with."""
        config, flow = self._tallies["BC-IO-CONFIG"], self._tallies.get("BC-FIFO-FLOW")
        for outcome in self._course.outcomes:
            process = outcome.process + 1
            if not outcome.correct or not self._task.sends(process):
                continue
            begun = int(self._scan.begun[process].sum())
            config.held += begun
            if flow is not None and begun == self._task.messages:
                flow.held += 1
            if begun < self._task.messages:
                tally = flow if flow is not None and begun else config
                sentence = f"process {process} began with {begun} of its {self._task.messages} messages"
                expected = self._task.messages
                self._lacks(tally, (process,), expected - begun, sentence, found=begun, expected=expected)

    def _lacks(
        self, tally: ProgramTally, processes: Sequence[int], count: int, sentence: str, *,
        found: int = -1, expected: int = -1, witness: int = -1,
    ) -> None:  # fmt: skip
        """Something lacks that time could bring, unless one of these processes has ended, or nothing new moves; or that
        an output which is not whole does not show, or a process that could not be reached."""
        outcomes = [self._course.outcomes[p - 1] for p in processes]
        cut = [o.process + 1 for o in outcomes if not o.crashed and self._outputs[o.process].is_cut(o)]
        deaf = [o.process + 1 for o in self._course.outcomes if _is_deaf(o)]
        raised = "".join(f"; process {o.process + 1} wrote to stderr: {o.raised}" for o in outcomes if o.raised)
        reason = ""
        if cut:
            reason = f"process {cut[0]} did not write its output in full (BC-IO-OUT)"
        elif any(o.crashed for o in outcomes):
            pass
        elif deaf:
            reason = f"process {deaf[0]} never opened its address in the hosts file (BC-IO-HOSTS)"
        elif not any(o.exited for o in outcomes) and self._ending.is_open:
            self._lacks_reference = self._ending.lacks_reference
            there = sum(findings.deliveries for findings in self._scan.findings)
            reason = self._ending.why_open(there / self._task.deliveries)
        if reason:
            tally.leaves_open(f"{sentence}; {reason}{raised}")
            return
        ended = any(o.crashed or o.exited for o in outcomes)
        sentence += raised if ended else self._ending.why_lost() + raised
        tally.breaks(sentence, count=count, found=found, expected=expected, witness=witness)

    def _judge_files(self, outcome: EndedProcess) -> None:
        """BC-IO-OUT beside the lines themselves: that the file is there and whole, and the process ends when asked."""
        tally, process = self._tallies["BC-IO-OUT"], outcome.process + 1
        output = self._outputs[outcome.process]
        if outcome.stubborn:
            tally.breaks(f"process {process} {outcome.stubborn} and was killed")
        elif outcome.left:
            tally.breaks(f"process {process} ended on SIGTERM and left {outcome.left} of its processes running")
        elif not outcome.killed and not outcome.crashed:
            line, rest = output.rest
            if output.flaw:
                tally.breaks(f"the output of process {process} {output.flaw}")
            elif rest:
                tally.breaks(
                    f"the output of process {process} ends within line {line}, {output.quote(output.size - rest)}:"
                    " it was not written out in full",
                    position=line,
                )
            else:
                tally.held += 1

    def _judge_hosts(self, outcome: EndedProcess) -> None:
        """BC-IO-HOSTS: what a process knows of others came by the addresses in its hosts file."""
        tally, process = self._tallies["BC-IO-HOSTS"], outcome.process + 1
        if _is_deaf(outcome):
            sent = f", though it sent {outcome.sent} datagrams" if outcome.sent else ""
            tally.breaks(f"process {process} never opened the UDP port that the hosts file gives it{sent}")
            return
        others = self._scan.delivered(process).copy()
        others[process] = 0
        if _ones(others) and not outcome.received:
            tally.breaks(
                f"process {process} delivered {_ones(others)} messages of others, though no datagram came to its"
                " address in the hosts file"
            )
        elif outcome.sent and outcome.received:
            tally.held += 1

    def _judge_stress(self) -> None:
        """BC-IO-STRESS: nobody falls over; what else breaks under stress is said of its own clause."""
        tally, course = self._tallies["BC-IO-STRESS"], self._course
        for outcome in course.outcomes:
            if outcome.crashed:
                tally.breaks(f"process {outcome.process + 1} {outcome.crashed}, though nobody had asked it to")
        injected = ("lost", "parted", "duplicated", "reordered")
        tally.held = len(course.steps) + sum(course.faults.get(name, 0) for name in injected)
        broken = [clause for clause, each in self._tallies.items() if each.is_broken and each is not tally]
        if broken:
            tally.leaves_open(f"this run breaks {', '.join(broken)}, be it for the stress or not")


def _is_deaf(outcome: EndedProcess) -> bool:
    """Whether nothing could reach it where others look for it, and that for no other reason."""
    return outcome.correct and not outcome.crashed and outcome.at_home is False


def _seen_at(level: Level) -> tuple[str, ...]:
    """The clauses of the level that output files show, in the order of the catalogue."""
    return tuple(c for c in _names() if not_applicable(c, {"level": level.value}) is None and c not in UNSEEN[level])


@cache
def _names() -> Mapping[str, str]:
    return {clause.id: clause.name for clause in clauses.load("broadcast").clauses}


def _ones(marks: Marks) -> int:
    return int(np.bitwise_count(marks).sum())


def _only(creator: int, marks: Marks) -> Marks:
    """The marks of this creator alone."""
    found = np.zeros_like(marks)
    found[creator] = marks[creator]
    return found


def _has(marks: Marks, creator: int, number: int) -> bool:
    return bool(marks[creator, number >> 3] >> (7 - (number & 7)) & 1)


def _first_ones(marks: Marks) -> list[tuple[int, int, int]]:
    """For each creator with any: its id, its lowest number, and how many there are."""
    counts = np.bitwise_count(marks).sum(axis=1)
    return [
        (int(creator), int(np.unpackbits(marks[creator]).argmax()), int(counts[creator]))
        for creator in np.flatnonzero(counts)
    ]
