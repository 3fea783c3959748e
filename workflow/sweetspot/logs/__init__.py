"""Readers of other people's benchmark logs."""
