"""What the tests of `spark` must know of the queue."""
