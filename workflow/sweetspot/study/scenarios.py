"""Scenarios of a study: config/studies/<study>/scenarios/<name>.yaml, only what differs from its own files."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field

from sweetspot.cells import is_slug
from sweetspot.errors import Faults, UserError, refuse
from sweetspot.files import write_whole
from sweetspot.study.base import AboveZero, Closed, Text, validated
from sweetspot.study.spelling import hint
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


def scenario_file(folder: Path, name: str) -> Path:
    """Where the scenario of that name of the study in `folder` lies."""
    return folder / "scenarios" / f"{name}.yaml"


def load_scenarios(folder: Path) -> dict[str, Scenario]:
    """The scenarios of a study's folder by name; {} where it has none. Raises UserError, a sentence a mistake."""
    found, faults = {}, Faults()
    for file in sorted((folder / "scenarios").glob("*")):
        if file.suffix.lower() in (".yml", ".yaml") and file.suffix != ".yaml":
            faults.add(f"{file}: scenarios end in .yaml; expected {file.stem}.yaml")
        elif file.suffix == ".yaml" and not is_slug(file.stem):
            faults.add(f"{file}: expected a name of letters, digits, '.', '_', '-'")
        elif file.suffix == ".yaml":
            with faults.gather():
                found[file.stem] = validated(Scenario, load_yaml(file), file)
    faults.end()
    return found


def write_scenario(
    one: Scenario, file: Path, workloads: Path, lists: Mapping[str, Path], into: Path
) -> tuple[Path, dict[str, Path], list[str]]:
    """Write the study's workloads and price lists as the scenario has them; also what it changed, in words.

    `file`: the scenario's own, for messages. Raises UserError where it names a price list or a workload that there is
    not, and where it multiplies work that has no number of jobs.
    """
    plain = load_yaml(workloads)
    _check_names(one, file, plain, lists)
    made = merged(plain, one.workloads, file)
    changes = [f"{one.times_work:g} times the jobs"] if one.times_work is not None else []
    changes += [f"electricity {one.per_kwh:g}"] if one.per_kwh is not None else []
    changes += differences(plain, made)
    if one.times_work is not None:
        if not any(isinstance(work, Mapping) and {"phases", "jobs"} & set(work) for work in made.values()):
            expected = "expected a workload of kind plan or monthly, whose jobs it multiplies"
            raise UserError(f"{file}: times_work is {one.times_work:g}; {expected}")
        made = {name: _times_work(work, one.times_work) for name, work in made.items()}
    written = {}
    for name, path in lists.items():
        listed = load_yaml(path)
        changed = merged(listed, one.prices.get(name, {}), file)
        changes += [change for change in differences(listed, changed) if change not in changes]
        if one.per_kwh is not None:
            changed = _with_tariff(changed, one.per_kwh)
        written[name] = _write(changed, into / "prices" / f"{name}.yaml")
    return _write(made, into / "workloads.yaml"), written, changes


def _check_names(one: Scenario, file: Path, workloads: Mapping[str, Any], lists: Mapping[str, Path]) -> None:
    """Raises UserError where a price list is not there, or a workload that is not brought whole, with its kind."""
    named = [("prices", name, lists, "price list") for name in one.prices]
    named += [
        ("workloads", name, workloads, "workload of the study")
        for name, change in one.workloads.items()
        if not (isinstance(change, Mapping) and "kind" in change)
    ]
    refuse(
        f"{file}: {key}.{name} is no {what}; expected one of {', '.join(known)}{hint(name, known)}"
        for key, name, known, what in named
        if name not in known
    )


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
        low, high = value.get("low"), value.get("high")
        ends = f" ({_plain(low)} to {_plain(high)})" if low is not None and high is not None else ""
        return f"{value['value']}{ends}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_told(entry)}" for name, entry in value.items())
    return "nothing" if value is None else str(value)


def _plain(number: Any) -> str:
    """A number without needless digits; what is none, as it stands."""
    return f"{number:g}" if isinstance(number, int | float) else str(number)


def _times_work(work: Any, factor: float) -> Any:
    """A plan with so many times its jobs, of phases whole ones; another workload is as it was."""
    if not isinstance(work, Mapping):
        return work
    for key in ("phases", "jobs"):
        if isinstance(work.get(key), list):
            return {**work, key: [_more_jobs(entry, factor) for entry in work[key]]}
    return work


def _more_jobs(entry: Any, factor: float) -> Any:
    """A phase or a class of jobs with so many times its jobs; what is wrong in it stays, for its reader to refuse."""
    if not isinstance(entry, Mapping):
        return entry
    more = {key: _times(entry[key], factor) for key in OF_WORK if key in entry}
    if _is_number(entry.get("jobs")):
        more["jobs"] = max(1, round(entry["jobs"] * factor))
    return {**entry, **more}


def _times(value: Any, factor: float) -> Any:
    if isinstance(value, Mapping):
        return {name: _times(end, factor) for name, end in value.items()}
    return value * factor if _is_number(value) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _with_tariff(prices: Any, per_kwh: float) -> Any:
    """A price list with that price of electricity; what is no list of offers stays, and is told where it is read."""
    if not (isinstance(prices, Mapping) and isinstance(prices.get("offers"), list)):
        return prices
    return {**prices, "offers": [_at_tariff(offer, per_kwh) for offer in prices["offers"]]}


def _at_tariff(offer: Any, per_kwh: float) -> Any:
    own = offer.get("own") if isinstance(offer, Mapping) else None
    return {**offer, "own": {**own, "per_kwh": per_kwh}} if isinstance(own, Mapping) and "per_kwh" in own else offer


def _write(content: Any, file: Path) -> Path:
    with write_whole(file) as temporary:
        temporary.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return file
