"""A relay between the processes of one machine that speak UDP: it carries, loses, delays, reorders, duplicates and
parts their datagrams, by seed. It knows nothing of what the datagrams say."""
