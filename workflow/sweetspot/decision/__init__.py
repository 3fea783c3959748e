"""From tables to an answer."""
