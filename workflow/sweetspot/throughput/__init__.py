"""From run files and published figures to one throughput table."""
