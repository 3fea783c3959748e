"""An offer from one line: what is written is what a person would have written, and the comparison is the same."""

import datetime
import shutil
from pathlib import Path

import pytest
import yaml
from month_tables import month_tables
from pandas.testing import assert_frame_equal
from project_copy import edit
from sweetspot.commands.command_line import main
from sweetspot.commands.read_study import read_study
from sweetspot.errors import UserError
from sweetspot.study.yamlfile import load_yaml

ROOT = Path(__file__).parent.parent.parent
LINE = "box: 4 x RTX 5090, 21900 EUR, 2.7 (1.9 to 3.0) kW, 36 months, resale gaming 68 %"


@pytest.fixture
def config(tmp_path):
    return Path(shutil.copytree(ROOT / "config", tmp_path / "config"))


@pytest.fixture
def start_up(config):
    return config / "studies" / "start-up-2026"


def offer(config, line, *flags, study="start-up-2026"):
    main(["add-offer", study, *([line] if line else []), *flags, "--config", str(config)])


def without_box(folder):
    """The start-up as it was before the first box was offered."""
    lines = (folder / "instances.yaml").read_text().splitlines(keepends=True)
    (folder / "instances.yaml").write_text("".join(line for line in lines if not line.startswith("box-4x5090")))
    edit(folder / "study.yaml", "[box-4x5090, ", "[")
    file = folder / "prices" / "ours.yaml"
    before, rest = file.read_text().split("  - instance: box-4x5090\n")
    file.write_text(before + "  - instance: box-2xpro6000\n" + rest.split("  - instance: box-2xpro6000\n")[1])


def content(folder):
    return {file.relative_to(folder): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_the_box_of_the_start_up_is_written_as_it_was_by_hand(config, start_up, capsys):
    """Ages by hand: from the middle of January 2025 to 2026-09-28 it is 1.70 years."""
    instances, prices = load_yaml(start_up / "instances.yaml"), load_yaml(start_up / "prices" / "ours.yaml")
    by_hand = next(one for one in prices["offers"] if one["instance"] == "box-4x5090")
    without_box(start_up)
    offer(config, LINE)
    assert load_yaml(start_up / "instances.yaml") == instances
    made = load_yaml(start_up / "prices" / "ours.yaml")["offers"][-1]
    assert made.pop("source").endswith(LINE) and by_hand.pop("source")
    assert made == by_hand
    assert load_yaml(start_up / "study.yaml")["offers_in_hand"] == ["box-2xpro6000", "year-1xh100", "box-4x5090"]
    assert not read_study("start-up-2026", config).errors
    assert "box-4x5090 is an offer of study start-up-2026" in capsys.readouterr().out


@pytest.mark.slow
def test_with_the_box_taken_out_and_added_the_comparison_is_the_same(config, start_up):
    wanted = ["choice", "usd_per_month", "usd_per_month_low", "usd_per_month_high", "p_cheapest", "ratio", "in_hand"]
    before = month_tables(start_up, 500)["choices"][wanted]
    without_box(start_up)
    assert "box-4x5090" not in set(month_tables(start_up, 50)["choices"]["choice"])
    offer(config, LINE)
    after = month_tables(start_up, 500)["choices"][wanted]
    assert "box-4x5090" in set(after["choice"])
    assert_frame_equal(after, before)
