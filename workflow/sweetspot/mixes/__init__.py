"""Mixes: how many machines to own and what to rent for the jobs of a month, as arithmetic on arrays."""
