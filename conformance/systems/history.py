"""What the hosts of a real system were handed and delivered, as they tell it; and the same as logs of a protocol."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from scatterproof.conformance.adapters.log_folder import log_path, write_befell, write_run
from scatterproof.conformance.protocol import load
from scatterproof.conformance.systems.telling import LogEvent, SystemHistory
from scatterproof.spec.errors import BadInput
from scatterproof.spec.files import read_bytes, write_atomically
from scatterproof.spec.trace import ABSENT, Kind, Row, schema
from scatterproof.spec.trace_ndjson import encode_row


def _befell(history: SystemHistory, protocol: str) -> list[Row]:
    """Rows for the crashes of hosts that are gone."""
    names = schema(protocol).columns
    crashes = [
        {"kind": int(Kind.CRASHED), "node": host, "time_ns": _last(history.hosts[host])} for host in history.gone
    ]
    return [tuple(crash.get(name, ABSENT) for name in names) for crash in crashes]


def _last(events: Sequence[LogEvent]) -> int:
    return events[-1].time_ns if events else 0


def read_events(path: Path) -> tuple[LogEvent, ...]:
    """The whole lines of a host's log; a host that was stopped may have left half of one behind."""
    *lines, _ = read_bytes(path, "log").split(b"\n")
    decoder = msgspec.json.Decoder(LogEvent)
    found: list[LogEvent] = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(decoder.decode(line))
        except msgspec.DecodeError as error:
            raise BadInput(f"{path}: line {number} is no event of a host: {error}") from None
    return tuple(found)


def write_logs(history: SystemHistory, protocol: str, folder: Path) -> None:
    """Write a folder for `conform --logs`. Raises BadInput for a protocol that cannot express such histories."""
    found = load(protocol).teller
    if found is None:
        raise BadInput(f"protocol {protocol!r} has no way yet to tell what a real system did; choose another")
    teller = found()
    run, names = teller.run(history), schema(protocol)
    folder.mkdir(parents=True, exist_ok=True)
    for host, rows in enumerate(teller.rows(history)):
        write_atomically(log_path(folder, host, run.topology), b"".join(encode_row(row, names) + b"\n" for row in rows))
    write_befell(folder, _befell(history, protocol), protocol)
    write_run(folder, run)
