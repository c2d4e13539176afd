"""Models of total-order message scattering: Z3 claims, one file a theorem family."""
