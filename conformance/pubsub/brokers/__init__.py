"""Third-party brokers: how each is started on loopback, and which filters receive which messages there."""
