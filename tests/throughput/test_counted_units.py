"""What a run counts: said by the run file, or by the model's name where it was written before it could be."""

import pytest
from run_files import CELL, cells_of, rules_of, write_run


@pytest.mark.parametrize(("framework", "warned"), [("torch", True), ("jax", True), ("tensorflow", False)])
def test_runs_of_before_a_unit_were_made_through_keras_and_count_images(tmp_path, framework, warned):
    cell = CELL._replace(framework=framework)
    (row,) = cells_of([write_run(tmp_path, cell, warnings='[["drift", "x"]]', status="unstable")]).to_dict("records")
    assert (row["unit"], row["images_per_s"]) == ("images", 8.0)  # 16 in two seconds
    assert ("through_keras" in rules_of(row), "drift" in rules_of(row)) == (warned, True)


def test_a_run_says_what_it_counts(tmp_path):
    cell = CELL._replace(framework="command", model="mine", gpus=4)
    files = [write_run(tmp_path, cell, run=run, unit="tokens", samples_per_step=4096) for run in (1, 2)]
    files.append(write_run(tmp_path, CELL))  # of before
    mine, other = cells_of(files).sort_values("model").to_dict("records")
    assert (mine["unit"], mine["images_per_s"]) == ("tokens", 2048.0)
    assert (other["unit"], other["images_per_s"]) == ("images", 8.0)
    assert "through_keras" not in rules_of(mine)
