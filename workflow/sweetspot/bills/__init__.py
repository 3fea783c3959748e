"""What an option costs: renting, owning, interruptions, workloads."""
