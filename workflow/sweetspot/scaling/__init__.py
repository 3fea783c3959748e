"""From the throughput of one device to that of several: three methods, their intervals, and what nodes cost."""
