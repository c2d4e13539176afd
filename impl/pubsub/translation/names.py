"""Topics and filters of MQTT and NATS as native ones, and back.

Native is the document's grammar, in which a filter of either can be said: `+` is `*`, `#` is `>`, and NATS' `>` is
`*.>`. Each token is spelled as `escaping` has it, so that native -> foreign -> native is the identity, and foreign ->
native -> foreign as well. One topic has no spelling in either: the one whose only token is empty; it is refused.

Clauses: PS-TRANSLATE, PS-GRAMMAR.
"""

from __future__ import annotations

from functools import lru_cache

from scatterproof.impl.pubsub.filters import GRAMMARS, GrammarName
from scatterproof.impl.pubsub.translation.escaping import Escaping
from scatterproof.spec.errors import BadInput

NATIVE = GRAMMARS[GrammarName.DOCUMENT]
_MQTT, _NATS = GRAMMARS[GrammarName.MQTT], GRAMMARS[GrammarName.NATS]
_IN_NATIVE = Escaping(".*>[]", alone=[""])
_IN_MQTT = Escaping("/+#\0")
_IN_NATS = Escaping(". \t\r\n\0", alone=["", "*", ">"])
_KEPT = 1 << 16  # translations that are remembered, of each kind


def _native(text: str) -> str:
    if text == _IN_NATIVE.spell(""):
        raise BadInput("the topic is one empty token; give it a character at least")
    return text


@lru_cache(_KEPT)
def topic_of_mqtt(topic: str) -> str:
    """The native topic; BadInput for what is none of MQTT."""
    return _native(".".join(_IN_NATIVE.spell(_IN_MQTT.read(token)) for token in _MQTT.topic(topic)))


@lru_cache(_KEPT)
def mqtt_of_topic(native: str) -> str:
    return "/".join(_IN_MQTT.spell(_IN_NATIVE.read(token)) for token in _native(native).split("."))


@lru_cache(_KEPT)
def topic_of_nats(subject: str) -> str:
    """The native topic; BadInput for what is none of NATS."""
    return _native(".".join(_IN_NATIVE.spell(_IN_NATS.read(token)) for token in _NATS.topic(subject)))


@lru_cache(_KEPT)
def nats_of_topic(native: str) -> str:
    return ".".join(_IN_NATS.spell(_IN_NATIVE.read(token)) for token in _native(native).split("."))


def filter_of_mqtt(text: str) -> str:
    """The native filter; BadInput for what is none of MQTT."""
    _MQTT.filter(text)
    return ".".join({"+": "*", "#": ">"}.get(one) or _IN_NATIVE.spell(_IN_MQTT.read(one)) for one in text.split("/"))


def filter_of_nats(text: str) -> str:
    """The native filter; BadInput for what is none of NATS."""
    _NATS.filter(text)
    return ".".join({"*": "*", ">": "*.>"}.get(one) or _IN_NATIVE.spell(_IN_NATS.read(one)) for one in text.split("."))
