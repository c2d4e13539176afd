"""Users' own files as traces: NDJSON, CSV, captures of the wire format, and logs of nodes, into a corpus's layout."""
