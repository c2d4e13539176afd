"""A running appliance: sessions of clients, links to neighbours, a cache engine on SQLite, and what drives them.

All but `server` and `store` is sans-IO. `core` routes; `table` has the subscriptions; `propagation` decides which of
them a neighbour is told; `link` is a neighbour; `mqtt_session` and `nats_session` are clients, whose protocols are in
`translation`.
"""
