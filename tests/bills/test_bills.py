"""The bill of renting and owning against the 2018 study's printed figures and hand calculation."""

import shutil
from datetime import date
from pathlib import Path

import pandas as pd
import pytest
from project_copy import ROOT
from sweetspot.bills.owning import break_even_days, fixed_per_month, office_hour, own_numbers, running_per_hour
from sweetspot.bills.pricing import price_study
from sweetspot.errors import UserError
from sweetspot.study.price_list import load_price_list

STUDY = ROOT / "config" / "studies" / "parkopedia-2018"
PRINTED_HOURS = {"p2.xlarge": 0.9, "p2.16xlarge": 14.4, "g3.8xlarge": 2.28, "p3.2xlarge": 3.06, "p3.16xlarge": 24.48}
PRINTED_GCE = {"GCE_1xV100": 2.86, "GCE_8xV100": 22.88, "GCE_1xK80": 0.49, "GCE_8xK80": 5.12, "TPUv2": 6.595}


def cells(**images_per_s: float) -> pd.DataFrame:
    """One VGG16 cell an instance, by name with `_` for `.`."""
    rows = [
        {
            "instance": name.replace("__", "."), "framework": "tensorflow", "model": "vgg16", "batch_size": 64,
            "gpus": 1, "precision": "fp16", "variant": "default", "gpu": "a card",
            "images_per_s": rate, "images_per_s_low": float("nan"), "images_per_s_high": float("nan"),
            "runs": 1, "basis": "published", "status": "ok", "source": "this test",
        }
        for name, rate in images_per_s.items()
    ]  # fmt: skip
    return pd.DataFrame(rows)


def priced(price_list: str, table: pd.DataFrame, folder: Path = STUDY) -> dict[str, pd.DataFrame]:
    return price_study(
        throughput=table,
        extrapolation=None,
        price_file=folder / "prices" / f"{price_list}.yaml",
        workload_file=folder / "workloads.yaml",
        instance_files=[folder / "instances.yaml"],
        name=price_list,
        month_days=30.5,
        study_date=date(2018, 7, 1),
    )


@pytest.fixture
def study(tmp_path) -> Path:
    return Path(shutil.copytree(STUDY, tmp_path / "study"))


def test_office_box_costs_what_the_study_prints_a_month():
    own = own_numbers(load_price_list(STUDY / "prices" / "office-box.yaml").offers[0].own)
    assert fixed_per_month(own) == pytest.approx(216.67, abs=0.005)
    assert running_per_hour(own) * 240 == pytest.approx(48.00, abs=0.005)
    assert fixed_per_month(own) + running_per_hour(own) * 240 == pytest.approx(264.67, abs=0.005)
    assert office_hour(own) == pytest.approx(1.1028, abs=0.00005)  # 264.67 / 240


def test_office_box_in_the_tables():
    tables = priced("office-box", cells(**{"office-4x1080ti": 498.0}))
    costs = tables["costs"].iloc[0]
    assert costs["hours"] == pytest.approx(94_720_000 / 498 / 3600)
    assert costs["usd"] == pytest.approx(94_720_000 / 498 / 3600 * 264.6667 / 240, rel=1e-6)
    assert costs["images_per_usd"] == pytest.approx(498 * 3600 / (264.6667 / 240), rel=1e-6)
    flow = tables["cash_flow"]
    assert flow["usd"].iloc[0] == 6500
    assert flow["cumulative_usd"].iloc[-1] == pytest.approx(6500 + 30 * 48)
    assert "the text says 1.3 per hour, its table makes 1.1028" in " ".join(tables["price_lint"]["message"])


@pytest.mark.parametrize(("price_list", "printed"), [("aws-on-demand", PRINTED_HOURS), ("gce", PRINTED_GCE)])
def test_hourly_prices_are_the_printed_ones(price_list, printed):
    offers = priced(price_list, cells(p2__xlarge=1.0))["offers"].set_index("instance")
    for instance, usd in printed.items():
        assert offers.loc[instance, "usd_per_hour"] == pytest.approx(usd, abs=1e-9)


def test_printed_day_week_and_month_recompute_without_a_finding():
    assert priced("aws-on-demand", cells(p2__xlarge=1.0))["price_lint"].empty


def test_break_even_days_by_hand():
    # 216.67 / (24 x (5.12 x 498/248 - 0.2)) with the box's printed figures and some rival of 248 images/s
    assert break_even_days(6500, 30, 5.12, 498, 248, 1.0, 0.2) == pytest.approx(
        216.6667 / (24 * (5.12 * 498 / 248 - 0.2))
    )
    assert break_even_days(6500, 30, 0.2, 100, 100, 1.0, 0.2) is None
    assert break_even_days(6500, 30, 0.4, 100, 100, 1.0, 0.2, month_days=30.5) is None  # 45 days


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        (
            "prices/aws-on-demand.yaml",
            "per_hour: 0.9,",
            "per_hour: -0.9,",
            ["aws-on-demand.yaml", "offers[0].per_hour", "-0.9"],
        ),
        ("prices/aws-on-demand.yaml", "per_hour: 0.9,", "per_hour: 0,", ["offers[0].per_hour", "above 0"]),
        ("prices/aws-on-demand.yaml", "per_hour: 0.9,", "per_huor: 0.9,", ["'offers[0].per_huor'", "unknown"]),
        (
            "prices/aws-on-demand.yaml",
            "instance: p2.xlarge",
            "instance: p9.xlarge",
            ["aws-on-demand.yaml", "p9.xlarge"],
        ),
        ("prices/aws-on-demand.yaml", "instance: p2.xlarge", "instance: <b>x</b>", ["aws-on-demand.yaml", "<b>x</b>"]),
        ("prices/aws-on-demand.yaml", "granularity: second", "granularity_s: 0", ["billing.granularity_s", "is 0"]),
        ("prices/aws-on-demand.yaml", "currency: USD", "currency: EUR", ["EUR", "'rates'"]),
        (
            "prices/office-box.yaml",
            "days_per_month: {value: 10, low: 8, high: 12}",
            "days_per_month: 0",
            ["offers[0].own.days_per_month", "0"],
        ),
        ("prices/office-box.yaml", "source:", "sauce:", ["'source'", "missing"]),
        ("workloads.yaml", "samples: 94720000", "samples: many", ["workloads.yaml", "samples", "many"]),
    ],
)
def test_a_mistake_is_one_sentence_with_file_and_key(study, file, old, new, words):
    target = study / file
    text = target.read_text()
    assert old in text
    target.write_text(text.replace(old, new, 1))
    name = Path(file).stem if file.startswith("prices") else "aws-on-demand"
    with pytest.raises(UserError) as error:
        priced(name, cells(p2__xlarge=1.0), study)
    for word in words:
        assert word in str(error.value)
    assert "\n" not in str(error.value)
