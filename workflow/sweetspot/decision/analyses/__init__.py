"""The analyses of a decision: one module each."""
