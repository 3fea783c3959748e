"""A study of one's own: valid at once, prefilled with this machine, refused where it would do harm."""

import datetime
import shutil
from pathlib import Path

import pytest
from sweetspot.commands.new_study import create_study
from sweetspot.errors import UserError
from sweetspot.matrix.invocation import load_invocation

ROOT = Path(__file__).parent.parent.parent
TODAY = datetime.date(2026, 1, 2)


@pytest.fixture
def config(tmp_path):
    return Path(shutil.copytree(ROOT / "config", tmp_path / "config"))


@pytest.mark.parametrize("machine", [("workstation", "AMD EPYC"), ("workstation-gpu", "NVIDIA GeForce GTX 1080 Ti")])
def test_a_new_study_is_valid_and_asks_about_four_of_this_machine(config, machine):
    create_study("mine", config, machine, TODAY)
    plan = load_invocation(config / "config.yaml", {"study": "mine", "measure_on": machine[0]}, config)
    (target,) = plan.study.targets
    assert (target.instance, target.base_instance, target.gpus) == ("box-4", machine[0], 4)
    assert plan.instances["box-4"].gpu == machine[1]
    assert plan.price_lists == ("box", "rent")
    assert {cell.instance for cell in plan.cells} == {machine[0]}
    measured = {(cell.model, cell.batch_size, cell.precision) for cell in plan.cells}
    cells = plan.study.cells
    asked = {(model, size, cells.precision) for model in cells.model for size in cells.batch_size}
    assert asked <= measured, "the default matrix measures what the new study asks for"


def test_its_rentals_have_published_figures_with_sources(config):
    from sweetspot.throughput.published import read_published

    folder = create_study("mine", config, ("workstation", "AMD EPYC"), TODAY)
    table = read_published(folder / "throughput.csv")
    assert {card.split("-")[0] for card in table["gpu"]} == {"Tesla K80", "Tesla V100"}
    assert set(table["gpus"]) == {1}


@pytest.mark.parametrize("name", ["../x", "a b", "<b>x</b>", "$(id)", "a/b", "", ".hidden", "x" * 65])
def test_a_name_that_is_no_name_is_refused_and_nothing_is_written(config, name):
    before = sorted(config.rglob("*"))
    with pytest.raises(UserError, match="NAME is"):
        create_study(name, config, ("workstation", "AMD EPYC"), TODAY)
    assert sorted(config.rglob("*")) == before


def test_a_study_that_exists_is_not_overwritten(config):
    text = (config / "studies" / "parkopedia-2018" / "study.yaml").read_text()
    with pytest.raises(UserError, match="the study exists"):
        create_study("parkopedia-2018", config, ("workstation", "AMD EPYC"), TODAY)
    assert (config / "studies" / "parkopedia-2018" / "study.yaml").read_text() == text


def test_a_machine_with_a_strange_name_makes_no_broken_yaml(config):
    name = 'Odd: "CPU" #1 {x}'
    create_study("mine", config, ("workstation", name), TODAY)
    plan = load_invocation(config / "config.yaml", {"study": "mine"}, config)
    assert plan.instances["box-4"].gpu == name
