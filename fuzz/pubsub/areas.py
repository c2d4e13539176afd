"""The parts of the cores of appliances and clients, by purpose: the areas by which core mutants are counted."""

from __future__ import annotations

_CORE = "scatterproof.impl.pubsub"
CALLS = "pubsub: calls asked and answered"
ROUTING = "pubsub: routing"
SPREADING = "pubsub: spreading of subscriptions"
STREAMS = "pubsub: streams of messages"
MATCHING = "pubsub: matching"
GRAMMARS = "pubsub: grammars"
COVERING = "pubsub: covering"

_AREAS = {
    "client": CALLS,
    "appliance": CALLS,
    "appliance:Appliance._route": ROUTING,
    "appliance:Appliance._put": ROUTING,
    "appliance:Appliance._is_first": ROUTING,
    "appliance:Appliance._take": SPREADING,
    "appliance:Appliance._tell": SPREADING,
    "appliance:Appliance._settle": SPREADING,
    "spreading": SPREADING,
    "streams": STREAMS,
    "topic_tree:TopicTree": MATCHING,
    "topic_tree:TopicTree.__len__": "",  # of tests
    "topic_tree:TopicTree._all": "",
    "match_rules": MATCHING,
    "filters": GRAMMARS,
    "filters:Grammar.text": "",  # of the appliance to run
    "vocabulary": GRAMMARS,
    "vocabulary:Vocabulary.covers": COVERING,
    "covering": COVERING,
    # It is covering that looks at one filter at a time.
    "matching:passed": COVERING,
    "matching:taken": COVERING,
    "rules": STREAMS,
    "rules:is_new": CALLS,
    "rules:delivered_level": ROUTING,
    "rules:level_of_all": ROUTING,
    "rules:is_passed_on": ROUTING,
    "rules:is_first": ROUTING,
    "rules:counts_as_covered": COVERING,
    "rules:is_told": SPREADING,
    "rules:stays_home": SPREADING,
    "rules:is_known": SPREADING,
    "rules:in_order": SPREADING,
}
AREAS = {f"{_CORE}.{place}": area for place, area in _AREAS.items()}
