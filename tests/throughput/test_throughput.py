"""Throughput tables: figures of the sources, run files written here by hand, and every kind of broken file."""

import json
import math
import statistics
from pathlib import Path

import pandas as pd
import pytest
from run_files import CELL, cells_of, rules_of, write_run
from sweetspot.errors import UserError
from sweetspot.study.instances import load_instances
from sweetspot.study.study import load_study
from sweetspot.throughput.collect import summarise_runs
from sweetspot.throughput.gather import gather_throughput
from sweetspot.throughput.published import read_efficiency, read_published
from sweetspot.warnings import pairs

STUDY = Path(__file__).parent.parent.parent / "config" / "studies" / "parkopedia-2018"


def gather(instances, folder):
    return gather_throughput([], load_study(STUDY).cells, "2018-07-01", instances, folder)


@pytest.fixture(scope="module")
def table():
    instances = load_instances(STUDY / "instances.yaml")
    return gather(instances, STUDY).set_index(["instance", "model", "batch_size", "precision"])


# The study's table 2 (sec. 3), one GTX 1080 Ti.
PRINTED_1080TI = {"inception3": (136, 145, 160), "resnet50": (213, 250, 273), "vgg16": (118, 137, 149)}


@pytest.mark.parametrize("model", PRINTED_1080TI)
def test_the_studys_single_card_figures_are_published(table, model):
    for batch_size, printed in zip((16, 32, 64), PRINTED_1080TI[model], strict=True):
        row = table.loc[("office-1x1080ti", model, batch_size, "fp16")]
        assert (row["images_per_s"], row["basis"]) == (printed, "published")
        assert "parkopedia" in row["source"]


def test_a_k80_stands_in_by_the_median_of_tensorflows_own_figures(table):
    # TensorFlow's page, ResNet-50, one K80, batch 64, fp32: 51.9 (GCE), 51.5 (p2.8xlarge), 52.4 (distributed)
    row = table.loc[("p2.xlarge", "resnet50", 64, "fp16")]
    assert row["images_per_s"] == 51.9
    assert row["basis"] == "stand_in"
    told = pairs(row["warnings"])
    assert told[0] == ("stand_in_precision", "asked precision fp16; that of the nearest published figure is fp32")
    # TensorFlow 1.1 is of April 2017, the study of July 2018: 1.2 years, and 1.38 ^ 1.2 = 1.47
    assert told[1:] == [
        (
            "stand_in_years",
            "the software of the nearest published figure is 1.2 years older than 2018-07-01; pairs of figures such "
            "years apart differ by up to a factor 1.5",
        )
    ]
    stand_in = [row[f"stand_in_{name}"] for name in ("gpu", "framework", "batch_size", "precision")]
    assert stand_in == ["Tesla K80", "tensorflow", 64, "fp32"]


def test_precision_comes_before_batch_distance():
    # One V100 has fp32 figures at batch 64, but fp16 ones only at another batch: the fp16 one is nearer.
    instances = load_instances(STUDY / "instances.yaml")
    row = gather(instances, STUDY).set_index(["instance", "model", "batch_size"])
    assert "fp16)" in row.loc[("p3.2xlarge", "vgg16", 64), "source"]


def test_several_cards_are_scaled_by_the_studys_own_efficiency_and_stay_stand_ins(table):
    row = table.loc[("p2.8xlarge", "resnet50", 64, "fp16")]
    assert row["images_per_s"] == pytest.approx(8 * 51.9 * 0.90)  # table 1: p2.xlarge -> p2.8xlarge, ResNet50, 64
    assert row["basis"] == "stand_in"  # its weakest part
    assert row["stand_in_precision"] == "fp32"  # what the figure is made from keeps its facts and warnings
    assert rules_of(row) == ["stand_in_precision", "stand_in_years"]
    assert "0.9" in row["source"]
    assert "benchmarks.md" in row["source"]
    assert table.loc[("p2.16xlarge", "vgg16", 16, "fp16"), "variant"] == "C"


def test_a_google_machine_has_the_figure_of_its_declared_equivalent(table):
    for google, amazon in [("GCE_8xK80", "p2.8xlarge"), ("GCE_1xV100", "p3.2xlarge")]:
        pair = table.loc[(google, "vgg16", 32, "fp16")], table.loc[(amazon, "vgg16", 32, "fp16")]
        assert pair[0]["images_per_s"] == pair[1]["images_per_s"]
        assert pair[0]["source"].startswith(f"{google} declared equivalent to {amazon}")


def test_tensorflows_own_eight_card_figures_stand_beside_the_scaled_ones(table):
    # TensorFlow's page: 8 x K80 on EC2, batch 64, synthetic
    assert table.loc[("p2.8xlarge", "inception3", 64, "fp32"), "images_per_s"] == 230
    assert table.loc[("p2.8xlarge", "resnet50", 64, "fp32"), "basis"] == "published"


def test_the_unmeasured_box_has_no_row(table):
    assert "office-4x1080ti" not in table.index.get_level_values("instance")


def test_times_are_averaged_not_rates(tmp_path):
    files = [write_run(tmp_path, run=1, seconds=[1, 1, 1]), write_run(tmp_path, run=2, seconds=[3, 3, 3])]
    row = cells_of(files).iloc[0]
    assert row["images_per_s"] == pytest.approx(16 / 2.0)  # not (16 + 16 / 3) / 2
    assert (row["runs"], row["basis"], row["status"]) == (2, "measured", "ok")


def test_the_interval_is_students_over_runs(tmp_path):
    means = [2.0, 2.1, 2.2]
    files = [write_run(tmp_path, run=n, seconds=[mean] * 6) for n, mean in enumerate(means, start=1)]
    row = cells_of(files).iloc[0]
    # t(0.975, 2 degrees) = 4.303 from the printed tables
    half = 4.303 * statistics.stdev([math.log(mean) for mean in means]) / math.sqrt(3)
    assert row["images_per_s_low"] == pytest.approx(16 / 2.1 / math.exp(half), rel=1e-4)
    assert row["images_per_s_high"] == pytest.approx(16 / 2.1 * math.exp(half), rel=1e-4)


def test_one_run_has_no_interval_and_says_so(tmp_path):
    row = cells_of([write_run(tmp_path)]).iloc[0]
    assert math.isnan(row["images_per_s_low"])
    assert pairs(row["warnings"]) == [("n_is_1", "one run, no interval")]


def test_several_devices_count_together_and_logical_ones_are_named(tmp_path):
    row = cells_of([write_run(tmp_path, CELL._replace(gpus=2), logical=True)]).iloc[0]
    assert row["images_per_s"] == pytest.approx(2 * 16 / 2.0)
    assert "logical_devices" in rules_of(row)


def test_a_run_that_slows_down_is_a_named_warning(tmp_path):
    said = json.dumps([["drift", "step time changed by +20% over the run"]])
    files = [write_run(tmp_path, run=n, status="unstable", warnings=said) for n in (1, 2)]
    row = cells_of(files).iloc[0]
    assert row["status"] == "unstable"
    assert row["images_per_s"] == 8.0
    assert rules_of(row) == ["unstable", "drift"]  # both runs say it, the reader is told once


def test_a_cell_that_failed_keeps_its_row_without_a_figure(tmp_path):
    file = write_run(tmp_path, seconds=[math.nan], status="oom", message="killed by the kernel")
    row = cells_of([file]).iloc[0]
    assert (row["status"], row["runs"]) == ("oom", 0)
    assert math.isnan(row["images_per_s"])
    assert pairs(row["warnings"]) == [("oom", "killed by the kernel")]


def test_one_failed_run_of_two_leaves_the_figure_of_the_other(tmp_path):
    files = [write_run(tmp_path, run=1), write_run(tmp_path, run=2, seconds=[math.nan], status="failed", message="x")]
    row = cells_of(files).iloc[0]
    assert (row["status"], row["runs"], row["images_per_s"]) == ("ok", 1, 8.0)
    assert pairs(row["warnings"]) == [("failed", "x"), ("n_is_1", "one run, no interval")]


def test_a_figure_is_dated_by_its_last_run(tmp_path):
    days = ("2026-11-19", "2026-11-21", "2026-11-20")
    files = [write_run(tmp_path, run=n, measured_on=day) for n, day in enumerate(days, start=1)]
    assert cells_of(files).iloc[0]["as_of"] == "2026-11-21"


def broken_truncated(path):
    path.write_bytes(path.read_bytes()[:-200])


def broken_empty(path):
    path.write_bytes(b"")


def broken_column(path):
    pd.read_parquet(path).drop(columns="seconds").to_parquet(path)


def broken_type(path):
    pd.read_parquet(path).assign(seconds="fast").to_parquet(path)


def broken_count(path):
    pd.read_parquet(path).assign(gpus="two").to_parquet(path)


def broken_protocol(path):
    pd.read_parquet(path).assign(protocol="first").to_parquet(path)


@pytest.mark.parametrize(
    "breaking", [broken_truncated, broken_empty, broken_column, broken_type, broken_count, broken_protocol]
)
def test_a_broken_run_file_is_named_with_the_remedy(tmp_path, breaking):
    good, bad = write_run(tmp_path, run=1), write_run(tmp_path, run=2)
    breaking(Path(bad))
    with pytest.raises(UserError) as caught:
        summarise_runs([good, bad])
    assert bad in str(caught.value)
    assert good not in str(caught.value)
    assert "remove it" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wrong_type_in_the_only_file_is_named_too(tmp_path):
    bad = write_run(tmp_path)
    broken_count(Path(bad))
    with pytest.raises(UserError, match="column 'gpus' has type"):
        summarise_runs([bad])


def test_the_same_run_under_two_names_is_refused(tmp_path):
    files = [write_run(tmp_path), write_run(tmp_path, name="copy")]
    with pytest.raises(UserError, match="hold the same run"):
        summarise_runs(files)


COLUMNS = (
    "gpu,instance,gpus,framework,framework_version,benchmark,model,batch_size,precision,variant,dataset,"
    "images_per_s,source,note"
)
HEADER = f"{COLUMNS}\n"
ROW = "Tesla K80,p2.xlarge,1,tensorflow,,x,vgg16,64,fp16,default,synthetic,{speed},{source},\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEADER + ROW.format(speed="fast", source="s"), ["line 2", "images_per_s", "'fast'", "number above 0"]),
        (HEADER + ROW.format(speed="-3", source="s"), ["line 2", "'-3'"]),
        (HEADER + ROW.format(speed="nan", source="s"), ["line 2", "'nan'"]),
        (HEADER + ROW.format(speed="inf", source="s"), ["line 2", "'inf'"]),
        (HEADER + ROW.format(speed="1e308", source="s"), ["line 2", "images_per_s is 1e+308", "1e-12 to 1e+15"]),
        (HEADER + ROW.format(speed="1e-300", source="s"), ["line 2", "images_per_s is 1e-300"]),
        (HEADER + ROW.format(speed="3", source="s").replace(",64,", ",1e300,"), ["line 2", "'1e300'", "at most"]),
        (HEADER + ROW.format(speed="3", source=""), ["line 2", "source is empty"]),
        (HEADER.replace("gpus", "gpuz") + ROW.format(speed="3", source="s"), ["line 1", "'gpus' is missing"]),
        ("", ["not a CSV table"]),
    ],
)
def test_a_broken_csv_is_named_by_line_and_column(tmp_path, text, words):
    file = tmp_path / "throughput.csv"
    file.write_text(text)
    with pytest.raises(UserError) as caught:
        read_published(file)
    for word in words:
        assert word in str(caught.value)


def test_the_same_published_cell_twice_is_refused(tmp_path):
    (tmp_path / "throughput.csv").write_text(
        HEADER + ROW.format(speed="3", source="a") + ROW.format(speed="4", source="b")
    )
    with pytest.raises(UserError, match=r"line 3: the cell .* stands in line 2 too"):
        gather(load_instances(STUDY / "instances.yaml"), tmp_path)


@pytest.mark.parametrize("xla", ["maybe", "true", "Yes"])
def test_an_xla_that_is_neither_yes_nor_no_is_refused_of_an_efficiency_too(tmp_path, xla):
    file = tmp_path / "efficiency.csv"
    header = "base_instance,instance,gpus,model,batch_size,precision,variant,efficiency,source,xla\n"
    file.write_text(header + "a,b,2,vgg16,64,fp16,A,0.9,s,yes\n" + f"a,b,4,vgg16,64,fp16,A,0.8,s,{xla}\n")
    with pytest.raises(
        UserError, match=rf"efficiency.csv, line 3: xla is '{xla}'; expected one of yes, no, or nothing"
    ):
        read_efficiency(file)
    file.write_text(header + "a,b,2,vgg16,64,fp16,A,0.9,s,no\n" + "a,b,4,vgg16,64,fp16,A,0.8,s,\n")
    assert list(read_efficiency(file)["xla"]) == ["no", ""]


def test_an_efficiency_above_one_point_two_is_refused(tmp_path):
    file = tmp_path / "efficiency.csv"
    header = "base_instance,instance,gpus,model,batch_size,precision,variant,efficiency,source\n"
    file.write_text(header + "a,b,2,vgg16,64,fp16,default,1.21,s\n")
    with pytest.raises(UserError, match=r"line 2: efficiency is 1\.21; expected at most 1\.2"):
        read_efficiency(file)


def _bounded(tmp_path, low, high):
    source = Path(__file__).parents[2] / "config" / "studies" / "cheap-cron-2018" / "throughput.csv"
    head, row = source.read_text().splitlines()
    count = "0.00833333333333333"
    file = tmp_path / "throughput.csv"
    file.write_text(f"{head}\n{row.replace(f'runs,{count},{count}', f'runs,{low},{high}')}\n")
    return file


def test_a_source_may_bound_its_own_figure(tmp_path):
    table = read_published(_bounded(tmp_path, 0.008, 0.009))
    assert table[["images_per_s_low", "images_per_s_high"]].iloc[0].tolist() == [0.008, 0.009]
    assert read_published(_bounded(tmp_path, "", ""))["images_per_s_low"].isna().all()


@pytest.mark.parametrize(("low", "high"), [(0.009, 0.01), (0.008, ""), ("", 0.009), (0.007, 0.008)])
def test_ends_that_do_not_enclose_the_figure_are_refused(tmp_path, low, high):
    with pytest.raises(UserError, match=r"line 2: images_per_s_low and images_per_s_high are .*; expected both"):
        read_published(_bounded(tmp_path, low, high))
