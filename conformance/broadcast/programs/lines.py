"""Lines of output files as rows of integers, read piece by piece however long file and lines are (BC-IO-OUT)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np
import numpy.typing as npt
from numba import njit

from scatterproof.conformance.stress.contract import EndedProcess

Rows = npt.NDArray[np.int64]

# Columns of a row; SENDER is 0 where the line has none.
KIND, SENDER, NUMBER, LINE, PLACE = range(5)
MALFORMED, BEGUN, DELIVERED = range(3)

# Numbers beyond are not told apart: no workload has them.
_GREATEST = 1 << 40

_PIECE_BYTES = 1 << 20
_ROOM = 1 << 16

# State between pieces: where in a line, what it is, its numbers so far, the line's number and where it begins.
_PHASE, _KIND, _FIRST, _SECOND, _LINE, _BEGIN = range(6)
_AT_START, _AFTER_KIND, _BEFORE_FIRST, _IN_FIRST, _AFTER_FIRST, _IN_SECOND, _AFTER_SECOND, _BAD = range(8)


@njit(cache=True)
def _parse(data: npt.NDArray[np.uint8], begin: int, offset: int, state: Rows, rows: Rows) -> tuple[int, int]:
    """Read `data` from index `begin` on until rows are full; the index reached and how many rows. `offset`: of data[0]
    in the file. Blanks and carriage returns around the words do no harm."""
    written, place = 0, begin
    while place < len(data) and written < len(rows):
        byte, phase = data[place], state[_PHASE]
        place += 1
        if byte == 10:
            kind = MALFORMED
            if state[_KIND] == BEGUN and (phase in (_IN_FIRST, _AFTER_FIRST)):
                kind, state[_SECOND], state[_FIRST] = BEGUN, state[_FIRST], 0
            elif state[_KIND] == DELIVERED and (phase in (_IN_SECOND, _AFTER_SECOND)):
                kind = DELIVERED
            rows[written, KIND], rows[written, LINE], rows[written, PLACE] = kind, state[_LINE], state[_BEGIN]
            rows[written, SENDER], rows[written, NUMBER] = state[_FIRST], state[_SECOND]
            written += 1
            state[_PHASE], state[_KIND], state[_FIRST], state[_SECOND] = _AT_START, 0, 0, 0
            state[_LINE] += 1
            state[_BEGIN] = offset + place
        elif byte in (9, 13, 32):
            if phase == _AFTER_KIND:
                state[_PHASE] = _BEFORE_FIRST
            elif phase in (_IN_FIRST, _IN_SECOND):
                state[_PHASE] = phase + 1
        elif 48 <= byte <= 57:
            digit = np.int64(byte) - 48
            if phase in (_BEFORE_FIRST, _IN_FIRST):
                state[_PHASE] = _IN_FIRST
                state[_FIRST] = min(state[_FIRST] * 10 + digit, _GREATEST)
            elif phase in (_AFTER_FIRST, _IN_SECOND):
                state[_PHASE] = _IN_SECOND
                state[_SECOND] = min(state[_SECOND] * 10 + digit, _GREATEST)
            else:
                state[_PHASE] = _BAD
        elif phase == _AT_START and byte in (98, 100):
            state[_PHASE] = _AFTER_KIND
            state[_KIND] = BEGUN if byte == 98 else DELIVERED
        else:
            state[_PHASE] = _BAD
    return place, written


def compile_now() -> None:
    """Compile what reads lines, so that no run waits for it."""
    _parse(np.frombuffer(b"\n", dtype=np.uint8), 0, 0, np.zeros(6, dtype=np.int64), np.zeros((1, 5), dtype=np.int64))


class Output:
    """One output file, from its beginning on. flaw: why it cannot be read, as the end of a sentence, or nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.flaw = ""
        self.size = 0  # read so far
        self.length = 0  # of the file, when it was last opened
        self._state = np.zeros(6, dtype=np.int64)
        self._state[_LINE] = 1

    def rows(self, pieces: int | None = None) -> Iterator[Rows]:
        """What was written since the last call, or the first `pieces` megabytes of it, whole lines only; each array is
        overwritten by the next."""
        rows = np.empty((_ROOM, 5), dtype=np.int64)
        descriptor = self._open()
        if descriptor is None:
            return
        try:
            for _ in count() if pieces is None else range(pieces):
                piece = os.pread(descriptor, _PIECE_BYTES, self.size)
                if not piece:
                    break
                data = np.frombuffer(piece, dtype=np.uint8)
                place = 0
                while place < len(data):
                    place, written = _parse(data, place, self.size, self._state, rows)
                    yield rows[:written]
                self.size += len(piece)
        except OSError as error:
            self.flaw = f"cannot be read: {error.strerror}"
        finally:
            os.close(descriptor)

    @property
    def rest(self) -> tuple[int, int]:
        """Line number of what follows the last end of line, and how many bytes that is."""
        return int(self._state[_LINE]), self.size - int(self._state[_BEGIN])

    def is_cut(self, outcome: EndedProcess) -> bool:
        """Whether it is not what BC-IO-OUT asks for, so that nothing follows from what it lacks."""
        return bool(outcome.stubborn or self.flaw or self.rest[1])

    def is_whole(self, outcome: EndedProcess) -> bool:
        """Whether it shows all that its process did: one that was killed or crashed may not have written all."""
        return not (outcome.killed or outcome.crashed or self.is_cut(outcome))

    def quote(self, place: int) -> str:
        """The line that begins there, or the beginning of a long one."""
        with self.path.open("rb") as file:
            file.seek(place)
            return ascii(file.readline(60).decode("ascii", "backslashreplace").rstrip("\n"))

    def _open(self) -> int | None:
        """A descriptor of a regular file: opening anything else must not wait for anybody."""
        self.flaw = ""
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            self.flaw = "was not written"
            return None
        except OSError as error:
            self.flaw = f"cannot be read: {error.strerror}"
            return None
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            self.flaw = "is no regular file"
        elif status.st_size < self.size:
            self.flaw = "became shorter while it was read"
        if self.flaw:
            os.close(descriptor)
            return None
        self.length = status.st_size
        return descriptor
