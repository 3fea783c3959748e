"""Readers of other people's benchmark logs: `sources` says which, `read` makes rows of published figures of them."""
