"""Everything that runs inside a benchmark job."""
