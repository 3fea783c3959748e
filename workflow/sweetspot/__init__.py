"""Sweetspot: which infrastructure gives the best compromise between time, cost and availability."""

__version__ = "1.0.0"
