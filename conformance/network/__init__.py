"""The simulated network: links, delays, faults, clocks, and the trace of what happened."""
