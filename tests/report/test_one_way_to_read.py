"""Scenarios, history and `diff` read a study as the workflow does: what it saw of stock counts in all of them."""

from datetime import date
from types import SimpleNamespace

import pytest
from project_copy import ROOT
from sweetspot.commands import diff
from sweetspot.report.decided_anew import SPEED, Unpriced
from sweetspot.study.stock import load_availability, looks_file

DAY = date(2026, 11, 1)
OFFER = {"price_list": "p", "provider": "lambda", "gpu": "H100 SXM", "gpus": 8, "purchase": "on_demand"}
LOOKS = "as_of,provider,gpu,gpus,purchase,in_stock,source\n" + "".join(
    f"2026-10-{day:02d},lambda,H100 SXM,8,on_demand,1,{day}\n" for day in range(1, 31)
)


@pytest.fixture
def study(tmp_path):
    folder = tmp_path / "config" / "studies" / "lab"
    looks_file(folder).parent.mkdir(parents=True)
    looks_file(folder).write_text(LOOKS)
    return folder


def share(known):
    return known.find("stock_share", OFFER).value


def test_what_was_seen_of_stock_moves_the_share(study):
    # The library's share is 0.07, one look; 30 days of stock are 30 / 20 = 1.5 looks: (0.07 + 1.5) / 2.5 = 0.628
    assert share(load_availability(None, DAY)) == 0.07
    assert share(load_availability(None, DAY, looks_file(study))) == pytest.approx(0.628)


def test_a_scenario_and_the_history_read_it(study):
    inputs = dict.fromkeys(SPEED, "table.parquet") | {"workloads": "w", "instances": [], "stock": []}
    params = SimpleNamespace(
        settings={
            "study": "lab", "batch_sizes": {}, "precision": "fp16", "framework": "torch", "reference": None,
            "month_days": 30.5, "accepts_interruptions": False, "seed": 1,
        },
        month_days=30.5, as_of=DAY.isoformat(), energy=None, price_paths=None,
    )  # fmt: skip
    read = Unpriced.of_rule(inputs | {"looks": [str(looks_file(study))]}, params)
    assert share(read.known) == pytest.approx(0.628)
    assert share(Unpriced.of_rule(inputs | {"looks": []}, params).known) == 0.07


def test_the_command_reads_it(study, tmp_path):
    results, config = tmp_path / "results", study.parent.parent
    results.mkdir()
    for name in SPEED:
        (results / f"{name}.parquet").write_bytes(b"")
    source = ROOT / "config" / "studies" / "fine-tune-2026"
    for name in ("study.yaml", "instances.yaml"):
        text = (source / name).read_text().replace("name: fine-tune-2026", "name: lab")
        (study / name).write_text(text)
    assert share(diff.unpriced("lab", config, results).known) == pytest.approx(0.628)
