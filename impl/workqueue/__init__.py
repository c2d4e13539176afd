"""The queue with correlated groups of messages: the reference, and a queue to run, with its stores."""
