"""Scenarios of a study: config/studies/<study>/scenarios/<name>.yaml, only what differs from its own files."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from sweetspot.cells import is_slug
from sweetspot.errors import Faults, UserError, refuse
from sweetspot.files import write_whole
from sweetspot.study.base import AboveZero, Closed, Text, validated
from sweetspot.study.spelling import hint
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
    """Return the scenarios of a study's folder by name; {} where it has none. Raises UserError."""
    scenarios, faults = {}, Faults()
    for file in sorted((folder / "scenarios").glob("*.[yY]*")):
        with faults.gather():
            if file.suffix != ".yaml":
                raise UserError(f"{file}: scenarios end in .yaml; expected {file.stem}.yaml")
            if not is_slug(file.stem):
                raise UserError(f"{file}: expected a name of letters, digits, '.', '_', '-'")
            scenarios[file.stem] = validated(Scenario, load_yaml(file), file)
    faults.end()
    return scenarios


def write_scenario(
    scenario: Scenario, file: Path, workloads: Path, lists: Mapping[str, Path], into: Path
) -> tuple[Path, dict[str, Path], list[str]]:
    """Write the workloads and price lists of a study as a scenario changes them.

    Parameters
    ----------
    scenario
        What differs.
    file
        The scenario's own file, for messages.
    workloads, lists
        The study's workloads.yaml and its price lists by name.
    into
        Folder for the new files.

    Returns
    -------
    tuple
        Path of the new workloads.yaml, paths of the new price lists by name, and the changes as text.

    Raises
    ------
    UserError
        The scenario names a workload or price list that does not exist, or multiplies work without jobs.
    """
    old = {"workloads": load_yaml(workloads), "prices": {name: load_yaml(path) for name, path in lists.items()}}
    changes = {"workloads": scenario.workloads, "prices": scenario.prices}
    unknown = [(key, name) for key in changes for name in changes[key] if name not in old[key]]
    refuse(
        f"{file}: {key}.{name} is unknown; expected one of {', '.join(old[key])}{hint(name, old[key])}"
        for key, name in unknown
        if not (key == "workloads" and isinstance(changes[key][name], Mapping) and "kind" in changes[key][name])
    )
    new = {key: merged(old[key], changes[key], file) for key in changes}
    parts = [(old["workloads"], new["workloads"]), *((old["prices"][name], new["prices"][name]) for name in lists)]
    sentences = list(dict.fromkeys(sentence for part in parts for sentence in differences(*part)))
    if scenario.per_kwh is not None:
        new["prices"] = _replaced(new["prices"], lambda key, value: scenario.per_kwh if key == "per_kwh" else value)
        sentences.insert(0, f"electricity {scenario.per_kwh:g}")
    factor = scenario.times_work
    if factor is not None:
        works = [work for work in new["workloads"].values() if isinstance(work, Mapping)]
        if not any("phases" in work or "jobs" in work for work in works):
            expected = "expected a workload of kind plan or monthly, whose jobs it multiplies"
            raise UserError(f"{file}: times_work is {factor:g}; {expected}")
        new["workloads"] = _replaced(new["workloads"], lambda key, value: _multiplied(key, value, factor))
        sentences.insert(0, f"{factor:g} times the jobs")
    new_lists = {name: _write(content, into / "prices" / f"{name}.yaml") for name, content in new["prices"].items()}
    return _write(new["workloads"], into / "workloads.yaml"), new_lists, sentences


def merged(old: Any, change: Any, file: Path) -> Any:
    """Return the content of a file with a change merged into it; a number with its range is replaced whole.

    Parameters
    ----------
    old
        The study's content, or a part of it.
    change
        What differs.
    file
        The scenario's file, for messages.

    Raises
    ------
    UserError
        A null removes a key that is missing, or an entry matches several offers of a machine.
    """
    if isinstance(change, Mapping) and isinstance(old, Mapping) and "value" not in change:
        missing = [key for key, value in change.items() if value is None and key not in old]
        if missing:
            raise UserError(f"{file}: key '{missing[0]}' is null and removes a key that is missing")
        new = {key: merged(old.get(key), value, file) for key, value in change.items() if value is not None}
        return {key: value for key, value in old.items() if change.get(key, value) is not None} | new
    entries, changes = _entries_by_name(old), _entries_by_name(change)
    if not (isinstance(old, list) and isinstance(entries, Mapping) and isinstance(changes, Mapping)):
        return change
    new_entries = dict(entries)
    for (name, purchase), entry in changes.items():
        matches = [key for key in entries if key[0] == name and key[1] == entry.get("purchase", key[1])]
        if len(matches) > 1:
            purchases = ", ".join(key[1] for key in matches)
            raise UserError(f"{file}: '{name}' has several offers; expected its purchase, one of {purchases}")
        key = matches[0] if matches else (name, purchase)
        new_entries[key] = merged(entries.get(key), entry, file)
    return list(new_entries.values())


def differences(old: Any, new: Any) -> list[str]:
    """Describe each value that differs between two contents of a file: where it is, what it was, what it is."""
    before, after = _values_by_path(old), _values_by_path(new)
    return [
        f"{path}: {before.get(path, 'nothing')} → {after.get(path, 'nothing')}"
        for path in {**before, **after}
        if before.get(path) != after.get(path)
    ]


def _values_by_path(content: Any, path: str = "") -> dict[str, str]:
    entries = _entries_by_name(content)
    if not isinstance(entries, Mapping):
        return {path: str(content)}
    if "value" in entries:
        ends = [str(entries[name]) for name in ("low", "high") if name in entries]
        return {path: str(entries["value"]) + (f" ({' to '.join(ends)})" if ends else "")}
    values: dict[str, str] = {}
    for key, entry in entries.items():
        name = key if isinstance(key, str) else " ".join(key).removesuffix(" on_demand")
        values |= _values_by_path(entry, f"{path} {name}".strip())
    return values


def _entries_by_name(content: Any) -> Any:
    """Return a list of named entries by (name, purchase); anything else as it is."""
    if not (isinstance(content, list) and content and all(isinstance(entry, Mapping) for entry in content)):
        return content
    keys = [(entry.get("name", entry.get("instance")), entry.get("purchase", "on_demand")) for entry in content]
    is_named = all(isinstance(text, str) for key in keys for text in key)
    return dict(zip(keys, content, strict=True)) if is_named else content


def _replaced(content: Any, replace: Callable[[str, Any], Any]) -> Any:
    """Return the content of a file with `replace(key, value)` for the value of each key, at any depth."""
    if isinstance(content, list):
        return [_replaced(entry, replace) for entry in content]
    if isinstance(content, Mapping):
        return {key: _replaced(replace(key, value), replace) for key, value in content.items()}
    return content


def _multiplied(key: str, value: Any, factor: float) -> Any:
    """Multiply the jobs of a class, which may have a range, or of a phase, which stay whole numbers, at least 1."""
    if key in JOBS_PER_MONTH and isinstance(value, Mapping):
        return {name: _multiplied(key, number, factor) for name, number in value.items()}
    if key in JOBS_PER_MONTH and isinstance(value, int | float):
        return value * factor
    return max(1, round(value * factor)) if key == "jobs" and isinstance(value, int) else value


def _write(content: Any, file: Path) -> Path:
    with write_whole(file) as temporary:
        temporary.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return file
