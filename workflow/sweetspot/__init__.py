"""Sweetspot: which infrastructure gives the best compromise between time, cost and availability."""

__version__ = "0.1.0"
