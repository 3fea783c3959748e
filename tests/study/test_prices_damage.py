"""Damaged price lists: finite tables or one sentence, tried on every kind of damage to the studies' own lists."""

import copy
import random
from datetime import date
from pathlib import Path

import numpy as np
import pytest
import yaml
from project_copy import ROOT
from sweetspot.bills.offers import check_instances, offer_rows, offers_table
from sweetspot.errors import UserError
from sweetspot.study.instances import load_instances
from sweetspot.study.price_list import load_price_list

STUDIES = ROOT / "config" / "studies"
LISTS = sorted(STUDIES.glob("*/prices/*.yaml"))
DAMAGE = [
    None, -1, 0, 1e308, 1e-320, 10**40, float("nan"), float("inf"), True, "x", "", "<b>", "a\nb", [], {},
    {"value": 1, "low": 2}, date(2018, 1, 1),
]  # fmt: skip


def places(value, path=()):
    """Every key and position in plain data."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield (*path, key)
        yield from places(child, (*path, key))


@pytest.mark.parametrize("file", LISTS, ids=lambda file: f"{file.parent.parent.name}/{file.stem}")
def test_a_damaged_list_gives_finite_offers_or_one_sentence(file: Path, tmp_path):
    chance = random.Random(file.stem)
    whole = yaml.safe_load(file.read_text())
    known = load_instances(ROOT / "config" / "instances.yaml", file.parent.parent / "instances.yaml")
    target = tmp_path / "list.yaml"
    for _ in range(25):
        damaged = copy.deepcopy(whole)
        *way, last = chance.choice(list(places(whole)))
        at = damaged
        for key in way:
            at = at[key]
        at[last] = chance.choice(DAMAGE)
        target.write_text(yaml.safe_dump(damaged))
        try:
            prices = load_price_list(target)
            check_instances([offer.instance for offer in prices.offers], known, str(target))
            rows, fees = offer_rows("list", prices, known, prices.month_days or 30.5)
        except UserError as error:
            assert "\n" not in str(error)
            assert str(target) in str(error)
        else:
            numbers = [column for column in offers_table(rows).values() if column.dtype == float]
            assert len(numbers) > 50
            assert not any(np.isinf(column).any() for column in numbers)
            assert all(np.isfinite(fee["usd"]) for fee in fees)
