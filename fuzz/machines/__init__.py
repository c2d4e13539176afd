"""State machines: the cores against a plain model, one small step at a time."""
