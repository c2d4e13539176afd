"""Runs the formal models: TLC over the modules in `spec`, and the Z3 claims."""
