"""The explorer's pages, served to this machine alone.

The server listens on 127.0.0.1 and answers only GET. A path must begin with a random word, which another page in the
same browser cannot guess. The request must name this address as its host, so that no other name that leads here is
served.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from scatterproof.conformance.checks.online import Broken
from scatterproof.conformance.explorer.export import excerpt, schedule_up_to, time_of
from scatterproof.conformance.explorer.timeline import Timeline
from scatterproof.conformance.report.look import Head, render
from scatterproof.conformance.report.run import printable
from scatterproof.conformance.report.space_time import as_svg, diagram
from scatterproof.conformance.views import label_of, marks
from scatterproof.spec import trace_ndjson
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.trace import Row, Trace, schema

BEFORE, BEHIND = 40, 20  # rows of a window, before and after the one that is looked at
MOST_EXPORTED = 100_000  # rows
LOOPBACK = "127.0.0.1"
_HERE = Path(__file__).parent
Answer = tuple[str, bytes, Mapping[str, str]]


class Explorer:
    """Answers questions about one run. schedule: the run's own, None where it is not known."""

    def __init__(self, timeline: Timeline, schedule: Schedule | None = None) -> None:
        self.timeline = timeline
        self._schedule = schedule
        self._columns = schema(timeline.header.protocol)
        self.asked = threading.Event()  # set once the first window was asked for, whatever came of it
        self.answers: dict[str, Callable[[Mapping[str, str]], Answer]] = {
            "": self._page,
            "run": self._run,
            "at": self._at,
            "violation": self._violation,
            "time": self._time,
            "schedule": self._export_schedule,
            "excerpt": self._export_excerpt,
        }

    def _page(self, query: Mapping[str, str]) -> Answer:
        header = self.timeline.header
        by = (f"by {header.iut}",) if header.iut else ()
        clauses = f"{header.protocol}, clauses {header.catalogue or 'without a version'}"
        about = (clauses, *by, *header.notes)
        page = render(
            _HERE / "page.html.jinja",
            Head(title=self.timeline.source.name, verdict="reading", sentence="", about=about),
            styles=[_HERE / "page.css"],
            scripts=[_HERE / "page.js"],
            served="; connect-src 'self'; frame-ancestors 'none'",
        )
        return "text/html; charset=utf-8", page.text.encode(), {"Content-Security-Policy": page.policy}

    def _run(self, query: Mapping[str, str]) -> Answer:
        timeline, header = self.timeline, self.timeline.header
        return _json(
            {
                "nodes": [[node.name, str(node.role)] for node in header.topology.nodes],
                "rows": timeline.source.rows,
                "read": timeline.read,
                "ended": timeline.ended,
                "problem": timeline.problem,
                "broken": timeline.broken,
                "schedule": self._schedule is not None,
            }
        )

    def _at(self, query: Mapping[str, str]) -> Answer:
        """The window around a row, and the state of each node after that row."""
        try:
            return _json(self._window(_whole(query, "row")))
        finally:
            self.asked.set()

    def _window(self, at: int) -> dict[str, Any]:
        timeline = self.timeline
        first = max(0, at - BEFORE)
        rows = timeline.source.window(first, at - first + 1 + BEHIND)
        if rows is None:
            if timeline.ended:
                raise BadInput(timeline.problem or f"there is no row {at}; the run has {timeline.read}")
            return {"waits": timeline.read}
        if at >= first + len(rows):
            raise BadInput(f"there is no row {at}; the run has {timeline.source.rows or len(rows)}")
        found = timeline.violations(first, first + len(rows) - 1)
        at_row: dict[int, list[Broken]] = {}
        for one in found:
            at_row.setdefault(one.position, []).append(one)
        broken = {position: timeline.sentences(here, rows[position - first]) for position, here in at_row.items()}
        loud = {at - first} | {one.witness - first for one in found if one.position == at and one.witness >= first}
        before = timeline.view(first)
        beside = {} if before is None else marks(timeline.header, rows, before)
        picture = diagram(Trace(timeline.header, rows), loud, sent_too=True, beside=beside)
        states = timeline.states(at)
        if states is None and timeline.ended:
            raise BadInput(timeline.problem)
        return {
            "row": at,
            "first": first,
            "rows": [self._row(position, row, broken) for position, row in enumerate(rows, first)],
            "picture": printable(as_svg(picture, "Space-time diagram of these rows", style=None)),
            "states": states and [asdict(state) for state in states],
            "node": rows[at - first][self._columns.index("node")],
        }

    def _row(self, position: int, row: Row, broken: Mapping[int, list[tuple[str, str]]]) -> dict[str, Any]:
        told = dict(zip(self._columns.columns, row, strict=True))
        nodes, links = self.timeline.header.topology.nodes, self.timeline.header.topology.links
        link = links[told["link"]] if 0 <= told["link"] < len(links) else None
        return {
            "row": position,
            "time": str(told["time_ns"]),  # a page's numbers hold 53 bits
            "node": nodes[told["node"]].name if 0 <= told["node"] < len(nodes) else "",
            "kind": self._columns.kind(told["kind"]),
            "label": label_of(self.timeline.header.protocol, row),
            "link": f"{nodes[link.source].name}->{nodes[link.target].name}" if link is not None else "",
            "broken": broken.get(position, []),
            "columns": {name: str(value) for name, value in told.items() if value != -1},
        }

    def _violation(self, query: Mapping[str, str]) -> Answer:
        """The next row that breaks a clause, or with step=-1 the previous one. waits: there may be one that is not read
        yet."""
        step = -1 if query.get("step") == "-1" else 1
        found = self.timeline.next_violation(_whole(query, "row"), step)
        if found is None and step > 0 and self.timeline.problem:
            raise BadInput(self.timeline.problem)  # rows after this one are not judged
        waits = self.timeline.read if found is None and not self.timeline.ended and step > 0 else None
        return _json({"row": found, "waits": waits})

    def _time(self, query: Mapping[str, str]) -> Answer:
        """The first row at or after a time, by binary search; the rows must be in the order of time."""
        wanted, source = _whole(query, "ns"), self.timeline.source
        low, high = 0, self.timeline.read if source.rows is None else source.rows
        if not high:
            return _json({"waits": self.timeline.read})
        while low < high:
            middle = (low + high) // 2
            rows = source.window(middle, 1)
            if not rows:
                high = middle
            elif time_of(self.timeline.header, rows[0]) < wanted:
                low = middle + 1
            else:
                high = middle
        return _json({"row": max(0, min(low, (source.rows or self.timeline.read) - 1))})

    def _export_schedule(self, query: Mapping[str, str]) -> Answer:
        if self._schedule is None:
            raise BadInput("no schedule of this run is known; take an excerpt of the trace")
        rows = self.timeline.source.window(_whole(query, "last"), 1)
        if not rows:
            raise BadInput(f"there is no row {query.get('last')}")
        made = schedule_up_to(self._schedule, time_of(self.timeline.header, rows[0]))
        text = msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n"
        return "application/json", text, _named(f"up-to-row-{query['last']}.json")

    def _export_excerpt(self, query: Mapping[str, str]) -> Answer:
        first, last = _whole(query, "first"), _whole(query, "last")
        if not first <= last < first + MOST_EXPORTED:
            raise BadInput(f"rows {first} to {last} are no window; give at most {MOST_EXPORTED}, in rising order")
        rows = self.timeline.source.window(first, last - first + 1)
        if not rows:
            raise BadInput(f"there is no row {first}")
        text = trace_ndjson.encode(excerpt(self.timeline.header, rows, first))
        return "application/x-ndjson", text, _named(f"rows-{first}-to-{first + len(rows) - 1}.ndjson")


def serve(explorer: Explorer, port: int = 0) -> ExplorerServer:
    """A bound server, to be run with `serve_forever`. port: 0 for any that is free. Raises CannotRun for one that is
    not."""
    try:
        return ExplorerServer(explorer, port)
    except OSError as error:
        raise CannotRun(f"port {port} of {LOOPBACK} cannot be had: {error.strerror}; give another --port") from None


class ExplorerServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, explorer: Explorer, port: int) -> None:
        super().__init__((LOOPBACK, port), _Handler)
        self.explorer = explorer
        self.token = secrets.token_urlsafe(16)
        self.hosts = {f"{name}:{self.server_port}" for name in (LOOPBACK, "localhost")}

    @property
    def address(self) -> str:
        return f"http://{LOOPBACK}:{self.server_port}/{self.token}/"


class _Handler(BaseHTTPRequestHandler):
    server: ExplorerServer
    server_version = "scatterproof"
    sys_version = ""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        token, _, name = parts.path[1:].partition("/")
        if self.headers.get("Host") not in self.server.hosts:
            self._fail(HTTPStatus.FORBIDDEN, "this address is for this machine alone")
        elif not hmac.compare_digest(token.encode(), self.server.token.encode()):
            self._fail(HTTPStatus.FORBIDDEN, "the address has to be the one that `explore` has printed, whole")
        elif name not in self.server.explorer.answers:
            self._fail(HTTPStatus.NOT_FOUND, "there is nothing here")
        else:
            self._answer(name, {key: values[-1] for key, values in parse_qs(parts.query).items()})

    def _answer(self, name: str, query: Mapping[str, str]) -> None:
        try:
            kind, content, headers = self.server.explorer.answers[name](query)
        except (BadInput, CannotRun) as error:
            self._fail(HTTPStatus.BAD_REQUEST, str(error))
            return
        self._send(HTTPStatus.OK, kind, content, headers)

    def _fail(self, status: HTTPStatus, sentence: str) -> None:
        self._send(status, "application/json", msgspec.json.encode({"error": sentence}), {})

    def _send(self, status: HTTPStatus, kind: str, content: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        own = {"Content-Type": kind, "Content-Length": str(len(content)), "Cache-Control": "no-store"}
        more = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
        for key, value in {**own, **more, **headers}.items():
            self.send_header(key, value)
        self.end_headers()
        with suppress(BrokenPipeError, ConnectionResetError):  # the browser has closed the connection
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: nobody reads a line for each step."""


def _json(value: object) -> Answer:
    return "application/json", msgspec.json.encode(value), {}


def _named(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}


def _whole(query: Mapping[str, str], name: str) -> int:
    text = query.get(name, "")
    if not text.isascii() or not text.isdecimal() or len(text) > 18:
        raise BadInput(f"{name} is {text!r}; give a whole number")
    return int(text)
