"""From one device to another: the throughput of a workload on a device where nobody has run it."""
