"""How jobs share a machine: the devices that each takes, how often they come, how much their hours differ."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, Field

from sweetspot.study.base import Closed, Count, Text, validated
from sweetspot.study.memory import Needs
from sweetspot.study.terms import Amount, Positive
from sweetspot.study.yamlfile import load_yaml

# Two RTX 4090 that train ResNet-50 together lose 5 % (1,301 to 2,468 images/s, Lambda 2024), eight H100 1 %; that
# includes the exchange of gradients, which independent jobs do not make. So they lose less: between nothing and 5 %.
CONTENTION = 0.03
DevicesPerJob = Count | Literal["all"]
Contention = Annotated[float, Field(strict=True, ge=0, lt=1)]
SAYS_DEVICES = "Devices that one job takes; a machine of more works on several jobs side by side; all: it takes all"
SAYS_CONTENTION = (
    "Share of its speed that a job loses where others run beside it on the machine's other devices (disks, processors, "
    "heat); absent: 0.03, assumed between nothing and the 5 % that two RTX 4090 lose in training one model together"
)
SAYS_SPREAD = (
    "How much the hours of a job differ: their standard deviation over their mean; 0: all alike, 1: as of exponential "
    "hours"
)
Spread = Annotated[float, Field(strict=True, ge=0, le=20)]
# More are dealt out one by one for minutes, and of a range of more than three decades nobody knows anything.
MOST_A_MONTH, WIDEST = 100_000, 1000.0


def _countable(jobs: Amount) -> Amount:
    low, high = jobs.ends
    if high > MOST_A_MONTH:
        raise ValueError(f"at most {MOST_A_MONTH:,} jobs a month (of several that are alike make one), found {high:g}")
    if high > low * WIDEST:
        raise ValueError(f"a range of at most {WIDEST:g} times, found {low:g} to {high:g}")
    return jobs


Arrivals = Annotated[Positive, AfterValidator(_countable)]


class SideBySide(Needs):
    """The keys by which a workload says how many devices of a machine one of its jobs takes."""

    devices_per_job: DevicesPerJob = Field("all", description=SAYS_DEVICES)
    contention: Contention = Field(CONTENTION, description=SAYS_CONTENTION)


class Shared(Closed):
    """Jobs of this workload that arrive at random, month after month, at a machine that several people share."""

    per_month: Arrivals = Field(description="Jobs a month of all people together (of `runs`: single runs)")
    hours_cv: Spread = Field(1.0, description=SAYS_SPREAD)
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
    """The workloads of workloads.yaml that say how often they come, by name; phases of plans as `<plan>.<phase>`. None
    without the file.

    Raises UserError naming file and key.
    """
    file = Path(path)
    written: Mapping[str, dict[str, Any]] = load_yaml(file) if file.is_file() else {}
    found = {}
    for name, entry in written.items():
        if "shared" in entry:
            runs = int(entry["runs"]) if entry["kind"] == "runs" else 1
            found[name] = _demand(entry["shared"], f"{file}: {name}.shared", runs)
        for phase in entry.get("phases", []):
            if "shared" in phase:
                key = f"{name}.{phase['name']}"
                found[key] = _demand(phase["shared"], f"{file}: {key}.shared", 1)
    return found


def _demand(entry: Any, where: str, runs: int) -> Demand:
    shared = validated(Shared, entry, where)
    low, high = shared.per_month.ends
    return Demand((shared.per_month.value, low, high), shared.hours_cv, shared.people, runs)
