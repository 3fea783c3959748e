"""Hours from today to a result: finding a machine, waiting for its start, failures, and the search for another."""
