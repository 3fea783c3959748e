"""How a machine is paid for, and which of the ways can be taken away."""

from typing import Literal

Purchase = Literal["on_demand", "spot", "preemptible", "reserved", "committed", "own"]
# Spot and preemptible machines can be taken away; every other is persistent.
INTERRUPTIBLE = ("spot", "preemptible")
