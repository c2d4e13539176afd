"""Total-order message scattering: its clause catalogue and its TLA+ modules."""
