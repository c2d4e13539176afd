"""Z3 claims about timestamp adjustment."""
