"""A relay between the processes of one machine that speak UDP: it carries their datagrams, and loses, delays, reorders,
duplicates and partitions them by seed. It does not know what the datagrams say."""
