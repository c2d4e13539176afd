"""Steps through a recorded run of any length: a window of its rows, and the state of each node at a row."""
