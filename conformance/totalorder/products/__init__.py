"""Systems that others wrote, which order messages by time stamps of their own, judged by the clauses of total order."""
