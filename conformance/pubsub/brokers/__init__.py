"""Third-party brokers: how to start each on loopback, and find which filters receive which messages there."""
