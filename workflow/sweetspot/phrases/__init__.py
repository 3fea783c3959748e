"""Sentences about a decision, until templates say them: what to do, limits, and how far a figure is from the plan."""
