"""The broadcast stack in Z3: claims for any number of processes, and what becomes of its counterexamples."""
