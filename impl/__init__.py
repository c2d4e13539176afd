"""Reference implementation: sans-IO cores, and the drivers that put them on sockets and pipes."""
