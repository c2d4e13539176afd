"""The published latencies (published.tsv), to compare with ours."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from scatterproof.spec.errors import BadInput
from scatterproof.spec.files import read_bytes

PUBLISHED = Path(__file__).parent / "published.tsv"
COLUMNS = ("processes", "best_effort_chip_us", "best_effort_host_us")


@dataclass(frozen=True, slots=True)
class Published:
    """Mean latency in microseconds with this number of processes."""

    processes: int
    chip_us: float
    host_us: float


def read(path: Path = PUBLISHED) -> list[Published]:
    """The rows of a file with COLUMNS, separated by tabs; lines that begin with # name the source. BadInput, with the
    line, for anything else."""
    lines = read_bytes(path, "published figures").decode().splitlines()
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line and not line.startswith("#")]
    if not numbered or tuple(numbered[0][1].split("\t")) != COLUMNS:
        raise BadInput(
            f"{path}: the columns are not {', '.join(COLUMNS)}, separated by tabs; name them in the first line"
        )
    rows: list[Published] = []
    for number, line in numbered[1:]:
        try:
            processes, chip, host = line.split("\t")
            rows.append(Published(int(processes), float(chip), float(host)))
        except ValueError:
            raise BadInput(f"{path}: line {number} is not a whole number and two latencies; correct it") from None
        if min(rows[-1].processes, rows[-1].chip_us, rows[-1].host_us) <= 0:
            raise BadInput(f"{path}: line {number} has a number that is not above 0; correct it")
    return rows
