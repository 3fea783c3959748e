"""The cells of a plan: expanded, excluded, refused; and what a budget leaves of their runs, on its very edge."""

import shutil
from pathlib import Path

import pytest
from project_copy import ROOT, edit
from sweetspot.cells import Cell
from sweetspot.errors import UserError
from sweetspot.matrix.invocation import expand_matrix, load_invocation
from sweetspot.matrix.jobs import Jobs
from sweetspot.matrix.model_names import expected
from sweetspot.matrix.possible import require_possible
from sweetspot.matrix.schedule import Budget, Run, estimated_seconds, order_within_budget, report_lines
from sweetspot.study.instances import Executor, Instance
from test_jobs import NODES, Wildcards, jobs, of, run

AXES = {
    "model": ["vgg16", "resnet50"], "batch_size": [16, 32], "gpus": [1], "precision": ["fp32"],
    "variant": ["default"], "framework": ["tensorflow"],
}  # fmt: skip
CELL = Cell("a", "tensorflow", "vgg16", 16, 1, "fp32", "default")
B = CELL._replace(instance="b")


def kept(*exclude, **axes):
    return [(cell.model, cell.batch_size) for cell in expand_matrix(["a"], AXES | axes, exclude)]


def test_an_entry_excludes_the_cells_that_agree_with_all_of_it():
    every = [("vgg16", 16), ("vgg16", 32), ("resnet50", 16), ("resnet50", 32)]
    assert kept() == every
    assert kept({"model": "vgg16", "batch_size": 32}) == [every[0], *every[2:]]
    assert kept({"model": "vgg16"}, {"batch_size": 16}) == [("resnet50", 32)]


def test_an_entry_that_excludes_nothing_and_a_value_that_stands_twice_are_refused():
    with pytest.raises(UserError, match=r"exclude\[1\] = .*'batch_size': 64.* matches no cell"):
        kept({"model": "vgg16"}, {"batch_size": 64})
    with pytest.raises(UserError, match=r"matrix\.batch_size lists '16' twice"):
        kept(batch_size=[32, 16, 16])


def test_what_is_made_already_is_spent_and_stays_whatever_the_budget():
    done = {Run(CELL, 1): 1200.0, Run(B, 1): 600.0}
    choice = order_within_budget(
        [CELL, B], {CELL: 600.0, B: 600.0}, Budget(minutes=40), 2, usd_per_hour={"a": 3.0}, done=done
    )
    # 20 + 10 minutes are spent; 10 more of a reach the cap and hold; 10 of b would make 50
    assert choice.kept == [Run(CELL, 1), Run(B, 1), Run(CELL, 2)]
    assert choice.minutes == pytest.approx(40)
    assert choice.usd == pytest.approx(3 * 20 / 60 + 3 * 10 / 60)  # b costs nothing, made or to be made
    assert [left.run for left in choice.left_out] == [Run(B, 2)]
    assert "50.0 of budget_minutes 40" in choice.left_out[0].reason
    assert order_within_budget([CELL], {CELL: 1.0}, Budget(minutes=1), done={Run(CELL, 1): 6e3}).kept == [Run(CELL, 1)]


def test_a_sum_that_reaches_its_cap_but_for_rounding_fits():
    assert 0.1 + 0.1 + 0.1 > 0.3
    assert len(order_within_budget([CELL], {CELL: 6.0}, Budget(minutes=0.3), 4).kept) == 3
    prices = {"a": 0.1}
    assert len(order_within_budget([CELL], {CELL: 3600.0}, Budget(usd=0.3), 4, usd_per_hour=prices).kept) == 3


def test_ones_own_machine_fits_into_any_budget_of_money():
    choice = order_within_budget([B], {B: 3600.0}, Budget(usd=0.5), usd_per_hour={"a": 3.0})
    assert (choice.kept, choice.usd) == ([Run(B, 1)], 0.0)


def test_a_long_list_of_what_is_left_out_is_cut_and_counted():
    choice = order_within_budget([CELL], {CELL: 600.0}, Budget(minutes=10), 4)
    lines = report_lines(choice, at_most=1)
    assert lines[0] == "1 runs, estimated 10.0 minutes and 0.00 USD"
    assert lines[1].startswith("left out: instance=a ")
    assert lines[2:] == ["and 2 runs more are left out"]
    assert len(report_lines(choice)) == 4  # the summary and all three


def test_a_slow_run_ends_with_the_step_in_which_its_time_is_up():
    # 16 x 0.375 = 6 s a step: twenty seconds and one step more, 26, come before five steps, 30; two warm it up
    assert estimated_seconds(CELL, 0.375) == pytest.approx(30 + 12 + 26)


def shipped(**overrides):
    return load_invocation(ROOT / "config" / "config.yaml", overrides, ROOT / "config")


def test_the_command_line_adds_to_mappings_and_replaces_all_else():
    plan = shipped(measure={"usd_per_hour": {"workstation": 2.0}}, exclude=[{"model": "vgg16"}])
    assert plan.config.measure.usd_per_hour == {"workstation": 2.0}
    assert plan.config.measure.target_half_width == 0.03  # the file's
    assert {cell.model for cell in plan.cells} == {"inception3", "resnet50"}


@pytest.mark.parametrize("handed", [{}, {"measure_on": []}])
def test_where_nothing_is_measured_no_matrix_is_asked_for(tmp_path, handed):
    plan = load_invocation(None, {"study": "rare-2018"} | handed, ROOT / "config")
    assert plan.cells == ()
    (tmp_path / "config.yaml").write_text("study: rare-2018\nmeasure_on: []\n")
    assert load_invocation(tmp_path / "config.yaml", {}, ROOT / "config").cells == ()
    (tmp_path / "config.yaml").write_text("study: rare-2018\n")
    with pytest.raises(UserError, match="'measure_on' is missing"):
        load_invocation(tmp_path / "config.yaml", {}, ROOT / "config")
    with pytest.raises(UserError, match="'matrix' is missing"):
        load_invocation(None, {"study": "rare-2018", "measure_on": ["workstation"]}, ROOT / "config")


@pytest.mark.parametrize("line", ["reference: office-4x1080ti", "instance: office-4x1080ti"])
def test_a_study_that_asks_about_an_unknown_instance_is_refused(tmp_path, line):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    edit(tmp_path / "config/studies/parkopedia-2018/study.yaml", line, line.replace("4x1080ti", "5x1080ti"))
    with pytest.raises(UserError, match="is 'office-5x1080ti'; expected an instance"):
        load_invocation(tmp_path / "config/config.yaml", {}, tmp_path / "config")


def test_one_instance_over_several_nodes_changes_nothing_for_the_others():
    both = jobs(a=Executor(where="local", device="gpu"), b=NODES)
    assert of(both.device(), run("a", 2)) == "--device gpu --where local"
    assert of(both.device(), run("b", 8)) == "--device gpu --where local"
    assert of(both.device(), run("b", 16)) == "--device gpu --where local --gpus-per-node 8"
    asked = both.resources()
    assert [of(asked["nodes"], run(name, gpus)) for name, gpus in (("a", 2), ("b", 8), ("b", 16))] == [1, 1, 2]


def test_a_run_outside_the_plan_has_the_lowest_priority():
    plan = shipped(runs=1)
    order = Jobs(plan).priority()
    cell = plan.cells[0]._asdict()
    ranks = [order(Wildcards(run="1", **{k: str(v) for k, v in each._asdict().items()})) for each in plan.cells]
    assert sorted(ranks) == list(range(1, len(plan.cells) + 1))
    assert order(Wildcards(run="7", **{key: str(value) for key, value in cell.items()})) == 0


def test_the_two_nearest_names_are_told():
    # common letters in order: mobilenet 2 x 9 / (10 + 9), mobilenetv2 2 x 9 / (10 + 11); mobilenetv3small 2 x 9 / 26
    assert expected("mobilenet1").endswith(" (nearest: mobilenet, mobilenetv2)")
    assert expected("zzz").endswith("keras.applications")


@pytest.mark.parametrize("wrong", [{"gpus": 8}, {"variant": "ddp"}, {"framework": "torch", "variant": "A"}])
def test_a_cell_is_refused_also_before_others_that_are_possible(wrong):
    instance = Instance(title="A", provider="own", gpu="V100", gpus=4, measure={"where": "local", "device": "gpu"})
    with pytest.raises(UserError):
        require_possible([CELL._replace(**wrong), CELL], {"a": instance}, False, Path("config.yaml"))
