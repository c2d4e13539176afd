"""What an observer of its clients' calls knows of a queue. At the store: the groups, with their locks and how many
messages are left, or the messages with their holders. At a client: the call that it is in, and what it has in hand. A
call of unknown outcome shows nothing."""

from __future__ import annotations

from dataclasses import dataclass

from scatterproof.conformance.workqueue.recording import NAMES
from scatterproof.spec.core import Outcome
from scatterproof.spec.topology import NodeId, Role
from scatterproof.spec.trace import ABSENT, Header, Kind, Row, schema
from scatterproof.spec.workqueue.messages import CallName

_CALLS = {code: CallName(name) for name, code in NAMES.calls.items()}


@dataclass(slots=True)
class _Group:
    """lock: the words for its state. holder: the client, or ABSENT."""

    lock: str
    holder: NodeId
    server: int
    receiving: bool = False
    messages: int = 0


@dataclass(slots=True)
class _Message:
    group: int
    holder: NodeId = ABSENT


class View:
    """Shows groups by number, and messages of queues with leases as client.call, or client.call/entry."""

    def __init__(self, header: Header) -> None:
        self._columns = schema(header.protocol).columns
        nodes = header.topology.nodes
        self._names = [node.name for node in nodes]
        self._is_store = [node.role is Role.HOST for node in nodes]
        self._leased = header.parameters.get("leased") == 1
        self._groups: dict[int, _Group] = {}
        self._messages: dict[tuple[int, int, int], _Message] = {}
        self._in: dict[NodeId, dict[str, int]] = {}
        self._hand: list[dict[tuple[int, int, int], None]] = [{} for _ in nodes]

    def see(self, row: Row) -> None:
        told = dict(zip(self._columns, row, strict=True))
        node, kind = told["node"], told["kind"]
        if kind == Kind.CALLED:
            self._in[node] = told
        elif kind == Kind.DELIVERED:
            name = (told["sender"], told["number"], max(1, told["message"]))
            self._messages.setdefault(name, _Message(told["group"])).holder = node
            self._hand[node][name] = None
        elif kind == Kind.RETURNED and node in self._in:
            call = self._in.pop(node)
            if told["outcome"] == Outcome.OK:
                self._learn(node, _CALLS.get(call["call"]), call, told)
        elif kind == Kind.CRASHED and told["link"] == ABSENT:
            self._in.pop(node, None)
            self._hand[node].clear()

    def _learn(self, node: NodeId, name: CallName | None, call: dict[str, int], told: dict[str, int]) -> None:
        group = self._groups.get(told["group"])
        match name:
            case CallName.OPEN_GROUP:
                self._groups[told["group"]] = _Group("locked for sending", node, call["server"])
            case CallName.NEXT_GROUP if told["group"] > 0:
                taken = self._groups.setdefault(told["group"], _Group("", node, call["server"]))
                taken.lock, taken.holder, taken.receiving = "locked for receiving", node, True
                taken.server = call["server"]
            case CallName.SEND_MESSAGE if group is not None:
                group.messages = max(group.messages, told["message"])
            case CallName.CLOSE_GROUP if group is not None and group.messages > 0:
                group.lock, group.holder = "ready", ABSENT
            case CallName.POP_MESSAGE if group is not None:
                group.messages = max(0, group.messages - 1)
            case CallName.POP_GROUP | CallName.FLUSH_GROUP | CallName.CLOSE_GROUP:
                self._groups.pop(told["group"], None)
            case CallName.UNLOCK_SERVER_GROUPS:
                for one in self._groups.values():
                    if one.receiving and one.server == call["server"]:
                        one.lock, one.holder, one.receiving = "ready", ABSENT, False
            case CallName.PUT_MESSAGE:
                for entry in range(1, max(1, call["most"]) + 1):
                    self._messages[node, call["operation"], entry] = _Message(call["group"])
            case CallName.DELETE | CallName.GIVE_BACK:
                self._leave(node, call, name is CallName.DELETE)
            case CallName.CANCEL:
                for held in self._hand[node]:
                    self._messages[held].holder = ABSENT
                self._hand[node].clear()
            case _:
                pass

    def _leave(self, node: NodeId, call: dict[str, int], is_deleted: bool) -> None:
        hand = list(self._hand[node])
        most = max(1, call["most"])
        for name in hand[-most:] if call["newest"] == 1 else hand[:most]:
            del self._hand[node][name]
            if is_deleted:
                self._messages.pop(name, None)
            elif name in self._messages:
                self._messages[name].holder = ABSENT

    def facts(self, node: NodeId) -> list[tuple[str, str]]:
        if not self._is_store[node]:
            call = self._in.get(node)
            if call is None:
                return []
            return [("in call", f"{_CALLS.get(call['call'], '?')} {call['operation']}, since {call['time_ns']} ns")]
        if self._leased:
            held = sum(message.holder != ABSENT for message in self._messages.values())
            return [("messages", str(len(self._messages))), ("held", str(held))]
        locks = [group.lock for group in self._groups.values()]
        return [(word, str(locks.count(word))) for word in ("ready", "locked for sending", "locked for receiving")]

    def mark(self, node: NodeId) -> str:
        """What a client has in hand."""
        if self._leased:
            return " ".join(map(_told, self._hand[node]))
        return ", ".join(f"group {number}" for number, group in self._groups.items() if group.holder == node)

    def buffer(self, node: NodeId) -> list[str]:
        """The store's messages or groups, in the order in which they were put or begun."""
        if not self._is_store[node]:
            return []
        if self._leased:
            return [
                f"{_told(name)} of group {message.group}{self._by(message.holder)}"
                for name, message in self._messages.items()
            ]
        return [
            f"group {number}: {group.lock}{self._by(group.holder)}, messages {group.messages}"
            for number, group in self._groups.items()
        ]

    def _by(self, holder: NodeId) -> str:
        return "" if holder == ABSENT else f" by {self._names[holder]}"


def _told(name: tuple[int, int, int]) -> str:
    sender, number, entry = name
    return f"{sender}.{number}" + (f"/{entry}" if entry > 1 else "")
