"""Drivers: they give a sans-IO core its clock, its links and its application, for any protocol."""
