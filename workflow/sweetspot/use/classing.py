"""Classes of jobs: by rules that a person gives, by the record's own, or by devices and hours."""

import fnmatch
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from sweetspot.errors import UserError
from sweetspot.study.base import PART
from sweetspot.study.spelling import hint

OTHER = "other"
RULE = "NAME: name=PATTERN, partition=PATTERN, device=PATTERN, devices=N or N-M"
TEXTS = ("name", "partition", "device")
DEVICES = re.compile(r"(?P<low>\d+(?:\.\d+)?)(?:-(?P<high>\d+(?:\.\d+)?))?")
HOURS = ((1.0, "under-1h"), (8.0, "1h-to-8h"), (72.0, "8h-to-3d"), (np.inf, "over-3d"))
LEAST_SHARE = 0.02  # of the device-hours: smaller classes found by devices and hours are one, `other`


class Rule(NamedTuple):
    """A class and what its jobs have: patterns of texts (`*` for anything, case aside), a range of devices."""

    name: str
    patterns: dict[str, str]
    devices: tuple[float, float] | None


def read_rule(text: str) -> Rule:
    """One rule, as RULE. Raises UserError."""
    name, colon, rest = (part.strip() for part in text.partition(":"))
    if not re.fullmatch(PART, name) or name == OTHER or not colon or not rest:
        raise UserError(f"--class is {text!r}; expected {RULE}, such as 'search: name=sweep-*, devices=1'")
    patterns: dict[str, str] = {}
    devices = None
    for part in rest.split(","):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value or key not in (*TEXTS, "devices"):
            raise UserError(f"--class {name}: {part.strip()!r}{hint(key, (*TEXTS, 'devices'))}; expected {RULE}")
        if key != "devices":
            patterns[key] = value
            continue
        found = DEVICES.fullmatch(value)
        low, high = (float(found["low"]), float(found["high"] or found["low"])) if found else (1.0, 0.0)
        if low > high:
            raise UserError(f"--class {name}: devices is {value!r}; expected a number or a range, such as 4 or 2-8")
        devices = (low, high)
    return Rule(name, patterns, devices)


def read_rules(texts: Sequence[str]) -> list[Rule]:
    """The rules, in order. Raises UserError."""
    rules = [read_rule(text) for text in texts]
    names = [rule.name for rule in rules]
    if len(set(names)) < len(names):
        raise UserError(f"--class {max(names, key=names.count)}: given twice; expected one rule a class")
    return rules


def classed(held: pd.DataFrame, rules: Sequence[Rule]) -> pd.Series:
    """The class of each row of jobs that held devices (JOB_COLUMNS and device_hours, job_hours).

    The first rule that fits, else `other`; without rules what the record says, where it does. Else the number of
    devices and the hours, where small classes join `other`: no name of a job is in the name of such a class.
    """
    if rules:
        return _by_rules(held, rules)
    if (held["class"] != "").any():
        return _checked(held["class"].where(held["class"] != "", OTHER))
    return _by_size(held)


def _by_rules(held: pd.DataFrame, rules: Sequence[Rule]) -> pd.Series:
    found = pd.Series(OTHER, held.index, dtype="str")
    for rule in reversed(rules):
        fits = pd.Series(True, held.index)
        for column, pattern in rule.patterns.items():
            wanted = re.compile(fnmatch.translate(pattern), re.IGNORECASE)
            known = {text: wanted.match(text) is not None for text in held[column].unique()}
            fits &= held[column].map(known)
        if rule.devices is not None:
            fits &= held["devices"].between(*rule.devices)
        found[fits] = rule.name
    return found


def _checked(classes: pd.Series) -> pd.Series:
    for name in classes.unique():
        if not re.fullmatch(PART, name):
            raise UserError(f"class is {name!r}; expected a name of letters, digits, '_' and '-' (1 to 64)")
    return classes


def _by_size(held: pd.DataFrame) -> pd.Series:
    devices = held["devices"].map(lambda number: "part" if number < 1 else f"{number:.0f}x")
    hours = held["job_hours"].map(lambda length: next(word for limit, word in HOURS if length < limit))
    names = (devices + "-" + hours).astype("str")
    share = held["device_hours"].groupby(names).sum() / held["device_hours"].sum()
    return names.where(names.map(share) >= LEAST_SHARE, OTHER)
