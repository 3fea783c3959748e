"""Sweetspot: which infrastructure gives the best compromise between time, cost and availability."""
