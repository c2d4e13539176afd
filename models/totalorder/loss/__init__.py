"""Z3 claims about links that lose packets: environment D."""
