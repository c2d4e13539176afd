"""Figures of the protocols, drawn from simulation."""
