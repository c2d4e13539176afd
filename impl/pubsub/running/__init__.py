"""An appliance that runs: sessions of clients, links to neighbours, a cache engine on SQLite, and what drives them.

All but `server` and `store` is sans-IO. `core` routes; `table` has the subscriptions; `propagation` says what a
neighbour is told of them; `link` is a neighbour; sessions, which speak MQTT and NATS, are in `translation`.
"""
