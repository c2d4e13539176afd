"""Third-party brokers, driven by their clients and judged by what their documents promise."""
