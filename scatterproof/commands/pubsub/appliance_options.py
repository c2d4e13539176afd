"""The options of `scatterproof appliance run`, with what its help says of each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ListenNeighbours = Annotated[
    str | None, typer.Option(help="Address and port for other appliances. There is no authentication: see below.")
]
Neighbours = Annotated[
    list[str] | None,
    typer.Option(
        help="Address and port of an appliance to join; may be given more than once. Several addresses of one, with"
        " commas in between, are ways to it: messages take the best by latency, jitter, loss and load."
    ),
]
AllPaths = Annotated[
    bool,
    typer.Option(
        "--all-paths",
        help="Each message goes over all links, and what comes again is dropped: appliances are joined in any way, and"
        " nobody waits for a link that is cut while there is another way. Groups share nothing then.",
    ),
]
KeepAlive = Annotated[
    float,
    typer.Option(help="Seconds for which a neighbour may be silent; then it is dead, and dialled again. 0: for ever."),
]
StoreFile = Annotated[
    Path | None,
    typer.Option(help="SQLite file of the cache engine; made where it is not there. Without, nothing is kept."),
]
Standby = Annotated[
    bool, typer.Option("--standby", help="Second of a pair: wait until no other appliance has --store, then take over.")
]
Entitlements = Annotated[
    Path | None,
    typer.Option(
        help="TOML file of who may do what, with an id; read again at SIGHUP, when what it allows no more ends."
        " Without, all may do all."
    ),
]
Management = Annotated[
    list[str] | None,
    typer.Option(
        help="Address and port of a management node (`provision`) that says who may do what; may be given more than"
        " once. Until one was reached, nobody may do anything, or with --store what was last known holds."
    ),
]
Trust = Annotated[
    Path | None, typer.Option(help="Public key of management nodes; what is not signed with it is not taken.")
]
ImageFile = Annotated[
    Path | None, typer.Option("--image", help="File that signed images are put into; nothing runs them.")
]
Statistics = Annotated[
    float,
    typer.Option(
        help="Publish counts and latencies as JSON on $SYS/ID ($SYS.ID in NATS) each so many seconds; 0: never."
    ),
]
MaxPayload = Annotated[int, typer.Option(help="Bytes of the largest message.")]

# How slow consumers are served.
Room = Annotated[int, typer.Option(help="Bytes on their way to one client from which on what is best effort waits.")]
HighMark = Annotated[
    int, typer.Option(help="Messages that wait for one client from which on best effort is thinned out.")
]
LowMark = Annotated[int, typer.Option(help="Messages strictly below which that ends.")]
OneIn = Annotated[int, typer.Option(help="Of this many messages one is dropped then.")]
RingSlots = Annotated[
    int, typer.Option(help="How many recent messages may wait; older ones of best effort are dropped.")
]
Conflate = Annotated[
    list[str] | None,
    typer.Option(help="Native filter of topics of which the newest message takes the place of the one that waits."),
]
Urgent = Annotated[list[str] | None, typer.Option(help="Native filter of topics that go ahead of all else that waits.")]
