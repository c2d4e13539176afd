"""Options of `conform` that no other command has, and the protocol that they mean together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from scatterproof.conformance.profile import Profile
from scatterproof.options import protocol_of, resolve
from scatterproof.spec.errors import BadInput

CaseNames = Annotated[
    list[str] | None, typer.Option("--case", help="Only this case, or these: an id, a clause, or with * and ?.")
]
ShowList = Annotated[bool, typer.Option("--list", help="List the cases, and run none.")]
JunitFile = Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML to this file.")]
HtmlFile = Annotated[Path | None, typer.Option("--html", help="Write a page to this file.")]
Shrink = Annotated[
    float | None,
    typer.Option(
        "--shrink",
        min=0,
        metavar="SECONDS",
        help="Make failing cases small for the page, in this many seconds in all; 20 with --html, else 0.",
        show_default=False,
    ),
]
BaselineFile = Annotated[
    Path | None,
    typer.Option("--baseline", help="Known failures, a case id a line: they do not count, but must still fail."),
]
ProfileFile = Annotated[
    Path | None,
    typer.Option("--profile", help="What the implementation claims (TOML, see spec/ADAPTER.md); all when left out."),
]
Logs = Annotated[
    Path | None,
    typer.Option("--logs", help="Judge the logs in this folder (run.json, a log a node) instead of running cases."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say which cases would run, which not and why; start nothing.")]
Explain = Annotated[
    str | None,
    typer.Option(
        "--explain", metavar="CLAUSE", help="Explain this clause: by a run that keeps it, and one that does not."
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="What SHOULD be kept counts like what MUST be.")]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Go on with the run in --results that was broken off: cases that have ended there are taken over. The"
        " implementation, the profile and the catalogue must be the same.",
    ),
]
FailFast = Annotated[bool, typer.Option("--fail-fast", help="Stop at the first case that fails.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, help="How many cases are under way at once.")]
Durations = Annotated[int, typer.Option("--durations", min=0, help="Show this many of the slowest cases.")]
SummaryFile = Annotated[
    Path | None,
    typer.Option("--summary", help="Append a summary in Markdown to this file, such as a CI shows beside a job."),
]


def protocol_meant(named: str | None, profile: Profile | None, case: Sequence[str] = ()) -> str:
    """The protocol that the profile, the cases' addresses or the user name. Raises BadInput where they do not agree."""
    addressed = protocol_of(case)
    if profile is not None:
        for other in (named, addressed):
            if other is not None and resolve(other) != profile.protocol:
                raise BadInput(f"{profile.name}: is a profile of {profile.protocol}, not of {other}; leave {other} out")
        return profile.protocol
    if named is not None and addressed not in (None, resolve(named)):
        raise BadInput(f"--case names {addressed}, and --protocol {named}; leave --protocol out")
    return addressed or resolve(named)
