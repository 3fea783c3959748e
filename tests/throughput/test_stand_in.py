"""Stand-ins: nearest by batch, years of software and form of the device; held against published figures."""

import math

import pandas as pd
import pytest
from run_files import rules_of
from study_tables import shipped_throughput
from sweetspot.study.study import StudyCells
from sweetspot.throughput.stand_in import software_years, stand_in, year_of
from sweetspot.warnings import pairs

QUESTION = StudyCells(model=["m"], batch_size=[64], precision="fp16", headline_batch_size=64)
ROW = {
    "gpu": "Tesla V100", "instance": "x", "gpus": 1, "framework": "tensorflow", "framework_version": "", "model": "m",
    "batch_size": 64, "precision": "fp16", "images_per_s": 100.0, "source": "s", "xla": False, "unit": "images",
    "as_of": "2018-07-01",
}  # fmt: skip


def nearest(*rows, asked="Tesla V100"):
    pool = pd.DataFrame([{**ROW, **row} for row in rows]).astype({"batch_size": "Int64"})
    return stand_in(pool, asked, "m", 64, QUESTION, "2018-07-01")


@pytest.fixture(scope="module")
def table():
    found = shipped_throughput("parkopedia-2018")[2]
    return found[found["precision"] == "fp16"].set_index(["instance", "model", "batch_size"])


def test_years_of_software_are_a_distance_like_the_batch():
    # two years are ln 1.38 x 2 = 0.644, one doubling is ln 1.44 = 0.365, two doublings 0.729
    old = {"as_of": "2016-07-01", "images_per_s": 50.0}
    assert nearest(old, {"batch_size": 32, "images_per_s": 90.0}).images_per_s == 90.0
    assert nearest(old, {"batch_size": 16, "images_per_s": 80.0}).images_per_s == 50.0


def test_newer_is_as_far_as_older_and_says_so_from_one_year_on():
    newer = nearest({"as_of": "2020-07-01"})
    assert newer.stand_in_years == pytest.approx(2.0, abs=0.01)
    assert "factor 1.9" in newer.warnings[0]["message"]  # 1.38 ^ 2 = 1.904
    assert pairs(nearest({"as_of": "2017-08-01"}).warnings) == []  # 0.9 years
    assert rules_of({"warnings": nearest({"as_of": "2017-07-01"}).warnings}) == ["stand_in_years"]  # a year


def test_a_figure_without_a_batch_stands_in_marked_and_counts_as_two_doublings():
    unstated = {"batch_size": None, "images_per_s": 70.0}
    assert nearest(unstated, {"batch_size": 32}).images_per_s == 100.0
    found = nearest(unstated, {"batch_size": 512})  # three doublings
    assert (found.images_per_s, found.stand_in_batch_size) == (70.0, None)
    assert rules_of({"warnings": found.warnings}) == ["stand_in_batch"]


def test_a_figure_that_cannot_be_dated_counts_as_a_year_away_and_is_not_said_to_be_old():
    undated = {"as_of": "", "images_per_s": 70.0}
    assert nearest(undated, {"as_of": "2016-07-01"}).images_per_s == 70.0
    assert nearest(undated, {"as_of": "2018-01-01"}).images_per_s == 100.0
    assert math.isnan(nearest(undated).stand_in_years) and nearest(undated).warnings == []


def test_framework_and_precision_come_before_any_distance():
    far = {"batch_size": 512, "as_of": "2012", "images_per_s": 5.0}
    assert nearest(far, {"framework": "pytorch"}).images_per_s == 5.0
    assert nearest(far, {"precision": "fp32"}).images_per_s == 5.0


def test_another_form_of_the_device_is_a_small_distance():
    form = {"gpu": "Tesla V100-SXM3-32GB", "images_per_s": 110.0}
    assert nearest(form, {}).images_per_s == 100.0
    assert nearest(form, {"batch_size": 32}).images_per_s == 110.0
    assert nearest({"gpu": "Tesla V1000"}) is None


def test_of_equally_near_figures_the_median_counts_and_it_is_compiled_if_all_are():
    one, two, three = ({"images_per_s": value, "xla": value > 100} for value in (90.0, 120.0, 180.0))
    assert nearest(one, two, three).images_per_s == 120.0
    assert nearest(one, two).source.startswith("median of 2 rows: s (") and nearest(one).source.startswith("s (")
    assert [nearest(*rows).xla for rows in ((two, three), (one, two))] == [True, False]


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("2018", 2018.5),
        ("2018-02", 2018 + 1.5 / 12),
        ("2018-07-01", 2018 + 181 / 365),
        ("2018-12-30", 2018 + 361 / 365),
        ("soon", math.nan),
    ],
)
def test_dates_are_decimal_years(text, year):
    assert year_of(text) == pytest.approx(year, rel=1e-9, nan_ok=True)


@pytest.mark.parametrize(
    ("framework", "version", "as_of", "year"),
    [
        ("tensorflow", "1.1-dev (b1e174e)", "", 2017 + 3.5 / 12),
        ("tensorflow", "1.15 (NGC 20.06-tf1)", "", 2020 + 5.5 / 12),  # a container is dated by its name
        ("tensorflow", "1.15.3", "", 2020 + 4.5 / 12),  # not 1.15 of October 2019
        ("tensorflow", "1.15", "", 2019 + 9.5 / 12),
        ("tensorflow", "1.14", "", math.nan),  # is not 1.1
        ("tensorflow", "nightly 2018-02", "", 2018 + 1.5 / 12),
        ("torch7", "cuDNN 7004", "", 2017 + 10.5 / 12),
        ("mxnet", "", "", math.nan),
        ("tensorflow", "2.2.0", "2019", 2019.5),  # what the row says counts first
    ],
)
def test_software_is_dated_by_its_row_else_by_its_version(framework, version, as_of, year):
    row = pd.DataFrame([{"framework": framework, "framework_version": version, "as_of": as_of}])
    assert software_years(row).iloc[0] == pytest.approx(year, nan_ok=True)


def test_the_tpu_has_price_and_speed_of_one_entry_and_no_figure_on_other_models(table):
    # 90 epochs of 1,281,167 images in 9.889843 h: 115,305,030 / 35,603.4 s = 3,238.6; 1,024 over four chips are 256
    row = table.loc[("TPUv2", "resnet50", 64)]
    assert row["images_per_s"] == pytest.approx(90 * 1_281_167 / (9.889843 * 3600), rel=1e-5)
    assert (row["stand_in_batch_size"], rules_of(row)) == (256, ["stand_in_batch", "stand_in_precision"])
    assert not [place for place in table.index if place[0] == "TPUv2" and place[1] != "resnet50"]
