"""Scenarios of a study: config/studies/<study>/scenarios/<name>.yaml, only what differs from its own files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from sweetspot.errors import Faults, UserError, refuse
from sweetspot.files import write_whole
from sweetspot.spelling import hint
from sweetspot.study.base import AboveZero, Closed, Name, Text, check_case, validated
from sweetspot.study.yamlfile import load_yaml

JOBS_PER_MONTH = ("per_month", "urgent_per_month")


class Scenario(Closed):
    """What differs from the study. In `workloads` and `prices` an entry of a list is found by its name, an offer by its
    instance (and purchase, where it is said); null takes a key or an entry away.
    """

    title: Text
    """Name for people"""
    times_work: AboveZero | None = None
    """Times all jobs a month, urgent ones among them"""
    per_kwh: AboveZero | None = None
    """Price of electricity of all machines, in their list's money"""
    workloads: dict[str, Any] = {}
    """What differs in workloads.yaml, by workload"""
    prices: dict[str, Any] = {}
    """What differs in a price list, by its name"""


def scenario_file(folder: Path, name: str) -> Path:
    """Return the path of a scenario of the study in `folder`."""
    return folder / "scenarios" / f"{name}.yaml"


def load_scenarios(folder: Path) -> dict[str, Scenario]:
    """Read a study's scenarios, {name: what differs from the study}; {} without any. UserError with all mistakes."""
    scenarios, faults = {}, Faults()
    for file in sorted((folder / "scenarios").glob("*.[yY]*")):
        with faults.gather():
            if file.suffix != ".yaml":
                raise UserError(f"{file}: scenarios end in .yaml; expected {file.stem}.yaml")
            validated(Name, {"name": file.stem}, file)
            scenarios[file.stem] = validated(Scenario, load_yaml(file), file)
    with faults.gather():
        check_case([scenario.title for scenario in scenarios.values()], "titles", folder / "scenarios")
    faults.end()
    return scenarios


def write_scenario(
    scenario: Scenario, file: Path, workloads: Path, lists: Mapping[str, Path], folder: Path
) -> tuple[Path, dict[str, Path], list[str]]:
    """Write the workloads and price lists of a study as a scenario changes them, so that the scenario is priced like a
    study. Return (path of the new workloads.yaml, {name: path} of the new price lists, the changes as texts).

    Parameters
    ----------
    scenario, file
        What differs from the study, and the scenario's own file, for messages. UserError for a workload or price list
        that does not exist, for multiplied work without jobs, and where nothing changes.
    workloads, lists, folder
        The study's workloads.yaml, its price lists by name, and the folder for the new files.
    """
    old = {"workloads": load_yaml(workloads), "prices": {name: load_yaml(path) for name, path in lists.items()}}
    change = {"workloads": scenario.workloads, "prices": scenario.prices}
    refuse(
        f"{file}: {key}.{name} is unknown; expected one of {', '.join(old[key])}{hint(name, old[key])}"
        for key, entries in change.items()
        for name, entry in entries.items()
        if name not in old[key] and not (isinstance(entry, Mapping) and "kind" in entry)
    )
    new = merged(old, change, file)
    sentences = [text for key in old for text in differences(old[key], new[key])]
    factor = scenario.times_work
    if scenario.per_kwh is not None:
        sentences.insert(0, f"electricity {scenario.per_kwh:g}")
    if factor is not None:
        if not any(isinstance(work, Mapping) and {"phases", "jobs"} & {*work} for work in new["workloads"].values()):
            expected = "expected a workload of kind plan or monthly, whose jobs it multiplies"
            raise UserError(f"{file}: times_work is {factor:g}; {expected}")
        sentences.insert(0, f"{factor:g} times the jobs")
    new = _with_factors(new, scenario)
    if new == old:
        raise UserError(f"{file}: the scenario changes nothing; expected what differs from the study")
    files = {name: _write(content, folder / "prices" / f"{name}.yaml") for name, content in new["prices"].items()}
    return _write(new["workloads"], folder / "workloads.yaml"), files, sentences


def merged(old: Any, change: Any, file: Path) -> Any:
    """Return the content of a study's file (dicts and lists, as from YAML) with a scenario's change merged into it; a
    number with its range is replaced whole.

    Parameters
    ----------
    old, change, file
        The study's content or a part of it, and what differs in the scenario; null removes a key; the scenario's file,
        for a UserError about a key that is missing or an offer that is one of several.
    """
    if isinstance(change, Mapping) and isinstance(old, Mapping) and "value" not in change:
        new = dict(old)
        for key, value in change.items():
            if value is not None:
                new[key] = merged(old.get(key), value, file)
            elif key in old:
                del new[key]
            else:
                raise UserError(f"{file}: key '{key}' is null and removes a key that is missing")
        return new
    if not (isinstance(old, list) and isinstance(change, list) and all(map(_name, [*old, *change]))):
        return change
    entries = list(old)
    for entry in change:
        name = _name(entry)
        offers = {_purchase(offer): index for index, offer in enumerate(old) if _name(offer) == name}
        if "purchase" in entry:
            offers = {purchase: index for purchase, index in offers.items() if purchase == _purchase(entry)}
        if len(offers) > 1:
            raise UserError(f"{file}: '{name}' has several offers; expected its purchase, one of {', '.join(offers)}")
        for index in offers.values():
            entries[index] = merged(old[index], entry, file)
        if not offers:
            entries.append(entry)
    return entries


def differences(old: Any, new: Any) -> list[str]:
    """Return a text 'path: old → new' per value that differs, to tell what a scenario changes in a file's content."""
    before, after = _values_by_path(old), _values_by_path(new)
    return [
        f"{path}: {before.get(path, 'nothing')} → {after.get(path, 'nothing')}"
        for path in {**before, **after}
        if before.get(path) != after.get(path)
    ]


def _values_by_path(content: Any, path: str = "") -> dict[str, str]:
    """Return {path of keys and names, joined by blanks: value as text} of a file's content, to compare two."""
    if isinstance(content, list) and content and all(map(_name, content)):
        names = [_name(entry) for entry in content]
        content = {
            name if names.count(name) == 1 else f"{name} {_purchase(entry)}".removesuffix(" on_demand"): entry
            for name, entry in zip(names, content, strict=True)
        }
    if not isinstance(content, Mapping):
        return {path: str(content)}
    if "value" in content:
        bounds = " to ".join(str(content[name]) for name in ("low", "high") if name in content)
        return {path: str(content["value"]) + (f" ({bounds})" if bounds else "")}
    values: dict[str, str] = {}
    for key, entry in content.items():
        values |= _values_by_path(entry, f"{path} {key}".strip())
    return values


def _name(entry: Any) -> str:
    """Return the `name` of an entry of a list, else its `instance` (of an offer); "" if it has neither."""
    name = entry.get("name", entry.get("instance")) if isinstance(entry, Mapping) else None
    return name if isinstance(name, str) else ""


def _purchase(entry: Mapping[str, Any]) -> str:
    """Return how an offer is paid; `on_demand` where it does not say."""
    return str(entry.get("purchase", "on_demand"))


def _with_factors(content: Any, scenario: Scenario, key: str = "") -> Any:
    """Return a file's content with the scenario's price of electricity and factor on the jobs put in. `key`: under
    which key the content stands. Jobs of a phase stay whole numbers, at least 1.
    """
    if key == "per_kwh" and scenario.per_kwh is not None:
        return scenario.per_kwh  # in place of a range too
    if isinstance(content, list):
        return [_with_factors(entry, scenario) for entry in content]
    if isinstance(content, Mapping):
        inherited = key if key in JOBS_PER_MONTH else None
        return {name: _with_factors(value, scenario, inherited or name) for name, value in content.items()}
    if scenario.times_work is None or not isinstance(content, int | float):
        return content
    if key == "jobs":
        return max(1, round(content * scenario.times_work))
    return content * scenario.times_work if key in JOBS_PER_MONTH else content


def _write(content: Any, file: Path) -> Path:
    """Write the content as a YAML file, whole, and return the file."""
    with write_whole(file) as temporary:
        temporary.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return file
