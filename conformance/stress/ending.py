"""What the end of a run says of what is missing: that it is lost, or that it might have come later.

It is lost when nothing new moved any more, when the run was MULTIPLE times as long as the reference needs (and LEAST_S
at least), or when the user has set a deadline. It is open when the run was cut while output still grew, or while new
datagrams still got through: on a busy machine a program that loses no message may be silent for long.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scatterproof.conformance.stress.contract import Course

# A program may take this many times as long as the reference, and this many seconds: it may have to warm up.
MULTIPLE = 30
LEAST_S = 30.0
_TOLD = 3  # texts of stderr


@dataclass(frozen=True, slots=True)
class Ending:
    """held_back: whether output was written only at the end."""

    course: Course
    held_back: bool

    @property
    def last_delivery_s(self) -> float:
        """When it was seen; of output that was held back, the latest that datagrams allow."""
        return self.course.seconds - self.course.quiet_s if self.held_back else self.course.busy_s

    @property
    def grew(self) -> bool:
        """Whether output did, to the end."""
        return self.course.still_s < self.course.window_s

    @property
    def is_open(self) -> bool:
        """Whether what is missing might have come later."""
        course = self.course
        over = all(outcome.crashed or outcome.exited or not outcome.correct for outcome in course.outcomes)
        if course.complete or course.due or over:
            return False
        return self.grew or (self._is_unseen and not 0 < self._enough_s <= course.seconds)

    @property
    def lacks_reference(self) -> bool:
        """Whether it is open, and what the reference needs would tell more."""
        return self.is_open and not self.grew

    @property
    def _enough_s(self) -> float:
        """For any program; 0 where it is not known what the reference needs."""
        return max(LEAST_S, MULTIPLE * self.course.reference_s) if self.course.reference_s else 0.0

    @property
    def _is_unseen(self) -> bool:
        """Whether nobody could see whether programs were at a stand."""
        return not self.course.at_a_stand

    def why_open(self, share: float) -> str:
        """As the end of a sentence, with a mend. share: of all deliveries, how many are there."""
        course = self.course
        if self.grew:
            factor = min(20.0, max(2.0, 1.5 / max(share, 1e-9)))
            return (
                f"output grew until {course.still_s:.1f} s before the end of the {course.seconds:.1f} s; give more"
                f" time, for instance --seconds {max(1, round(factor * course.seconds))}"
            )
        enough = math.ceil(self._enough_s)
        needs = f"enough for what the reference does in {course.reference_s:.1f} s"
        more = f"give --seconds {enough}, which is {needs}, or" if enough else "give"
        silent = (
            "output was written only at the end"
            if self.held_back
            else f"no output grew in the last {course.still_s:.1f} s"
        )
        return (
            f"{silent}, and new datagrams got through until {course.quiet_s:.1f} s before the"
            f" end of the {course.seconds:.1f} s, so nobody saw whether it was at a stand; {more} --deadline, and what"
            " lacks at the end counts as lost"
        )

    def why_lost(self) -> str:
        """As the end of a sentence; nothing where all had ended, or all was there."""
        course = self.course
        if course.complete:
            return ""
        if course.due and (self.grew or self._is_unseen):
            return f"; it had {course.seconds:.1f} s, and --deadline says that they suffice"
        if self._is_unseen:
            return f"; it had {course.seconds:.1f} s for what the reference does in {course.reference_s:.1f} s"
        quiet = f", and no new datagram got through in the last {course.quiet_s:.1f} s" if course.at_a_stand else ""
        return f"; no output grew in the last {course.still_s:.1f} of {course.seconds:.1f} s{quiet}"

    def notes(self) -> list[str]:
        notes = []
        for outcome in self.course.outcomes:
            process = outcome.process + 1
            if outcome.exited and outcome.correct:
                notes.append(f"process {process} ended with exit code 0 before it was asked to")
            if outcome.logs_cut:
                notes.append(
                    f"process {process} wrote so much to stdout or stderr that only beginning and end are kept"
                )
        told: dict[str, list[str]] = {}
        for outcome in self.course.outcomes:
            if outcome.stderr and not outcome.crashed:
                told.setdefault(outcome.stderr, []).append(str(outcome.process + 1))
        for words, who in list(told.items())[:_TOLD]:
            notes.append(f"stderr of process {', '.join(who)} ends: {words}")
        if len(told) > _TOLD:
            notes.append(f"{len(told) - _TOLD} processes more wrote to stderr")
        if self.held_back:
            notes.append("output was written only at the end: deliveries are timed to the last new datagram")
        return notes
