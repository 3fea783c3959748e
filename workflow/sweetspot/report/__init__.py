"""The page a person reads: charts, tables with their origins, what-if, and a summary."""
