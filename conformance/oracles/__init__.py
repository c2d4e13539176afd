"""What the oracles of all protocols share. They share nothing with the checks."""
