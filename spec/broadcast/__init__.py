"""The broadcast stack as data: packets, deliveries, trace columns, wire layout."""
