"""Channels: recent messages in a ring, queues that refer to them, who is served first, and what is done about those
that do not keep up. All of it sans-IO, by the rules in `flow_rules`."""
