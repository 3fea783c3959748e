"""Mixes: which machines to have and what to rent for the work of a month, as arithmetic on arrays."""
