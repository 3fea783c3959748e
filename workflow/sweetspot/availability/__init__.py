"""When a result is there, counted from today: finding a machine, starting it, failures, and the search for another."""
