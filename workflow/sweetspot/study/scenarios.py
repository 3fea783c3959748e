"""Scenarios of a study: config/studies/<study>/scenarios/<name>.yaml, only what differs from its own files."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from sweetspot.cells import is_slug
from sweetspot.errors import Faults, UserError, refuse
from sweetspot.files import write_whole
from sweetspot.study.base import AboveZero, Closed, Text, validated
from sweetspot.study.spelling import hint
from sweetspot.study.yamlfile import load_yaml

NAME_KEYS = ("name", "instance")  # by which the entries of a list are identified; offers also by purchase
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
    for file in sorted((folder / "scenarios").glob("*")):
        if file.suffix.lower() not in (".yml", ".yaml"):
            continue
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
    old_work = load_yaml(workloads)
    _check_names(scenario, file, old_work, lists)
    new_work = merged(old_work, scenario.workloads, file)
    changes = list(differences(old_work, new_work))
    if scenario.per_kwh is not None:
        changes.insert(0, f"electricity {scenario.per_kwh:g}")
    if scenario.times_work is not None:
        changes.insert(0, f"{scenario.times_work:g} times the jobs")
        if not any(_has_jobs(work) for work in new_work.values()):
            expected = "expected a workload of kind plan or monthly, whose jobs it multiplies"
            raise UserError(f"{file}: times_work is {scenario.times_work:g}; {expected}")
        new_work = _replaced(new_work, partial(_multiplied, factor=scenario.times_work))
    new_lists = {}
    for name, path in lists.items():
        old_prices = load_yaml(path)
        new_prices = merged(old_prices, scenario.prices.get(name, {}), file)
        changes += [change for change in differences(old_prices, new_prices) if change not in changes]
        if scenario.per_kwh is not None:
            new_prices = _replaced(new_prices, lambda key, price: scenario.per_kwh if key == "per_kwh" else price)
        new_lists[name] = _write(new_prices, into / "prices" / f"{name}.yaml")
    return _write(new_work, into / "workloads.yaml"), new_lists, changes


def _check_names(scenario: Scenario, file: Path, workloads: Mapping[str, Any], lists: Mapping[str, Path]) -> None:
    """Refuse unknown price lists, and unknown workloads that do not come whole, with their kind."""
    changed_works = [
        name for name, change in scenario.workloads.items() if not (isinstance(change, Mapping) and "kind" in change)
    ]
    names = [("prices", name, lists, "price list") for name in scenario.prices]
    names += [("workloads", name, workloads, "workload of the study") for name in changed_works]
    refuse(
        f"{file}: {key}.{name} is no {noun}; expected one of {', '.join(names_there)}{hint(name, names_there)}"
        for key, name, names_there, noun in names
        if name not in names_there
    )


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
    entries, changes = _by_name(old), _by_name(change)
    if isinstance(old, Mapping) or not (isinstance(entries, dict) and isinstance(changes, dict)):
        return change
    for key, entry in changes.items():
        matches = [
            candidate
            for candidate in entries
            if candidate[0] == key[0] and candidate[1] == entry.get("purchase", candidate[1])
        ]
        if len(matches) > 1:
            purchases = ", ".join(purchase for _, purchase in matches)
            raise UserError(f"{file}: '{key[0]}' has several offers; expected its purchase, one of {purchases}")
        match = matches[0] if matches else key
        entries[match] = merged(entries.get(match), entry, file)
    return list(entries.values())


def differences(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Describe each changed value: where it is, what it was, what it is.

    Parameters
    ----------
    old, new
        The content of a file before and after, or a part of it.
    path
        Where the part stands.
    """
    before, after = _by_name(old), _by_name(new)
    if isinstance(before, Mapping) and isinstance(after, Mapping) and not ("value" in before and "value" in after):
        for key in dict.fromkeys((*before, *after)):
            name = key[0] if isinstance(key, tuple) else key
            yield from differences(before.get(key), after.get(key), f"{path} {name}".strip())
    elif old != new:
        yield f"{path}: {_text(old)} → {_text(new)}"


def _by_name(content: Any) -> Any:
    """Return a list of named entries by name and purchase; anything else as it is."""
    if not (isinstance(content, list) and content and all(isinstance(entry, Mapping) for entry in content)):
        return content
    names = [next((str(entry[key]) for key in NAME_KEYS if key in entry), "") for entry in content]
    purchases = [str(entry.get("purchase", "on_demand")) for entry in content]
    return dict(zip(zip(names, purchases, strict=True), content, strict=True)) if all(names) else content


def _text(value: Any) -> str:
    if isinstance(value, Mapping) and "value" in value:
        low, high = value.get("low"), value.get("high")
        return str(value["value"]) + ("" if None in (low, high) else f" ({low} to {high})")
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_text(entry)}" for key, entry in value.items())
    return "nothing" if value is None else str(value)


def _has_jobs(work: Any) -> bool:
    return isinstance(work, Mapping) and bool({"phases", "jobs"} & set(work))


def _replaced(content: Any, replace: Callable[[str, Any], Any]) -> Any:
    """Return the content of a file with `replace(key, value)` for the value of each key, at any depth."""
    if isinstance(content, list):
        return [_replaced(entry, replace) for entry in content]
    if isinstance(content, Mapping):
        return {key: _replaced(replace(key, value), replace) for key, value in content.items()}
    return content


def _multiplied(key: str, value: Any, factor: float) -> Any:
    """Multiply the jobs of a class, which may have a range, or of a phase, which stay whole numbers, at least 1."""
    if key == "jobs" and isinstance(value, int):
        return max(1, round(value * factor))
    if key not in JOBS_PER_MONTH:
        return value
    if isinstance(value, Mapping):
        return {name: _multiplied(key, part, factor) for name, part in value.items()}
    return value * factor if isinstance(value, int | float) and not isinstance(value, bool) else value


def _write(content: Any, file: Path) -> Path:
    with write_whole(file) as temporary:
        temporary.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return file
