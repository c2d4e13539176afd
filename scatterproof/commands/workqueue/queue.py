"""`scatterproof queue`: the queue with correlated groups of messages, from the command line."""

from __future__ import annotations

import shlex
import shutil
import signal
import socket
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from scatterproof.app import command_group
from scatterproof.commands.workqueue.running import ProgramRunner, Stopping, printed
from scatterproof.console import err, out, print_json, print_table
from scatterproof.impl.workqueue.cleaning import Cleaning, clean
from scatterproof.impl.workqueue.receiver import Receiver
from scatterproof.impl.workqueue.sender import Sender
from scatterproof.impl.workqueue.stores.access import Access, Factory
from scatterproof.impl.workqueue.stores.opening import FORMS, factory, is_there
from scatterproof.impl.workqueue.worker import Policy
from scatterproof.options import Json
from scatterproof.spec.errors import BadInput

app = command_group(
    "Run a queue of message groups on SQLite or PostgreSQL: send, work, inspect, clean."
    "\n\nA group is one or more messages that become visible together. Groups of one correlation are processed one at a"
    " time, in the order in which they were begun, on whatever machine; groups of different correlations in parallel,"
    " those of the highest priority first. A message is processed at least once: again, where something crashed"
    " before it was taken off the queue."
    "\n\nBegin with"
    "\n\n    printf 'first\\nsecond\\n' | scatterproof queue send sqlite:queue.db --correlation Ann"
    "\n\n    scatterproof queue work sqlite:queue.db --run 'cat' --until-empty",
)

Store = Annotated[str, typer.Argument(help=f"The queue: {FORMS.removesuffix(', or memory:')}.", show_default=False)]
Server = Annotated[str, typer.Option("--server", help="Server id, for all that run on one machine.")]
_HOUR = 3600.0
HOST = socket.gethostname()


def _open(address: str, *, makes: bool = False) -> Factory:
    """What makes accesses to the store. makes: whether a missing queue is made. Raises BadInput for one that may not be
    used."""
    if address == "memory:":
        raise BadInput("the queue memory: ends with this command; give sqlite:PATH or postgresql://USER@HOST/DATABASE")
    made = factory(address)
    if not makes and not is_there(address):
        raise BadInput(f"{address}: there is no such file; `queue send` makes it")
    return made


@app.command()
def send(
    store: Store,
    files: Annotated[
        list[Path] | None, typer.Argument(help="A message each, in this order; without, a line of standard input each.")
    ] = None,
    correlation: Annotated[
        str, typer.Option("--correlation", "-c", help="Groups with the same one are processed one at a time, in order.")
    ] = ...,  # type: ignore[assignment]
    priority: Annotated[int, typer.Option("--priority", help="1 is the highest.")] = 1,
    type_: Annotated[int, typer.Option("--type", help="A number of yours, which handlers are told.")] = 0,
    last: Annotated[
        bool | None,
        typer.Option(
            "--last/--not-last",
            help="--not-last: process this group only when one of its correlation was sent with --last after it.",
            show_default=False,
        ),
    ] = None,
    server: Server = HOST,
    as_json: Json = False,
) -> None:
    """Send one group of messages. The group is in the queue, and durable, when this has ended with exit code 0.

        scatterproof queue send sqlite:queue.db --correlation Ann january.xml february.xml

    Where it is interrupted, or a file cannot be read, nothing of the group is processed.

    Exit codes: 0 the group is in the queue; 2 wrong usage; 3 the store could not do it.
    """
    sender = Sender(_open(store, makes=True), server)
    try:
        sent = 0
        with sender.group(type_, priority, correlation, last) as put:
            for body in _bodies(files):
                sent = put(body)
            group = sender.number
        if not sent:
            raise BadInput("there is no message: name files, or give lines on standard input; nothing was sent")
    finally:
        sender.close()
    if as_json:
        print_json({"group": group, "messages": sent})
    else:
        out.print(f"group {group}, {sent} messages", highlight=False)


def _bodies(files: Sequence[Path] | None) -> Iterable[bytes]:
    if not files:
        yield from (line.removesuffix(b"\n") for line in sys.stdin.buffer)
    for path in files or ():
        try:
            yield path.read_bytes()
        except OSError as error:
            raise BadInput(f"{path}: cannot be read: {error.strerror}; nothing was sent") from None


@app.command()
def work(
    store: Store,
    run: Annotated[
        str | None,
        typer.Option("--run", help="Program for each message; without, messages are printed, a line each."),
    ] = None,
    server: Server = HOST,
    workers: Annotated[int, typer.Option("--workers", help="At most this many groups at once.")] = 1,
    poll_ms: Annotated[float, typer.Option("--poll-ms", help="Time between looks for new groups.")] = 1000.0,
    retry_ms: Annotated[float, typer.Option("--retry-ms", help="Time before a failed message comes again.")] = 1000.0,
    tries: Annotated[
        int,
        typer.Option(
            "--tries", help="Set a message aside after this many tries; 0: try for ever, and block what follows."
        ),
    ] = 0,
    clean_after: Annotated[
        float | None,
        typer.Option("--clean-after", help="Clean every minute: take for dead what was silent for this many seconds."),
    ] = None,
    until_empty: Annotated[bool, typer.Option("--until-empty", help="End when no group is ready or held.")] = False,
    as_json: Json = False,
) -> None:
    """Process groups until it is stopped.

        scatterproof queue work postgresql://queue@db/queue --run './import-sheet --strict' --workers 4 --tries 5

    The program gets the message's body on standard input, and in its environment SCATTERPROOF_GROUP, _MESSAGE,
    _LAST_MESSAGE, _CORRELATION, _TYPE, _PRIORITY, _RETRIES and _GROUP_RETRIES. Exit code 0: the message is taken off
    the queue; any other: it is tried again.

    Ctrl-C and SIGTERM let the message in hand be finished, give the group back, and end it; a second one ends
    the program too, whose message is tried again later. Groups that were held under this server id when it
    starts are released, so give two receivers that run at once two ids.

    Exit codes: 0 it was stopped, or all is empty; 2 wrong usage; 3 the store could not be reached at the start.
    """
    if tries < 0 or not 0 <= retry_ms <= 86_400_000:
        raise BadInput("--tries has to be 0 or more, and --retry-ms between 0 and a day")
    cleaning = None if clean_after is None else Cleaning(senders_ms=clean_after * 1e3, receivers_ms=clean_after * 1e3)
    make = _open(store)
    programs = None if run is None else _programs(shlex.split(run))
    receiver = Receiver(
        make,
        printed if programs is None else programs.handler,
        server,
        service_limit=workers,
        poll_interval_ms=poll_ms,
        policy=Policy(retry_ms=retry_ms, tries=tries),
        cleaning=cleaning,
        on_death=lambda error: err.print(f"a worker died: {error}", markup=False, highlight=False, soft_wrap=True),
    )
    with Stopping(receiver.stop, programs.end if programs is not None else lambda: None) as stopping:
        receiver.start()
        if until_empty:
            _until_empty(receiver, make(), stopping)
        while not receiver.wait(0):
            stopping.sleep(0.05)
    _tell(receiver.counters.told(), stopping.number, as_json=as_json)


def _programs(words: list[str]) -> ProgramRunner:
    """The program that `--run` names. Raises BadInput where it names none, or none that can be run."""
    if not words:
        raise BadInput("--run: there is no program; leave it out to print messages")
    if shutil.which(words[0]) is None:
        raise BadInput(f"--run: there is no program {words[0]!r} that can be run")
    return ProgramRunner(words)


def _tell(told: dict[str, int], number: int | None, *, as_json: bool) -> None:
    if as_json:
        print_json(told)
        return
    ended = signal.Signals(number).name if number is not None else "the queue is empty"
    words = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in told.items() if count)
    err.print(f"ended ({ended}): {words or 'nothing was there'}", highlight=False, soft_wrap=True)


def _until_empty(receiver: Receiver, access: Access, stopping: Stopping) -> None:
    seconds = receiver.poll_interval_ms / 1000
    stopping.sleep(seconds)
    while stopping.number is None and not receiver.wait(0):
        found = access.contents()
        if not found.ready and not found.receiving:
            receiver.stop()
            break
        stopping.sleep(seconds)
    access.close()


@app.command()
def inspect(
    store: Store,
    aside: Annotated[int, typer.Option("--aside", help="Show this many of the messages that were set aside.")] = 10,
    as_json: Json = False,
) -> None:
    """Show how much is in the queue, and what was set aside, with its reasons.

    Exit codes: 0 shown; 2 wrong usage; 3 the store could not be read.
    """
    if aside < 0:
        raise BadInput(f"--aside is {aside}; give 0 or more")
    access = _open(store)()
    try:
        found, put_aside = access.contents(), access.set_aside(most=aside)
        silent = None if found.oldest_ns is None else max(0.0, (access.now_ns() - found.oldest_ns) / 1e9)
    finally:
        access.close()
    if as_json:
        told = [asdict(each) | {"body": each.body.hex()} for each in put_aside]
        print_json(asdict(found) | {"longest_silence_s": silent, "messages_set_aside": told})
        return
    rows = [
        ("ready to be processed", found.ready),
        ("waiting behind another of their correlation, or for its last", found.waiting),
        ("being processed", found.receiving),
        ("being sent", found.sending),
    ]
    print_table("Groups", ("groups", "number"), rows)
    out.print(f"{found.messages} messages, {found.set_aside} set aside", highlight=False)
    if silent is not None:
        out.print(f"the lock that was not used for longest: {silent:.1f} s", highlight=False)
    if put_aside:
        columns = ("group", "message", "correlation", "tries", "bytes", "reason")
        shown = [(a.group, a.message, a.correlation, a.retries, len(a.body), a.reason) for a in put_aside]
        print_table("Set aside", columns, shown)


@app.command("clean")
def clean_(
    store: Store,
    senders_after: Annotated[
        float, typer.Option("--senders-after", help="Remove groups whose sender was silent for this many seconds.")
    ] = _HOUR,
    receivers_after: Annotated[
        float, typer.Option("--receivers-after", help="Release groups whose receiver was silent for this many seconds.")
    ] = _HOUR,
    as_json: Json = False,
) -> None:
    """Clean away what dead senders and receivers left: half-sent groups go, held groups can be processed again.

    Nothing is lost where one was only slow: a sender hears at its next call that its group is gone, and a receiver's
    message is processed again. Give more time than any one message takes.

    Exit codes: 0 cleaned; 2 wrong usage; 3 the store could not do it.
    """
    access = _open(store)()
    try:
        done = clean(access, Cleaning(senders_ms=senders_after * 1e3, receivers_ms=receivers_after * 1e3))
    finally:
        access.close()
    if as_json:
        print_json(asdict(done))
    else:
        out.print(f"{done.removed} half-sent groups removed, {done.released} held groups released", highlight=False)
