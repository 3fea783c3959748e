"""How throughput grows with devices, and how sure we are."""
