"""The configuration of the management node: an id, and who may publish and subscribe to what.

    id = "7"

    [[entitlement]]
    user = "sensor"            # of an MQTT or NATS client; "*" is everybody, also without a name
    publish = ["sensors.>"]    # native filters
    subscribe = ["commands.*"]

Clauses: PS-AUTH, PS-CONFIG.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from enum import StrEnum

import msgspec

from scatterproof.impl.pubsub.running.propagation import covers_want
from scatterproof.impl.pubsub.translation.names import NATIVE
from scatterproof.spec.errors import BadInput

EVERYBODY = "*"
_KEPT = 1 << 14


class Action(StrEnum):
    PUBLISH = "publish"
    SUBSCRIBE = "subscribe"


class _Entitlement(msgspec.Struct, forbid_unknown_fields=True):
    user: str
    publish: list[str] = []
    subscribe: list[str] = []


class _File(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    entitlement: list[_Entitlement] = []


@dataclass(frozen=True, slots=True)
class Configuration:
    """text: as it was given.
    allowed: native filters, by user and action.
    """

    id: str
    text: str
    allowed: dict[tuple[str, Action], tuple[str, ...]]
    _answers: dict[tuple[str, Action, str], bool] = field(default_factory=dict)

    def allows(self, user: str, action: Action, filter_: str) -> bool:
        """Whether one of the user's or everybody's filters covers all of this filter, or matches this topic."""
        key = user, action, filter_
        if key not in self._answers:
            if len(self._answers) >= _KEPT:
                self._answers.clear()
            of_both = (*self.allowed.get((user, action), ()), *self.allowed.get((EVERYBODY, action), ()))
            self._answers[key] = any(covers_want((one, ""), (filter_, "")) for one in of_both)
        return self._answers[key]


NOTHING = Configuration("", "", {})  # nobody may do anything


def read(text: str, name: str) -> Configuration:
    """The configuration in a TOML text. Raises BadInput, which names the file, for anything else."""
    try:
        found = msgspec.convert(tomllib.loads(text), _File)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise BadInput(f"{name}: no configuration: {error}") from None
    if not found.id:
        raise BadInput(f"{name}: the id is empty; give each configuration another one")
    allowed: dict[tuple[str, Action], tuple[str, ...]] = {}
    for one in found.entitlement:
        for action, filters in ((Action.PUBLISH, one.publish), (Action.SUBSCRIBE, one.subscribe)):
            for text_of in filters:
                try:
                    NATIVE.filter(text_of)
                except BadInput as error:
                    raise BadInput(f"{name}: user {one.user!r}: {error}") from None
            allowed[one.user, action] = (*allowed.get((one.user, action), ()), *filters)
    return Configuration(found.id, text, allowed)
