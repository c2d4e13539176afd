"""What a judge of output files says: the message and the processes, in words."""

from __future__ import annotations

from collections.abc import Sequence

from scatterproof.conformance.broadcast.programs.lines import Output
from scatterproof.conformance.broadcast.programs.scan import Sort, WrongLine, line_of
from scatterproof.conformance.broadcast.programs.workload import Task
from scatterproof.spec.broadcast.messages import Level

# By sort, which clause such a line breaks (LAYER is PL or URB, ORDER the clause of the level, if it has one), and what
# is said of it, after whose line it is.
SORTS = {
    Sort.MALFORMED: ("BC-IO-OUT", "is {line}, which is neither `b SEQ` nor `d SENDER SEQ`"),
    Sort.BEGUN_OUT_OF_ORDER: ("BC-IO-OUT", "begins with message {number}, though message {other} comes next"),
    Sort.BEGUN_TWICE: ("BC-IO-OUT", "begins with message {number} again"),
    Sort.BEGUN_UNASKED: ("BC-IO-CONFIG", "begins with message {number}; {asked}"),
    Sort.NO_SUCH_SENDER: ("BC-LAYER-REAL", "delivers {message}, which was invented: {senders}"),
    Sort.NO_SUCH_MESSAGE: (
        "BC-LAYER-REAL",
        "delivers {message}, which was invented: there are messages 1 to {most} only",
    ),
    Sort.TWICE: ("BC-LAYER-ONCE", "delivers {message} again, after line {witness}"),
    Sort.BEFORE_BEGUN: ("BC-LAYER-REAL", "delivers {message}, its own, which it had not begun with"),
    Sort.OUT_OF_ORDER: ("ORDER", "delivers {message} before its message {other}"),
    Sort.BEFORE_DEPENDENCY: ("BC-LCB-CAUSAL", "delivers {message} before message {more} of process {other}, {why}"),
}


class Sentences:
    def __init__(self, task: Task, outputs: Sequence[Output]) -> None:
        self._task, self._outputs = task, outputs

    def of_line(self, process: int, found: WrongLine) -> tuple[str, int]:
        """What is wrong with this line of the process's output, and the earlier line that it contradicts (or -1)."""
        output, witness = self._outputs[process - 1], -1
        if found.sort is Sort.TWICE:
            witness = line_of(Output(output.path), found.sender, found.number)
        depends = f"which process {found.sender} depends on and had delivered when it began"
        said = SORTS[found.sort][1].format(
            message=f"message {found.number} of process {found.sender}",
            number=found.number,
            other=found.other,
            more=found.more,
            most=self._task.messages,
            witness=witness,
            line=output.quote(found.place),
            asked=self._asked(process),
            senders=self._senders(process, found.sender),
            why="which it began with earlier" if found.other == found.sender else depends,
        )
        return f"line {found.line} of process {process}'s output {said}", witness

    def never_begun(self, process: int, creator: int, number: int, count: int) -> str:
        return (
            f"process {process} delivered message {number} of process {creator}, which was invented: process {creator}"
            f" never began with it{_more(count)}"
        )

    def lost(self, process: int, creator: int, number: int, witness: int, count: int) -> str:
        """witness: who delivered it, or 0."""
        if witness:
            by = f", which process {witness} delivered"
        elif creator == process:
            by = ", its own"
        else:
            by = ", which was sent to it"
        return f"process {process} did not deliver message {number} of process {creator}{by}{_more(count)}"

    def alone(self, process: int, creator: int, number: int, count: int, known: int) -> str:
        """known: of how many processes it could have heard at all, itself among them."""
        others = f" and {count - 1} others" if count > 1 else ""
        return (
            f"process {process} delivered message {number} of process {creator}{others}, though it could have heard of"
            f" {known} of {self._task.processes} processes only, itself among them, by the datagrams that came to it"
        )

    def _asked(self, process: int) -> str:
        if self._task.level is Level.PL and process == self._task.receiver:
            return "its configuration file has it send nothing"
        return f"its configuration file asks for messages 1 to {self._task.messages}"

    def _senders(self, process: int, sender: int) -> str:
        if not 1 <= sender <= self._task.processes:
            return f"processes are 1 to {self._task.processes}"
        if process != self._task.receiver:
            return f"only process {self._task.receiver} is sent anything"
        return "nobody sends to itself"


def _more(count: int) -> str:
    return f" (nor {count - 1} more of its messages)" if count > 1 else ""
