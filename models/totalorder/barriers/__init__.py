"""Z3 claims about barriers without loss: stamping, aggregation, delivery."""
