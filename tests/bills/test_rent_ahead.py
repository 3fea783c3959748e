"""Falling, constant and rising rents: the break-even of eight-gpus-2026 by hand, and what follows from it."""

import re
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from borrowed_tables import borrowed_tables
from price_lists import price_study
from study_tables import STUDIES
from sweetspot.decision.compare import Inputs, compare
from sweetspot.study.settings import Settings
from sweetspot.study.study import load_study

pytestmark = pytest.mark.slow
STUDY = "eight-gpus-2026"
LISTS = ("buying", "clouds")
# The bought server without a resale value: 515,000 USD over 36 months, colocation 184 USD a kW and month, electricity.
FIXED = 515000 / 36 + 184 * 14.3
VARIABLE = 14.3 * 0.76 * 1.54 * 0.1222
RENT = 62.80 * 6.7648 / 9.8052  # Nebius, eight B300, for the work of an hour on eight B200


@pytest.fixture(scope="module")
def prices(tmp_path_factory, study_results):
    """The tables of the study under some yearly change of Nebius's price of eight B300 (None: no path)."""
    folder = tmp_path_factory.mktemp("prices")

    @cache
    def made(change, resale="", paths=None):
        for name in LISTS:
            shutil.copy(STUDIES / STUDY / "prices" / f"{name}.yaml", folder)
        edit(folder / "buying.yaml", r"      residual: .*\n", f"      residual: {resale}\n" if resale else "")
        if change is not None:
            trend = f"trend: {{kind: drift, change_per_year: {change}}}"
            edit(folder / "clouds.yaml", r"(nebius-8xb300, per_hour: 62.8)", rf"\1, {trend}")
        return tables(folder, paths, borrowed_tables(study_results(STUDY)))

    return made


def edit(file, pattern, text):
    old = file.read_text()
    new = re.sub(pattern, text, old)
    assert new != old or not re.search(pattern, old)
    file.write_text(new)


def tables(folder: Path, paths, known):
    study = load_study(STUDIES / STUDY)
    files = (STUDIES / STUDY / "workloads.yaml", [STUDIES / STUDY / "instances.yaml"])
    extrapolation = known.extrapolation
    made = [
        price_study(known.throughput, extrapolation, folder / f"{name}.yaml", *files, name, study.month_days,
                    study.as_of, None, paths)
        for name in LISTS
    ]  # fmt: skip
    priced = {kind: pd.concat([one[kind] for one in made], ignore_index=True) for kind in made[0]}
    inputs = Inputs(
        **{kind: priced[kind] for kind in ("costs", "offers", "price_lint", "plans")}, throughput=known.throughput,
        extrapolation=extrapolation, efficiency=pd.DataFrame(),
    )  # fmt: skip
    return priced, compare(inputs, Settings.of(study), draws=200)


def against(comparison, option="nebius-8xb300", table="break_even"):
    rows = comparison[table]
    return rows[(rows["model"] == "llama2_70b_lora") & (rows["option"] == option)].iloc[0]


@pytest.mark.parametrize(
    ("change", "factor"),
    [
        (None, 1.0),
        # q = 0.7^(1/12) = 0.970713: (1 - 0.7^3) / (36 (1 - q)) = 0.657 / 1.054329
        (-0.3, 0.623145),
        # q = 1.3^(1/12) = 1.022104: (1.3^3 - 1) / (36 (q - 1)) = 1.197 / 0.795760
        (0.3, 1.504222),
    ],
)
def test_the_break_even_moves_with_the_mean_rent_of_36_months(prices, change, factor):
    row = against(prices(change)[1])
    # 17.1 days at today's price, 28.3 at the falling one, 11.2 at the rising one
    days = FIXED / (24 * (RENT * factor - VARIABLE))
    assert row["days"] == pytest.approx(days, rel=1e-3) if days <= 30.5 else np.isnan(row["days"])
    hour = FIXED / (24 * 20) + VARIABLE
    assert row["gain_at_use"] == pytest.approx(RENT * factor / hour, rel=1e-3)


def test_resale_by_age_lowers_the_break_even_by_its_share(prices):
    _, comparison = prices(None, resale="{points: [[3.0, 0.4, 0.3, 0.5]], share: 1.0}")
    # 40 % of 515,000 come back: FIXED less 206,000 / 36
    assert against(comparison)["days"] == pytest.approx((FIXED - 206000 / 36) / (24 * (RENT - VARIABLE)), rel=1e-3)
