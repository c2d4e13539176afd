"""The same clauses in Polars: running maxima over the rows of a link and of a host, and joins for messages.

A maximum up to the row before is `cum_max().shift(1)` over a group; rows keep their order, so nothing is sorted. Each
group is one integer, which Polars groups by faster than by two columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from scatterproof.spark.totalorder.benchmark import CLAUSES
from scatterproof.spec.totalorder.messages import NO_BARRIER, NO_LOSS, NOT_SPOKEN, PacketKind
from scatterproof.spec.trace import ABSENT, CLEAN, QUIESCENT, Kind

MESSAGE = ("run", "sender", "receiver", "number")
SCATTERING = ("run", "sender", "scattering")
_COLUMNS = (
    *("run", "kind", "node", "link", "sender", "receiver", "number", "digest", "flags", "packet", "scattering"),
    *("timestamp", "barrier", "ack_barrier", "loss_record", "clock_ns"),
)
_KINDS = [int(kind) for kind in (Kind.SUBMITTED, Kind.SENT, Kind.DELIVERED, Kind.ENDED)]
_BITS = 16  # of a node's or link's number
_NEVER = -1 << 40  # a maximum over no rows

_c = pl.col
_data, _beacon = _c("packet") == PacketKind.DATA, _c("packet") == PacketKind.BEACON
_sent, _delivered = _c("kind") == Kind.SENT, _c("kind") == Kind.DELIVERED
_none = _c("barrier") == NO_BARRIER
# Where nothing is lost nothing is sent again, whatever a packet says.
_resent = (_c("flags") & 1 == 1) & (_c("loses") == 1)


def by_polars(events: Sequence[Path], runs: Path, nodes: Path) -> Counter[str]:
    """Violations by clause. runs, nodes: what the headers of the runs say, as Parquet (`ci.mining`)."""
    run, hosts = pl.read_parquet(runs), pl.read_parquet(nodes).filter("is_host")
    rows = (
        pl.scan_parquet(list(events), glob=False)
        .select(_COLUMNS)
        .filter(_c("kind").is_in(_KINDS))
        .with_row_index("position")
        .join(hosts.lazy(), on=("run", "node"), how="left", maintain_order="left")
        .with_columns(_c("is_host").fill_null(False))
        .collect()
    )
    submitted, given, places = _messages(rows)
    counts = Counter[str]()
    found = (
        *_at_hosts(rows, places, run),
        *_on_links(rows, run),
        ("TO-ONCE", _wrongly_delivered(rows, submitted, given)),
        ("TO-SCATTER", places.filter(~_c("is_first") & _c("differs")).group_by("run").len()),
        ("TO-SCATTER", _unsent(rows, submitted, places, run)),
    )
    for clause, by_run in found:
        where = run.filter(_c(clause)).select("run")
        counts[clause] += int(by_run.join(where, on="run", how="semi")[:, 1].sum())
    return Counter({clause: counts[clause] for clause in CLAUSES})


def _messages(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """What was submitted; the first sending of each; and of what was submitted and then sent, its place among others of
    its scattering."""
    submitted = rows.filter(_c("kind") == Kind.SUBMITTED)
    given = (
        rows.filter(_sent & _data & (_c("node") == _c("sender")) & _c("is_host"))
        .select("position", *MESSAGE, "timestamp")
        .unique(MESSAGE, keep="first", maintain_order=True)
    )
    places = (
        given.join(
            submitted.select(*MESSAGE, "scattering", submitted_ns="clock_ns", submitted_at="position"),
            on=MESSAGE,
            maintain_order="left",
        )
        .filter(_c("position") > _c("submitted_at"))
        .with_columns(
            is_first=_c("position") == _c("position").min().over(SCATTERING),
            differs=_c("timestamp") != _c("timestamp").first().over(SCATTERING),
        )
    )
    return submitted, given, places


def _before(what: pl.Expr, group: str) -> pl.Expr:
    """The greatest value in the earlier rows of the group, or _NEVER."""
    return what.cum_max().shift(1, fill_value=_NEVER).over(group)


def _at_hosts(rows: pl.DataFrame, places: pl.DataFrame, run: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    place = places.select("position", "submitted_ns", "is_first")
    parameters = run.select("run", "causal", "loses", plain=_c("adjustment_interval_ns") == 0)
    first = _c("is_first")
    packed = _c("timestamp") * (1 << _BITS) + _c("sender")
    hosts = (
        rows.filter(_c("is_host") & (_sent | _delivered))
        .join(place, on="position", how="left", maintain_order="left")
        .join(parameters, on="run", how="left", maintain_order="left")
        .with_columns(
            is_further=(~first).fill_null(False),
            is_first=first.fill_null(False),
            host=_c("run") * (1 << _BITS) + _c("node"),
        )
        .with_columns(
            promised=_before(pl.when(_sent).then("barrier").otherwise(NO_BARRIER), "host"),
            ack=_before(pl.when(_sent).then("ack_barrier").otherwise(NO_BARRIER), "host"),
            last_sent=_before(pl.when(_sent & _data).then("timestamp").otherwise(_NEVER), "host"),
            last_given=_before(pl.when("is_first").then("timestamp").otherwise(_NEVER), "host"),
            delivered=_before(pl.when(_delivered).then("timestamp").otherwise(_NEVER), "host"),
            last_delivered=_before(pl.when(_delivered).then(packed).otherwise(_NEVER), "host"),
        )
    )
    clock, timestamp, barrier, ack = _c("clock_ns"), _c("timestamp"), _c("barrier"), _c("ack")
    least = pl.max_horizontal(pl.when("plain").then(clock).otherwise(NOT_SPOKEN), pl.max_horizontal("last_sent", 0))
    due = pl.max_horizontal(least, "promised")
    due = pl.when(due <= ack).then(ack + 1).otherwise(due)
    ahead = (timestamp > clock) & (timestamp > _c("promised")) & (timestamp > ack)
    ahead &= ~((ack >= 0) & (timestamp - 1 == ack)) & (
        (_c("last_given") == _NEVER) | (timestamp - 1 > _c("last_given"))
    )
    wrong_data = (~_none & (barrier != timestamp)) | (~_c("is_further") & (timestamp < _c("promised")))
    wrong_beacon = ~_none & ((barrier < _c("last_sent")) | (barrier < due) | (_c("plain") & (barrier != due)))
    broken = {
        "TO-MONO": _c("is_first")
        & (
            (timestamp <= _c("last_given"))
            | (_c("plain") & (timestamp < _c("submitted_ns")))
            | (_c("plain") & (_c("causal") == 0) & ahead)
        ),
        "TO-BAR-HOST": _sent & pl.when(_data).then(~_resent & wrong_data).otherwise(wrong_beacon),
        "TO-ORDER": _delivered & (packed <= _c("last_delivered")),
        "TO-CAUSAL": _c("is_first") & (timestamp <= _c("delivered")),
        "TO-ONCE": _delivered & (_c("node") != _c("receiver")),
    }
    return _sums(hosts, broken)


def _on_links(rows: pl.DataFrame, run: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    parameters = run.select("run", "loses", "beacon_interval_ns", "fill_barrier")
    links = (
        rows.filter(_sent)
        .join(parameters, on="run", how="left", maintain_order="left")
        .with_columns(on=_c("run") * (1 << _BITS) + _c("link"))
        .with_columns(
            highest=_before(_c("barrier"), "on"),
            highest_ack=_before(_c("ack_barrier"), "on"),
            data_ns=_before(pl.when(_data).then("clock_ns").otherwise(_NEVER), "on"),
        )
    )
    barrier, highest = _c("barrier"), _c("highest")
    bare = _data & _none & ~((_c("fill_barrier") == 1) & _c("is_host"))
    early = (_c("data_ns") >= 0) & (_c("clock_ns") < _c("data_ns") + _c("beacon_interval_ns"))
    nothing_new = (barrier <= pl.max_horizontal("highest", NOT_SPOKEN)) & (_c("loss_record") <= NO_LOSS)
    nothing_new &= _c("ack_barrier") <= pl.max_horizontal("highest_ack", NOT_SPOKEN)
    broken = {
        "TO-BAR-LINK": _data & ~_resent & (_c("timestamp") < highest),
        "TO-BAR-RISE": (barrier != NO_BARRIER) & (barrier < highest),
        "TO-ENV-A": _beacon | bare,
        "TO-ENV-B": (_data & ~_none) | (_beacon & _none),
        "TO-ENV-C": bare | (_beacon & early),
        "TO-BEACON-MIN": _beacon & ~_c("is_host") & nothing_new,
    }
    return _sums(links, broken)


def _sums(rows: pl.DataFrame, broken: dict[str, pl.Expr]) -> list[tuple[str, pl.DataFrame]]:
    """How many rows of each run break which clause."""
    counted = rows.lazy().select("run", **broken).group_by("run").agg(_c(clause).sum() for clause in broken).collect()
    return [(clause, counted.select("run", clause)) for clause in broken]


def _wrongly_delivered(rows: pl.DataFrame, submitted: pl.DataFrame, given: pl.DataFrame) -> pl.DataFrame:
    """By run: deliveries after the first, and first deliveries of a message that was not yet submitted or sent, or that
    differs from it."""
    deliveries = (
        rows.filter(_delivered & (_c("node") == _c("receiver")))
        .group_by(MESSAGE)
        .agg(pl.len().alias("times"), _c("position", "digest", "timestamp").first())
        .join(submitted.select(*MESSAGE, "digest", "position"), on=MESSAGE, how="left", suffix="_submitted")
        .join(given, on=MESSAGE, how="left", suffix="_given")
    )
    unsubmitted = _c("position_submitted").is_null() | (_c("position_submitted") > _c("position"))
    unsent = _c("position_given").is_null() | (_c("position_given") > _c("position"))
    otherwise = (_c("digest") != _c("digest_submitted")) | (_c("timestamp") != _c("timestamp_given"))
    wrong = unsubmitted | unsent | otherwise.fill_null(False)
    return deliveries.group_by("run").agg((_c("times").cast(pl.Int64) - 1 + wrong.cast(pl.Int64)).sum())


def _unsent(rows: pl.DataFrame, submitted: pl.DataFrame, places: pl.DataFrame, run: pl.DataFrame) -> pl.DataFrame:
    """Runs that settled, without anything given up, and in which a host never sent what was submitted."""
    settled = CLEAN | QUIESCENT
    ended = rows.filter((_c("kind") == Kind.ENDED) & (_c("flags") & settled == settled) & (_c("flags") > ABSENT))
    waits = (
        submitted.group_by("run", "sender")
        .len("given_up")
        .join(places.group_by("run", "sender").len("sent"), on=("run", "sender"), how="left")
        .filter(_c("given_up") > _c("sent").fill_null(0))
    )
    held = run.filter(_c("failure_timeout_ns") == 0)
    return ended.join(waits, on="run", how="semi").join(held, on="run", how="semi").group_by("run").len()
