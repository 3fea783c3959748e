"""Scenarios of a study: config/studies/<study>/scenarios/<name>.yaml, only what differs from its own files."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field

from sweetspot.cells import is_slug
from sweetspot.errors import UserError
from sweetspot.files import write_whole
from sweetspot.study.base import AboveZero, Closed, Text, validated
from sweetspot.study.yamlfile import load_yaml

KEYS = ("name", "instance")  # by which entries of a list are the same; offers by instance and purchase
OF_WORK = ("per_month", "urgent_per_month")


class Scenario(Closed):
    """What differs from the study. In `workloads` and `prices` an entry of a list is found by its name, an offer by its
    instance (and purchase, where it is said); null takes a key or an entry away.
    """

    title: Text = Field(description="Name for people")
    times_work: AboveZero | None = Field(None, description="Times all jobs a month, urgent ones among them")
    per_kwh: AboveZero | None = Field(None, description="Price of electricity of all machines, in their list's money")
    workloads: dict[str, Any] = Field({}, description="What differs in workloads.yaml, by workload")
    prices: dict[str, Any] = Field({}, description="What differs in a price list, by its name")


def load_scenarios(folder: Path) -> dict[str, Scenario]:
    """The scenarios of a study's folder by name. Raises UserError."""
    files = sorted((folder / "scenarios").glob("*.yaml"))
    for file in files:
        if not is_slug(file.stem):
            raise UserError(f"{file}: expected a name of letters, digits, '.', '_', '-'")
    return {file.stem: validated(Scenario, load_yaml(file), file) for file in files}


def write_scenario(
    one: Scenario, file: Path, workloads: Path, lists: Mapping[str, Path], into: Path
) -> tuple[Path, dict[str, Path], list[str]]:
    """Write the study's workloads and price lists as the scenario has them; also what it changed, in words.

    `file`: the scenario's own, for messages. Raises UserError where it names a price list that there is not.
    """
    for name in one.prices:
        if name not in lists:
            raise UserError(f"{file}: prices.{name} is no price list; expected one of {', '.join(lists)}")
    plain = load_yaml(workloads)
    made = merged(plain, one.workloads, file)
    changes = [f"{one.times_work:g} times the jobs"] if one.times_work is not None else []
    changes += [f"electricity {one.per_kwh:g}"] if one.per_kwh is not None else []
    changes += differences(plain, made)
    if one.times_work is not None:
        made = {name: _times_work(work, one.times_work) for name, work in made.items()}
    written = {}
    for name, path in lists.items():
        listed = load_yaml(path)
        changed = merged(listed, one.prices.get(name, {}), file)
        changes += [change for change in differences(listed, changed) if change not in changes]
        if one.per_kwh is not None:
            changed = changed | {"offers": [_at_tariff(offer, one.per_kwh) for offer in changed["offers"]]}
        written[name] = _write(changed, into / "prices" / f"{name}.yaml")
    return _write(made, into / "workloads.yaml"), written, changes


def merged(plain: Any, change: Any, file: Path) -> Any:
    """`plain` with what `change` says. Raises UserError where a null takes away what is not there, or an entry is of
    several offers of one machine.
    """
    if isinstance(change, Mapping) and isinstance(plain, Mapping) and "value" not in change:
        made = dict(plain)
        for name, value in change.items():
            if value is not None:
                made[name] = merged(plain.get(name), value, file)
            elif name in made:
                del made[name]
            else:
                raise UserError(f"{file}: key '{name}' is null and takes away what is not there")
        return made
    if not (_entries(change) and _entries(plain)):
        return change
    found = list(plain)
    for entry in change:
        places = [place for place, old in enumerate(found) if _same(old, entry)]
        if len(places) > 1:
            ways = ", ".join(_paid(found[place]) for place in places)
            raise UserError(f"{file}: '{_name_of(entry)}' has several offers; expected its purchase, one of {ways}")
        place = places[0] if places else len(found)
        found[place:] = [merged(found[place], entry, file) if places else entry, *found[place + 1 :]]
    return found


def differences(plain: Any, made: Any, path: str = "") -> Iterator[str]:
    """What changed, a sentence a value: where, before, after."""
    both = isinstance(plain, Mapping) and isinstance(made, Mapping)
    if both and not ("value" in plain and "value" in made):
        for name in dict.fromkeys((*plain, *made)):
            yield from differences(plain.get(name), made.get(name), f"{path} {name}".strip())
    elif _entries(plain) and _entries(made):
        for entry in made:
            old = next((one for one in plain if _same(one, {**entry, "purchase": _paid(entry)})), None)
            yield from differences(old, entry, f"{path} {_name_of(entry)}".strip())
    elif plain != made:
        yield f"{path}: {_told(plain)} → {_told(made)}"


def _entries(value: Any) -> bool:
    """Whether a value is a list of entries with a name."""
    named = isinstance(value, Sequence) and not isinstance(value, str) and bool(value)
    return named and all(isinstance(one, Mapping) and _name_of(one) for one in value)


def _name_of(entry: Mapping[str, Any]) -> str:
    return next((str(entry[key]) for key in KEYS if key in entry), "")


def _same(old: Mapping[str, Any], entry: Mapping[str, Any]) -> bool:
    """Whether two entries are of one thing: of one name, and paid for in one way where that is said."""
    return _name_of(old) == _name_of(entry) and ("purchase" not in entry or _paid(old) == _paid(entry))


def _paid(entry: Mapping[str, Any]) -> str:
    return str(entry.get("purchase", "on_demand"))


def _told(value: Any) -> str:
    if isinstance(value, Mapping) and "value" in value:
        ends = f" ({value['low']:g} to {value['high']:g})" if {"low", "high"} <= set(value) else ""
        return f"{value['value']}{ends}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_told(entry)}" for name, entry in value.items())
    return "nothing" if value is None else str(value)


def _times_work(work: Any, factor: float) -> Any:
    """A plan with so many times its jobs, of phases whole ones; another workload is as it was."""
    if not isinstance(work, Mapping):
        return work
    if "phases" in work:
        return {**work, "phases": [one | {"jobs": max(1, round(one["jobs"] * factor))} if "jobs" in one else one
                                   for one in work["phases"]]}  # fmt: skip
    if not work.get("jobs"):
        return work
    return {**work, "jobs": [job | {key: _times(job[key], factor) for key in OF_WORK if key in job}
                             for job in work["jobs"]]}  # fmt: skip


def _times(value: Any, factor: float) -> Any:
    if isinstance(value, Mapping):
        return {name: end * factor for name, end in value.items()}
    return value * factor if isinstance(value, int | float) else value


def _at_tariff(offer: Any, per_kwh: float) -> Any:
    own = offer.get("own") if isinstance(offer, Mapping) else None
    return {**offer, "own": {**own, "per_kwh": per_kwh}} if isinstance(own, Mapping) and "per_kwh" in own else offer


def _write(content: Any, file: Path) -> Path:
    with write_whole(file) as temporary:
        temporary.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return file
