"""Training by tokens: its operations, its memory, its speed by arithmetic."""
