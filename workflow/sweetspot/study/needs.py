"""What single steps read of workloads.yaml: memory, and arrivals at shared machines. Nothing else of it
is checked here.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sweetspot.study.base import validated
from sweetspot.study.memory import Needs
from sweetspot.study.monthly import Shared
from sweetspot.study.open_models import TokenWork
from sweetspot.study.yamlfile import load_yaml


class Need(NamedTuple):
    """What a workload states, and how many devices of a machine each of its jobs uses (None: all)."""

    stated: Needs
    devices: int | None = None

    def gib(self, gpus: int) -> float | None:
        """GiB that each device must hold on a machine of `gpus`; None where the workload does not say."""
        return self.stated.need_gib(gpus if self.devices is None else min(gpus, self.devices))


def entries_of(path: str | Path) -> dict[str, Any]:
    """The workloads of a file by name, as they are written; none without the file."""
    return load_yaml(path) if Path(path).is_file() else {}


def load_needs(path: str | Path) -> dict[str, Need]:
    """What each workload of workloads.yaml says of memory. Raises UserError naming file and key."""
    entries, found = entries_of(path), dict[str, Need]()
    for name, entry in entries.items():
        alone = any(phase.get("gpus_per_job") == "one" for phase in entry.get("phases", ()))
        jobs = {f"{name}.{job['name']}": job for job in entry.get("jobs", ())} if entry.get("kind") == "monthly" else {}
        for key, stated in (jobs or {name: entry}).items():
            needs, devices = _stated(stated, f"{path}: {key}"), stated.get("devices_per_job")
            found[key] = Need(needs, 1 if alone else _count(devices))
            if stated.get("urgent_devices_per_job") not in (None, devices):
                found[f"{key}.urgent"] = Need(needs, _count(stated["urgent_devices_per_job"]))
    for job, (name, one) in jobs_of_plans(entries).items():
        found[job] = Need(found[name].stated, 1 if one else None)
    return found


def jobs_of_plans(entries: Mapping[str, Any]) -> dict[str, tuple[str, bool]]:
    """The jobs that stand for a plan whose model nothing else in workloads.yaml trains, as `<plan>.<phase>`: their
    plan, and whether they take one device. An option is what a job is priced on: without one the plan would have none.

    Of its phases those whose jobs take the whole machine, where there are any: they have the machine's own figure.
    """
    jobs = [job for entry in entries.values() for job in (entry, *entry.get("jobs", ())) if entry.get("kind") != "plan"]
    trained = {job.get("model") for job in jobs}
    found: dict[str, tuple[str, bool]] = {}
    for name, entry in entries.items():
        if entry.get("kind") == "plan" and entry.get("model") not in trained:
            ones = {f"{name}.{phase['name']}": phase.get("gpus_per_job") == "one" for phase in entry["phases"]}
            found |= {job: (name, one) for job, one in ones.items() if not one or all(ones.values())}
    return found


def _stated(entry: Mapping[str, Any], place: str) -> Needs:
    stated = {key: entry[key] for key in Needs.model_fields if key in entry}
    if "tokens" in entry and not stated:
        told = {key: entry[key] for key in TokenWork.model_fields if key in entry}
        return Needs(memory=validated(TokenWork, told, place).rule)
    return validated(Needs, stated, place)


def _count(devices: int | str | None) -> int | None:
    return devices if isinstance(devices, int) else None


class Demand(NamedTuple):
    """What a workload says of its jobs: a month (central, low, high), spread of their hours, people, runs priced as one
    job (1 where it is no `runs`).
    """

    per_month: tuple[float, float, float]
    hours_cv: float
    people: int | None
    runs: int


def load_demands(path: str | Path) -> dict[str, Demand]:
    """The workloads that say how often they come, by name; phases of plans as `<plan>.<phase>`; none without the file.

    Raises UserError naming file and key.
    """
    found = {}
    for name, work in entries_of(path).items():
        phases = {f"{name}.{phase['name']}": phase for phase in work.get("phases", ())}
        for key, entry in ({name: work} | phases).items():
            if "shared" in entry:
                shared = validated(Shared, entry["shared"], f"{path}: {key}.shared")
                runs = int(entry["runs"]) if entry.get("kind") == "runs" else 1
                found[key] = Demand(shared.per_month.three, shared.hours_cv, shared.people, runs)
    return found
