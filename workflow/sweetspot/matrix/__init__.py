"""Which runs an invocation makes: expansion, budget, schedule."""
