"""A running appliance without its sockets: it routes messages and subscriptions between sessions and neighbours.

Appliances are joined as a tree; a link that would close a ring is refused. A subscription is in force once all
appliances that can be reached know of it. With `paths` they are joined in any way, and messages take all paths; then no
neighbour is told what is wanted. A retained message goes to every appliance, whoever wants it. Where two of one topic
meet, the later one stays.

Clauses: PS-ROUTE, PS-COVER, PS-RETAIN, PS-SHARED, PS-QOS-LEVEL, PS-NEIGHBOUR, PS-MULTIPATH.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from msgspec.structs import replace

from scatterproof.impl.pubsub.channels.queue import Marks
from scatterproof.impl.pubsub.rules import RULES, Rules
from scatterproof.impl.pubsub.running.latency import Latencies
from scatterproof.impl.pubsub.running.ledger import Kept, Ledger
from scatterproof.impl.pubsub.running.link import Link
from scatterproof.impl.pubsub.running.management import Action, Configuration
from scatterproof.impl.pubsub.running.messages import (
    VERSION,
    Data,
    Dropped,
    Frame,
    Had,
    Hello,
    Names,
    Retained,
    Synced,
    Taken,
    Want,
    Wanted,
)
from scatterproof.impl.pubsub.running.outbox import Flow, Outbox
from scatterproof.impl.pubsub.running.paths import Paths
from scatterproof.impl.pubsub.running.retained import RetainedMessages
from scatterproof.impl.pubsub.running.sharing import Turns
from scatterproof.impl.pubsub.running.table import Receiver, Subscription, Table, Treatment
from scatterproof.impl.pubsub.translation.messages import Carried, Message
from scatterproof.impl.pubsub.translation.names import NATIVE
from scatterproof.spec.errors import BadInput

MARKS, TREATMENT = Marks(), Treatment()


class Core:
    """now_ns, steady_ns: Unix time, and a clock that is never set; both are set by the driver.
    held: the messages that the store had, by number.
    greeting: neighbours that were dialled and have not said yet who they are.
    """

    def __init__(
        self,
        name: str,
        kept: Kept | None,
        incarnation: str,
        marks: Marks = MARKS,
        treatment: Treatment = TREATMENT,
        rules: Rules = RULES,
        *,
        all_paths: bool = False,
    ) -> None:
        self.name, self.incarnation, self.rules = name, incarnation, rules
        self.now_ns = self.steady_ns = 0
        self.counts: Counter[str] = Counter()
        self.flow = Flow(marks, self.counts)
        self.ledger = Ledger(is_kept=kept is not None, last_message=max(kept.messages, default=0) if kept else 0)
        self.table = Table(rules, treatment)
        self.retained = RetainedMessages()
        self.links: dict[str, Link] = {}
        self.greeting: set[object] = set()
        self.latencies = Latencies()
        self._here: Counter[Want] = Counter()  # how many clients here want each
        self._subscribed: dict[Subscription, None] = {}
        self.configuration: Configuration | None = None
        self._waiting: list[tuple[Want, Callable[[], None]]] = []
        self._unsettled = False
        self._turns = Turns()
        passed = kept.passed if kept else {}
        self.paths = Paths(f"{name}/{incarnation}", passed, self.ledger, rules) if all_paths else None
        self.held = {number: Carried(message, number) for number, message in kept.messages.items()} if kept else {}
        for message in kept.retained if kept else ():
            self.retained[message.topic] = message
        for peer, one in kept.links.items() if kept else ():
            self.links[peer] = Link.kept(peer, one, self.held, self.ledger)
            for want in one.wants:
                self.table.want(peer, want)
        for link in self.links.values():
            self._tell_all(link)

    def outbox(self) -> Outbox:
        return Outbox(self.flow)

    def end_turn(self) -> None:
        """Called just ahead of storing the ledger: what was taken from neighbours is stored with what it led to. Wants
        that all appliances beyond know by now are answered, once for the whole turn."""
        if self._unsettled:
            self._unsettled = False
            self._settle()
        for link in self.links.values():
            link.tell_taken()

    # ---------------------------------------------------------------- management

    def configure(self, configuration: Configuration) -> bool:
        """Put a configuration in force; False if it is so already. What it does not allow ends (PS-AUTH, PS-CONFIG)."""
        if self.configuration is not None and self.configuration.id == configuration.id:
            return False
        self.configuration = configuration
        self.ledger.note("put_configuration", configuration.text)
        for one in list(self._subscribed):
            if not self.allows(one.receiver.user, Action.SUBSCRIBE, one.filter):
                one.receiver.revoked(one)
        return True

    def allows(self, user: str, action: Action, filter_: str) -> bool:
        """Whether the user may do this; everything is allowed while nothing is configured."""
        return self.configuration is None or self.configuration.allows(user, action, filter_)

    # ---------------------------------------------------------------- clients

    def subscribe(self, one: Subscription, done: Callable[[], None]) -> bool:
        """Add a new subscription: no other has its receiver, key and filter. Returns whether it is in force at once;
        otherwise `done` is called when it is."""
        want = one.filter, one.group
        self._subscribed[one] = None
        self._here[want] += 1
        if self._here[want] == 1:
            self._spread(want, "", wanted=True)
        return self._put(one, done)

    def subscribe_again(self, one: Subscription, old: Subscription, done: Callable[[], None]) -> bool:
        """As `subscribe`, for a subscription that takes the place of another."""
        del self._subscribed[old]
        self._subscribed[one] = None
        return self._put(one, done)

    def _put(self, one: Subscription, done: Callable[[], None]) -> bool:
        self.table.put(one)
        if self._is_in_force((one.filter, one.group)):
            return True
        self._waiting.append(((one.filter, one.group), done))
        return False

    def unsubscribe(self, one: Subscription) -> None:
        self.table.remove(one)
        self._subscribed.pop(one, None)
        want = one.filter, one.group
        self._here[want] -= 1
        if not self._here[want]:
            del self._here[want]
            self._spread(want, "", wanted=False)
        self._unsettled = True

    def publish(self, message: Message, but: Receiver | None = None) -> None:
        """Take a message of a client of this appliance. but: a receiver that does not get it."""
        self.counts["published"] += 1
        old = self.retained.get(message.topic) if message.retain else None
        # A new retained message is later than the old one, whatever other clocks say.
        message = replace(message, made_ns=max(self.now_ns, old.made_ns + 1 if old is not None else 0))
        carried = Carried(message if self.paths is None else self.paths.begin(message))
        if message.retain:
            self._retain(carried.message)
        self._route(carried, "", True, None, but)

    def hand_on(self, carried: Carried, group: str) -> None:
        """Give a message to another member of the group, as one that leaves has not acknowledged it (PS-SHARED)."""
        self._route(carried, "", False, [group], None)

    # ---------------------------------------------------------------- messages

    def _route(
        self, carried: Carried, source: str, plain: bool, groups: list[str] | None, but: Receiver | None
    ) -> None:
        """Give one copy to each receiver, one to a member of each group, one to each neighbour behind which somebody
        wants it. plain: whether to serve those without a group. groups: those to serve, None for all. but: who gets
        none."""
        message = carried.message
        plan = self.table.plan(message.topic)
        carried.urgent, carried.conflates = plan.urgent, plan.conflates
        if plain:
            for receiver, level, key in plan.copies:
                if receiver is not but:
                    receiver.give(carried, self.rules.delivered_level(message.level, level), key)
        onward: dict[str, tuple[bool, tuple[str, ...]]] = {}
        everywhere = self.paths is not None
        if plain and (message.retain or everywhere):
            onward = {
                peer: (everywhere or peer in plan.plain, ())
                for peer in self.links
                if self.rules.is_passed_on(peer, source)
            }
        elif plain:
            onward = {peer: (True, ()) for peer in plan.plain if self.rules.is_passed_on(peer, source)}
        chosen = self._turns.choose(plan.groups, groups, but, lambda peer: self.rules.is_passed_on(peer, source))
        for name, one in chosen if plan.groups else ():
            if isinstance(one, str):
                plainly, listed = onward.get(one, (False, ()))
                onward[one] = plainly, (*listed, name)
            else:
                level = self.rules.delivered_level(message.level, one.level)
                one.receiver.give(carried, level, one.key, name)
        for peer, (plainly, of_groups) in onward.items():
            self.links[peer].send(carried, plainly, of_groups, self.now_ns)

    def _retain(self, message: Message) -> bool:
        return self.retained.keep(message, self.ledger, alone=not self.links)

    # ---------------------------------------------------------------- neighbours

    def hello(self, peer: str = "") -> bytes:
        """The first frame on a connection. A peer that is not known yet gets our names in a second one (`meet`)."""
        link = self.links.get(peer) or Link(peer, self.ledger, self.rules)
        return link.hello(self.name, self.incarnation, self._names(peer), all_paths=self.paths is not None)

    def meet(self, outbox: Outbox, hello: Hello, *, dialled: bool) -> Link:
        """A neighbour has connected. Raises BadInput where it cannot be one."""
        if hello.version != VERSION:
            raise BadInput(f"{hello.name} speaks version {hello.version} of the native protocol, and this is {VERSION}")
        if hello.all_paths != (self.paths is not None):
            raise BadInput(f"{hello.name} and this one do not both have --all-paths, or both not")
        link = self.links.get(hello.name)
        if link is not None and link.outbox is not None:
            ours, theirs = (self.name < hello.name) == link.dialled, (self.name < hello.name) == dialled
            if ours and not theirs:
                raise BadInput(f"{hello.name} is linked already")
            link.outbox.close("the neighbour has come again")
            self.part(link)
        twice = set(hello.names) & set(self._names(hello.name))
        if twice:
            raise BadInput(
                f"{sorted(twice)[0]} is reached another way, or has another's name; join appliances as a tree"
            )
        if link is None:
            link = self.links[hello.name] = Link(hello.name, self.ledger, self.rules)
            self._tell_all(link)
            self.ledger.note("put_link", hello.name, "", 0)
        link.dialled = dialled
        link.begin(outbox, hello, self.incarnation, self.now_ns)
        if dialled:
            link.say(Names(self._names(hello.name)))  # now that it is known
        for wanted in link.propagation.again():
            link.say(wanted)
        for message in self.retained.values():
            link.say(Retained(message))
        link.say(Synced())
        self._tell_names(but=link)
        return link

    def greeted(self, neighbour: object) -> None:
        """A neighbour that was dialled has said who it is, or its connection has ended."""
        if neighbour in self.greeting:
            self.greeting.remove(neighbour)
            self._unsettled = True

    def part(self, link: Link) -> None:
        """The neighbour's connection has ended."""
        link.end()
        self._tell_names(but=link)
        self._unsettled = True

    def take(self, link: Link, frame: Frame) -> None:
        """Carry out what a neighbour says. Raises BadInput for a frame that no right neighbour sends."""
        match frame:
            case Data():
                self._take_data(link, frame)
            case Taken(serial):
                link.heard(serial)
            case Wanted(filter_, group):
                NATIVE.filter(filter_)
                self._take_want(link, (filter_, group))
            case Dropped(filter_, group):
                self._take_drop(link, (filter_, group))
            case Had(filter_, group):
                link.propagation.had((filter_, group))
                self._unsettled = True
            case Synced():
                for want in link.wants - (link.seen or set()):
                    self._take_drop(link, want)
                link.seen = None
            case Retained(message):
                NATIVE.topic(message.topic)
                if self._retain(message):
                    self._to_others(link, frame)
            case Names(names):
                link.behind = set(names)
                if link.behind & set(self._names(link.peer)):
                    raise BadInput(f"{link.peer} is reached another way too; join appliances as a tree")
                self._tell_names(but=link)
            case _:
                raise BadInput(f"{link.peer} begins twice on one connection")

    def _take_data(self, link: Link, frame: Data) -> None:
        if not link.takes(frame.serial):
            return
        NATIVE.topic(frame.message.topic)
        if self.paths is not None and not self.paths.is_first(frame.message):
            self.counts["copies dropped"] += 1
            return
        self.counts["from neighbours"] += 1
        self.latencies.seen(link.peer, self.now_ns - frame.sent_ns, self.now_ns)
        carried = Carried(frame.message)
        if frame.message.retain and self._retain(frame.message) and not frame.plain:
            self._to_others(link, Retained(frame.message))
        self._route(carried, link.peer, frame.plain, frame.groups, None)

    def _take_want(self, link: Link, want: Want) -> None:
        if link.seen is not None:
            link.seen.add(want)
        link.due.add(want)
        if want not in link.wants:
            link.wants.add(want)
            self.ledger.note("put_want", link.peer, *want)
            self.table.want(link.peer, want)
            self._spread(want, link.peer, wanted=True)
        self._unsettled = True

    def _take_drop(self, link: Link, want: Want) -> None:
        if want in link.due:
            link.due.remove(want)
            link.say(Had(*want))
        if want in link.wants:
            link.wants.remove(want)
            self.ledger.note("drop_want", link.peer, *want)
            self.table.drop(link.peer, want)
            self._spread(want, link.peer, wanted=False)
        self._unsettled = True

    def _spread(self, want: Want, source: str, *, wanted: bool) -> None:
        """Tell the neighbours that the source, empty for clients here, now wants something, or no longer does."""
        for peer, link in self.links.items() if self.paths is None else ():
            if peer == source:
                continue
            if wanted:
                said = link.propagation.add(want)
            elif self._here[want] or any(want in o.wants for p, o in self.links.items() if p != peer):
                continue
            else:
                said = link.propagation.remove(want)
            for frame in said:
                link.say(frame)

    def _tell_all(self, link: Link) -> None:
        """Note all that is wanted of a neighbour that has not been told anything yet."""
        others = {want for other in self.links.values() if other is not link for want in other.wants}
        for want in sorted({*self._here, *others}) if self.paths is None else ():
            link.propagation.add(want)

    def _is_in_force(self, want: Want, but: str = "") -> bool:
        if self.paths is not None or self.greeting:  # who is greeted may have taken this one for linked already
            return not self.greeting
        links = (link for peer, link in self.links.items() if peer != but and link.outbox is not None)
        return all(link.propagation.is_known(want) for link in links)

    def _settle(self) -> None:
        """Answer the wants and the subscribers that all appliances beyond know of by now."""
        for peer, link in self.links.items():
            if link.outbox is None:
                continue
            for want in sorted(want for want in link.due if self._is_in_force(want, but=peer)):
                link.due.discard(want)
                link.say(Had(*want))
        known = [self._is_in_force(want) for want, _ in self._waiting]
        done = [done for (_, done), now in zip(self._waiting, known, strict=True) if now]
        self._waiting = [one for one, now in zip(self._waiting, known, strict=True) if not now]
        for each in done:
            each()

    def _names(self, peer: str) -> list[str]:
        """This appliance and all behind its links, except the peer's. Links that are away count only where the peer is
        known: an unknown peer may be at the end of one."""
        if self.paths is not None:
            return [self.name]  # there may be rings
        others = (one for name, one in self.links.items() if name != peer and (peer or one.outbox is not None))
        return sorted({self.name}.union(*(one.behind for one in others)))

    def _tell_names(self, but: Link) -> None:
        for link in self.links.values() if self.paths is None else ():
            if link is not but:
                link.say(Names(self._names(link.peer)))

    def _to_others(self, link: Link, frame: Frame) -> None:
        for other in self.links.values():
            if other is not link:
                other.say(frame)
