"""What a judge of output files says: the message and the processes, in words."""

from __future__ import annotations

from collections.abc import Sequence

from scatterproof.conformance.broadcast.programs.lines import Output
from scatterproof.conformance.broadcast.programs.scan import Sort, WrongLine, line_of
from scatterproof.conformance.broadcast.programs.workload import Task
from scatterproof.spec.broadcast.messages import Level


class Sentences:
    def __init__(self, task: Task, outputs: Sequence[Output]) -> None:
        self._task, self._outputs = task, outputs

    def of_line(self, process: int, found: WrongLine) -> tuple[str, int]:
        """What is wrong with this line of the process's output, and the earlier line that it contradicts (or -1)."""
        who = f"line {found.line} of process {process}'s output"
        message = f"message {found.number} of process {found.sender}"
        witness = -1
        match found.sort:
            case Sort.MALFORMED:
                line = self._outputs[process - 1].quote(found.place)
                said = f"{who} is {line}, which is neither `b SEQ` nor `d SENDER SEQ`"
            case Sort.BEGUN_OUT_OF_ORDER:
                said = f"{who} begins with message {found.number}, though message {found.other} comes next"
            case Sort.BEGUN_TWICE:
                said = f"{who} begins with message {found.number} again"
            case Sort.BEGUN_UNASKED:
                said = f"{who} begins with message {found.number}; {self._asked(process)}"
            case Sort.NO_SUCH_SENDER:
                said = f"{who} delivers {message}, which was invented: {self._senders(process, found.sender)}"
            case Sort.NO_SUCH_MESSAGE:
                most = self._task.messages
                said = f"{who} delivers {message}, which was invented: there are messages 1 to {most} only"
            case Sort.TWICE:
                witness = line_of(Output(self._outputs[process - 1].path), found.sender, found.number)
                said = f"{who} delivers {message} again, after line {witness}"
            case Sort.BEFORE_BEGUN:
                said = f"{who} delivers {message}, its own, which it had not begun with"
            case Sort.OUT_OF_ORDER:
                said = f"{who} delivers {message} before its message {found.other}"
            case Sort.BEFORE_DEPENDENCY:
                said = f"{who} delivers {message} before message {found.more} of process {found.other}, "
                if found.other == found.sender:
                    said += "which it began with earlier"
                else:
                    said += f"which process {found.sender} depends on and had delivered when it began"
        return said, witness

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
