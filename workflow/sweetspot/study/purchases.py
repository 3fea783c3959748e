"""How a machine is paid for, which of the ways can be taken away, and when one may be bought."""

from pathlib import Path
from typing import Literal, NamedTuple

from sweetspot.study.yamlfile import load_yaml

Purchase = Literal["on_demand", "spot", "preemptible", "reserved", "committed", "own"]
# Spot and preemptible machines can be taken away; every other is persistent.
INTERRUPTIBLE = ("spot", "preemptible")


class Dates(NamedTuple):
    """A workload by its name: its `months`, and `after` how many of them machines may be bought."""

    name: str
    months: float
    after: tuple[float, ...]


def load_plans(path: str | Path) -> dict[str, Dates]:
    """The plans of phases that ask; only these keys are read: `price_workloads` has checked the file."""
    works = load_yaml(Path(path)) if Path(path).is_file() else {}
    return {
        name: Dates(name, float(work["months"]), tuple(map(float, work["buy_after_months"])))
        for name, work in works.items()
        if work["kind"] == "plan" and work.get("buy_after_months")
    }
