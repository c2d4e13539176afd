"""Programs of other people under stress: started with files, joined by the relay, paused, ended, and judged by what
they wrote. It knows no protocol; what to write and how to judge is the protocol's `Programs`."""
