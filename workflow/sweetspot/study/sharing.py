"""Who else sends jobs to a machine: how often a workload comes, and how much its hours differ."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field

from sweetspot.study.base import Closed, Count, Text, validated
from sweetspot.study.terms import Positive
from sweetspot.study.yamlfile import load_yaml

Spread = Annotated[float, Field(strict=True, ge=0, le=20)]


class Shared(Closed):
    """Jobs of this workload that arrive at random, month after month, at a machine that several people share."""

    per_month: Positive = Field(description="Jobs a month of all people together (of `runs`: single runs)")
    hours_cv: Spread = Field(
        1.0,
        description="How much the hours of a job differ: their standard deviation over their mean; 0: all alike, 1: as "
        "of exponential hours",
    )
    people: Count | None = Field(None, description="People who send them; with more of them come more jobs")
    source: Text | None = Field(None, description="Where the numbers come from")


class Demand(NamedTuple):
    """What a workload says of its jobs: a month (central, low, high), spread of their hours, people, runs priced as one
    job (1 where it is no `runs`).
    """

    per_month: tuple[float, float, float]
    hours_cv: float
    people: int | None
    runs: int


def load_demands(path: str | Path) -> dict[str, Demand]:
    """The workloads of workloads.yaml that say how often they come, by name; none without the file.

    Raises UserError naming file and key.
    """
    file = Path(path)
    written: Mapping[str, dict[str, object]] = load_yaml(file) if file.is_file() else {}
    found = {}
    for name, entry in written.items():
        if "shared" in entry:
            shared = validated(Shared, entry["shared"], f"{file}: {name}.shared")
            low, high = shared.per_month.ends
            runs = entry["runs"] if entry["kind"] == "runs" else 1
            found[name] = Demand((shared.per_month.value, low, high), shared.hours_cv, shared.people, int(str(runs)))
    return found
