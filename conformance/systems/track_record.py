"""Known mistakes of third-party systems, as `track_record.toml` has them, and the page about them."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec

from scatterproof.spec.errors import BadInput

FILE = Path(__file__).with_name("track_record.toml")
RUNS, THIRDS = 20, 3


class Good(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A run without the mistake, by one of these means.

    version: another version of the same product.
    product: another product, with the same steps.
    without: the numbers of the steps, from 1, that the run leaves out.
    steps: another run.
    more: further steps, so that the clause is at stake.
    """

    version: str = ""
    product: str = ""
    without: tuple[int, ...] = ()
    steps: tuple[str, ...] = ()
    more: tuple[str, ...] = ()


class Mistake(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A known mistake.

    name: of this entry.
    system, version: that have it.
    mistake: in a sentence.
    protocol, product: name the driver.
    clause, says: the clause that is broken, and words in the sentence about it.
    besides: what may be broken with it.
    steps: the run, as `steps.Vocabulary` reads it.
    good: a run without the mistake.
    upstream: where it was reported.
    report: the page about it, in docs/reports.
    releases: in which it came and went, as `bisect` has found.
    seen: in how many of how many runs it was, where it is a matter of chance; none where it is in each.
    runs: how many are played when it is not asked for another number; fewer where one takes long.
    again: in how many of how many tries the script of its report showed it in November 2026, where nobody has reported
        it, and the version is the newest at its registry. Such a script has nothing of ours in it.
    """

    name: str
    system: str
    version: str
    mistake: str
    protocol: str
    product: str
    clause: str
    says: str
    steps: tuple[str, ...]
    good: Good
    upstream: str
    report: str
    besides: tuple[str, ...] = ()
    releases: str = ""
    seen: tuple[int, int] | None = None
    runs: int = RUNS
    again: tuple[int, int] | None = None

    @property
    def command(self) -> str:
        return f"scatterproof track-record {self.name}"

    @property
    def good_words(self) -> str:
        good = self.good
        if good.version:
            is_newer = _parts(good.version) > _parts(self.version)
            return f"{good.version}, {'a newer' if is_newer else 'an older'} release"
        if good.product:
            return f"another server, {good.product}"
        if good.without:
            return f"the run without step {' and '.join(map(str, good.without))}"
        return "another run: " + "; ".join(good.steps)


def _parts(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


def read(text: str) -> list[Mistake]:
    try:
        return [
            msgspec.convert({"name": name, **told}, Mistake, strict=False) for name, told in tomllib.loads(text).items()
        ]
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise BadInput(f"{FILE.name}: {error}") from None


@cache
def known() -> tuple[Mistake, ...]:
    return tuple(read(FILE.read_text(encoding="utf-8")))


def chosen(names: Sequence[str], third: int | None) -> list[Mistake]:
    by_name = {one.name: one for one in known()}
    for name in names:
        if name not in by_name:
            raise BadInput(f"{name!r} is not in the record; choose of {', '.join(by_name)}")
    listed = [by_name[name] for name in names] or list(known())
    return listed if third is None else listed[third - 1 :: THIRDS]


_PAGE = """# Track record

{count} mistakes of {systems} systems that others made. Each is played again by one command:

```sh
scatterproof track-record                  # all, in at most 15 minutes; what is not installed is not run
scatterproof track-record --install        # installs into this environment what pip and npm have of them, and plays all
scatterproof track-record NAME --runs 20
scatterproof track-record --html page.html # a page with the steps of each, and what came of it
scatterproof bisect --system nats --clause PS-QOS-GD --entry NAME      # the releases in which the verdict changes
```

The bad side is to break the clause, and no other one that is not named; the good side is to keep it, with something
at stake: a newer or an older release, another server, or a run that leaves a step out. Of a mistake that comes by
chance, *seen* says in how many runs it was. One run that has it is enough then; that none has it is held against the
record where that is less likely than 1 in 1,000, and is inconclusive elsewhere. *Releases* is what `bisect` has found.

This page is made by `scatterproof track-record --write` from
[track_record.toml](../conformance/systems/track_record.toml), which has the steps of each run.

| name | system | mistake | clause | good side | seen | releases | reported |
|---|---|---|---|---|---|---|---|
"""

_READY = """
## Not reported, and in the newest release

{count} mistakes of {systems} systems were in the newest release of their registry in November 2026, and no report was
found, by a search of each tracker. Each was shown again in a second way: by the script of its page, a plain client of
the product, which shares no code with the harness. The pages are ready to be sent: versions, the documents' sentence,
the script, what was expected and what was seen. RabbitMQ, ActiveMQ, etcd and PGQ are not among them, as only Debian's
releases are at hand.

| name | newest release | by its script | page |
|---|---|---|---|
"""

_BESIDE = """
Three mistakes of clients have pages of this kind and no entry above, as they break no clause of ours:
[nats-py 2.16.0](reports/nats-py-flush.md), whose `flush` returns too early (its script lost 68 of 1,000 messages), and
psycopg 3.3.9, which takes [statements for prepared](reports/psycopg-pipeline.md) that are not (1 of 1), and has no
place for the answer to [a pipeline's commit](reports/psycopg-commit.md) that is refused (1 of 1).
"""


def page(mistakes: Sequence[Mistake]) -> str:
    """docs/track-record.md."""
    lines = []
    for one in mistakes:
        clauses = one.clause + (f" (with {', '.join(one.besides)})" if one.besides else "")
        seen = "in each" if one.seen is None else f"{one.seen[0]} of {one.seen[1]}"
        cells = (
            f"`{one.name}`",
            f"{one.system} {one.version}",
            one.mistake,
            clauses,
            one.good_words,
            seen,
            one.releases,
        )
        lines.append(f"| {' | '.join(cells)} | {one.upstream}: [report](reports/{one.report}) |\n")
    ready = [(one, one.again) for one in mistakes if one.again is not None]
    rows = (
        f"| `{one.name}` | {one.system} {one.version} | {showed} of {tries} | [report](reports/{one.report}) |\n"
        for one, (showed, tries) in ready
    )
    return "".join((_headed(_PAGE, mistakes), *lines, _headed(_READY, [one for one, _ in ready]), *rows, _BESIDE))


def _headed(text: str, mistakes: Sequence[Mistake]) -> str:
    return text.format(count=len(mistakes), systems=len({one.system for one in mistakes}))
