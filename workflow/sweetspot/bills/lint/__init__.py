"""Lint of prices: what a careful reader would ask about, found without being told where to look."""
